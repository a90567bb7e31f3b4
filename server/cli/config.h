/* config: every setting of the program with its default, and the file that changes them. config.example.toml documents
 * each one; a test holds its values equal to hs_config_init's.
 *
 * To add a setting: a member here, a line in the table of config.c, a paragraph in config.example.toml. */
#ifndef HS_CLI_CONFIG_H
#define HS_CLI_CONFIG_H

#include "base/log.h"
#include "http/server.h"

struct hs_config_list {
    const char **p;
    size_t n;
};

#define HS_CONFIG_MOUNTS 64

struct hs_config {
    struct {
        const char *listen;
        int64_t threads, workers, uploads, max_connections, max_upload, idle_timeout_s, grace_s, cache_bytes;
        struct hs_config_list cors_origins, allowed_hosts;
        const char *web_dir;
    } server;
    struct {
        const char *dir; /* "" in the file: hs_config_data_dir's choice */
        bool keep_original;
        int64_t view_bytes;
    } store;
    struct {
        int64_t bytes_in, bytes_json, ratio, events, depth, string, names, name_bytes, members;
        struct hs_config_list communication;
    } ingest;
    struct {
        int64_t rows, bytes, time_ms;
    } sql;
    struct {
        const char *policy; /* ask, always, never */
        int64_t idle_s, memory_bytes;
    } cache;
    struct hs_mount mounts[HS_CONFIG_MOUNTS]; /* [[mount]] */
    size_t nmounts;
    struct {
        struct hs_config_list thresholds; /* "RULE=NUMBER" */
    } report;
    struct {
        const char *level; /* debug, info, warn, error */
    } log;
    struct hs_arena texts; /* what the pointers above point into, unless they are defaults */
};

void hs_config_init(struct hs_config *c); /* the defaults */
void hs_config_free(struct hs_config *c);

/* The defaults, then what a file says: `file`, or if that is NULL the one that $HOLOSCOPE_CONFIG names, if it names one. Free it in any
 * case. */
int hs_config_open(struct hs_config *c, const char *file, struct hs_err *err);

/* Sets what the file says. HS_EINPUT with "file:line: …" for anything that is not known or out of range. */
int hs_config_read(struct hs_config *c, const char *path, struct hs_err *err);
int hs_config_parse(struct hs_config *c, const char *text, size_t n, const char *name, struct hs_err *err);

/* Points into the configuration. */
void hs_config_limits(const struct hs_config *c, struct hs_limits *out);
void hs_config_sql(const struct hs_config *c, struct hs_sql_limits *out);
/* HS_EUSAGE: no such rule, or no number; before the server starts. */
int hs_config_thresholds(const struct hs_config *c, struct hs_thresholds *out, struct hs_err *err);
enum hs_cache_policy hs_config_policy(const struct hs_config *c);
enum hs_log_level hs_config_log_level(const struct hs_config *c);

/* Where the store is when nothing says otherwise: $HOLOSCOPE_DATA, else $XDG_DATA_HOME/holoscope, else
 * ~/.local/share/holoscope. free() it. */
char *hs_config_data_dir(void);

#endif
