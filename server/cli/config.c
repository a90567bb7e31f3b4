#include "cli/config.h"

#include "cli/toml.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum kind { TEXT, BOOL, NUMBER, LIST };

/* One setting: where it stands, what it may be. Numbers have [min, max]; a text may have choices, joined by |. */
struct setting {
    const char *table, *key;
    enum kind kind;
    size_t offset;
    int64_t min, max;
    const char *choices;
};

#define AT(member) offsetof(struct hs_config, member)
#define GIB ((int64_t)1 << 30)
#define TIB ((int64_t)1 << 40)

static const struct setting settings[] = {
    {"server", "listen", TEXT, AT(server.listen), 0, 0, NULL},
    {"server", "threads", NUMBER, AT(server.threads), 0, 256, NULL},
    {"server", "workers", NUMBER, AT(server.workers), 0, 256, NULL},
    {"server", "uploads", NUMBER, AT(server.uploads), 1, 256, NULL},
    {"server", "max_connections", NUMBER, AT(server.max_connections), 1, 100000, NULL},
    {"server", "max_upload", NUMBER, AT(server.max_upload), 1, 64 * TIB, NULL},
    {"server", "idle_timeout_s", NUMBER, AT(server.idle_timeout_s), 1, 86400, NULL},
    {"server", "grace_s", NUMBER, AT(server.grace_s), 0, 3600, NULL},
    {"server", "cache_bytes", NUMBER, AT(server.cache_bytes), 0, TIB, NULL},
    {"server", "cors_origins", LIST, AT(server.cors_origins), 0, 0, NULL},
    {"server", "allowed_hosts", LIST, AT(server.allowed_hosts), 0, 0, NULL},
    {"server", "web_dir", TEXT, AT(server.web_dir), 0, 0, NULL},
    {"store", "dir", TEXT, AT(store.dir), 0, 0, NULL},
    {"store", "keep_original", BOOL, AT(store.keep_original), 0, 0, NULL},
    {"store", "view_bytes", NUMBER, AT(store.view_bytes), 1 << 20, 64 * TIB, NULL},
    {"ingest", "bytes_in", NUMBER, AT(ingest.bytes_in), 1, 64 * TIB, NULL},
    {"ingest", "bytes_json", NUMBER, AT(ingest.bytes_json), 1, 64 * TIB, NULL},
    {"ingest", "ratio", NUMBER, AT(ingest.ratio), 1, UINT32_MAX, NULL},
    {"ingest", "events", NUMBER, AT(ingest.events), 1, HS_MAX_EVENTS, NULL},
    {"ingest", "depth", NUMBER, AT(ingest.depth), 1, 1000, NULL},
    {"ingest", "string", NUMBER, AT(ingest.string), 64, GIB, NULL},
    {"ingest", "names", NUMBER, AT(ingest.names), 1024, UINT32_MAX - 1, NULL},
    {"ingest", "name_bytes", NUMBER, AT(ingest.name_bytes), 1 << 20, TIB, NULL},
    {"ingest", "members", NUMBER, AT(ingest.members), 1, 1000000, NULL},
    {"ingest", "communication", LIST, AT(ingest.communication), 0, 0, NULL},
    {"sql", "rows", NUMBER, AT(sql.rows), 1, 100000000, NULL},
    {"sql", "bytes", NUMBER, AT(sql.bytes), 1 << 20, TIB, NULL},
    {"sql", "time_ms", NUMBER, AT(sql.time_ms), 1, 86400000, NULL},
    {"cache", "policy", TEXT, AT(cache.policy), 0, 0, "ask|always|never"},
    {"cache", "idle_s", NUMBER, AT(cache.idle_s), 1, 86400, NULL},
    {"cache", "memory_bytes", NUMBER, AT(cache.memory_bytes), 0, 64 * TIB, NULL},
    {"report", "thresholds", LIST, AT(report.thresholds), 0, 0, NULL},
    {"log", "level", TEXT, AT(log.level), 0, 0, "debug|info|warn|error"},
};
#define NSETTINGS (sizeof settings / sizeof settings[0])

static int64_t signed_of(uint64_t v)
{
    return v > INT64_MAX ? INT64_MAX : (int64_t)v;
}

void hs_config_init(struct hs_config *c)
{
    const struct hs_limits *l = &hs_limits_default;
    const struct hs_sql_limits *q = &hs_sql_limits_default;
    *c = (struct hs_config){
        .server = {.listen = "127.0.0.1:8080",
                   .uploads = 8,
                   .max_connections = 512,
                   .max_upload = 16 * GIB,
                   .idle_timeout_s = 60,
                   .grace_s = 20,
                   .cache_bytes = GIB / 4,
                   .web_dir = ""},
        .store = {.dir = "", .keep_original = true, .view_bytes = GIB / 2},
        .ingest = {.bytes_in = signed_of(l->bytes_in),
                   .bytes_json = signed_of(l->bytes_json),
                   .ratio = l->ratio,
                   .events = signed_of(l->events),
                   .depth = l->depth,
                   .string = l->string,
                   .names = signed_of(l->names),
                   .name_bytes = signed_of(l->name_bytes),
                   .members = l->members},
        .sql = {.rows = q->rows, .bytes = q->bytes, .time_ms = q->time_ms},
        .cache = {.policy = "ask", .idle_s = 900, .memory_bytes = 2 * GIB},
        .log = {.level = "info"},
        .texts = HS_ARENA_INIT(1 << 20),
    };
}

void hs_config_free(struct hs_config *c)
{
    hs_arena_free(&c->texts);
}

/* ---- reading ---- */

struct reading {
    struct hs_config *c;
    bool seen[NSETTINGS];
};

static int wrong_type(const struct setting *s, const struct hs_toml_value *v, const char *want, struct hs_err *err)
{
    return hs_fail(err, HS_EINPUT, "%s.%s is %s; it must be %s", s->table, s->key, hs_toml_type_name(v->type), want);
}

static bool is_choice(const char *choices, const char *text)
{
    size_t n = strlen(text);
    for (const char *p = choices; p; p = strchr(p, '|') ? strchr(p, '|') + 1 : NULL)
        if (strcspn(p, "|") == n && !memcmp(p, text, n))
            return true;
    return false;
}

static int set_text(struct hs_config *c, const struct setting *s, const struct hs_toml_value *v, struct hs_err *err)
{
    if (v->type != HS_TOML_STRING)
        return wrong_type(s, v, "a string", err);
    if (s->choices && !is_choice(s->choices, v->s))
        return hs_fail(err, HS_EINPUT, "%s.%s is \"%.40s\"; it must be one of %s", s->table, s->key, v->s, s->choices);
    const char *copy = hs_arena_dup(&c->texts, v->s, strlen(v->s));
    if (!copy)
        return hs_fail(err, HS_ELIMIT, "the settings are too long");
    *(const char **)(void *)((char *)c + s->offset) = copy;
    return HS_OK;
}

static int set_list(struct hs_config *c, const struct setting *s, const struct hs_toml_value *v, struct hs_err *err)
{
    if (v->type != HS_TOML_ARRAY || (v->n && v->items[0].type != HS_TOML_STRING))
        return wrong_type(s, v, "an array of strings", err);
    struct hs_config_list l = {.p = hs_arena_alloc(&c->texts, (v->n + 1) * sizeof *l.p), .n = v->n};
    for (size_t i = 0; i < v->n; i++)
        if (!*v->items[i].s)
            return hs_fail(err, HS_EINPUT, "%s.%s has an empty text", s->table, s->key);
    for (size_t i = 0; l.p && i < v->n; i++)
        if (!(l.p[i] = hs_arena_dup(&c->texts, v->items[i].s, strlen(v->items[i].s))))
            l.p = NULL;
    if (!l.p)
        return hs_fail(err, HS_ELIMIT, "the settings are too long");
    *(struct hs_config_list *)(void *)((char *)c + s->offset) = l;
    return HS_OK;
}

static int set_number(struct hs_config *c, const struct setting *s, const struct hs_toml_value *v, struct hs_err *err)
{
    if (v->type != HS_TOML_INT)
        return wrong_type(s, v, "an integer", err);
    if (v->i < s->min || v->i > s->max)
        return hs_fail(err, HS_EINPUT, "%s.%s is %lld; it must be from %lld to %lld", s->table, s->key, (long long)v->i,
                       (long long)s->min, (long long)s->max);
    *(int64_t *)(void *)((char *)c + s->offset) = v->i;
    return HS_OK;
}

/* ---- mounted folders ---- */

static int begin_mount(struct hs_config *c, struct hs_err *err)
{
    if (c->nmounts == HS_CONFIG_MOUNTS)
        return hs_fail(err, HS_ELIMIT, "there are more than %d [[mount]]s", HS_CONFIG_MOUNTS);
    c->mounts[c->nmounts++] = (struct hs_mount){NULL, NULL};
    return HS_OK;
}

static int set_mount(struct hs_config *c, const char *key, const struct hs_toml_value *v, struct hs_err *err)
{
    struct hs_mount *m = c->nmounts ? &c->mounts[c->nmounts - 1] : NULL;
    const char **to = !m ? NULL : !strcmp(key, "name") ? &m->name : !strcmp(key, "path") ? &m->path : NULL;
    if (!m)
        return hs_fail(err, HS_EINPUT, "mounts are written as [[mount]], each with a name and a path");
    if (!to)
        return hs_fail(err, HS_EINPUT, "unknown key mount.%s; a [[mount]] has a name and a path", key);
    if (*to)
        return hs_fail(err, HS_EINPUT, "mount.%s is set twice", key);
    if (v->type != HS_TOML_STRING || !*v->s)
        return hs_fail(err, HS_EINPUT, "mount.%s must be a string", key);
    if (to == &m->name && (strchr(v->s, ':') || hs_run_name_check(v->s, NULL)))
        return hs_fail(err, HS_EINPUT,
                       "mount.name \"%.60s\" must be 1 to 200 bytes, without colons, slashes and control characters",
                       v->s);
    for (size_t i = 0; to == &m->name && i + 1 < c->nmounts; i++)
        if (c->mounts[i].name && !strcmp(c->mounts[i].name, v->s))
            return hs_fail(err, HS_EINPUT, "two mounts have the name \"%.60s\"", v->s);
    *to = hs_arena_dup(&c->texts, v->s, strlen(v->s));
    return *to ? HS_OK : hs_fail(err, HS_ELIMIT, "the settings are too long");
}

static int check_mounts(const struct hs_config *c, const char *file, struct hs_err *err)
{
    for (size_t i = 0; i < c->nmounts; i++)
        if (!c->mounts[i].name || !c->mounts[i].path)
            return hs_fail(err, HS_EINPUT, "%s: [[mount]] number %zu has no %s", file, i + 1,
                           c->mounts[i].name ? "path" : "name");
    return HS_OK;
}

static int on_key(void *ctx, const char *table, const char *key, const struct hs_toml_value *v, struct hs_err *err)
{
    struct reading *r = ctx;
    size_t i = 0;
    if (!key && strcmp(table, "mount") != 0)
        return hs_fail(err, HS_EINPUT, "[[%.60s]] is not known; there is [[mount]]", table);
    if (!key)
        return begin_mount(r->c, err);
    if (!strcmp(table, "mount"))
        return set_mount(r->c, key, v, err);
    while (i < NSETTINGS && (strcmp(settings[i].table, table) != 0 || strcmp(settings[i].key, key) != 0))
        i++;
    if (i == NSETTINGS)
        return hs_fail(err, HS_EINPUT, "unknown key %s%s%s; config.example.toml lists what there is", table,
                       *table ? "." : "", key);
    if (r->seen[i])
        return hs_fail(err, HS_EINPUT, "%s.%s is set twice", table, key);
    r->seen[i] = true;
    switch (settings[i].kind) {
    case TEXT: return set_text(r->c, &settings[i], v, err);
    case LIST: return set_list(r->c, &settings[i], v, err);
    case NUMBER: return set_number(r->c, &settings[i], v, err);
    case BOOL: break;
    }
    if (v->type != HS_TOML_BOOL)
        return wrong_type(&settings[i], v, "true or false", err);
    *(bool *)(void *)((char *)r->c + settings[i].offset) = v->b;
    return HS_OK;
}

int hs_config_parse(struct hs_config *c, const char *text, size_t n, const char *name, struct hs_err *err)
{
    struct reading r = {.c = c};
    int rc = hs_toml_parse(text, n, name, on_key, &r, err);
    return rc ? rc : check_mounts(c, name, err);
}

int hs_config_read(struct hs_config *c, const char *path, struct hs_err *err)
{
    enum { MAX = 1 << 20 };
    FILE *f = fopen(path, "rb");
    if (!f)
        return hs_fail_errno(err, HS_EINPUT, "the configuration '%s' cannot be read", path);
    char *text = hs_malloc(MAX + 1);
    size_t n = fread(text, 1, MAX + 1, f);
    int rc = ferror(f) ? hs_fail_errno(err, HS_EINPUT, "the configuration '%s' cannot be read", path)
             : n > MAX
                 ? hs_fail(err, HS_EINPUT, "the configuration '%s' is larger than 1 MiB; is it the right file?", path)
                 : hs_config_parse(c, text, n, path, err);
    free(text);
    fclose(f);
    return rc;
}

int hs_config_open(struct hs_config *c, const char *file, struct hs_err *err)
{
    const char *named = file ? file : getenv("HOLOSCOPE_CONFIG");
    hs_config_init(c);
    return named && *named ? hs_config_read(c, named, err) : HS_OK;
}

/* ---- what others need of it ---- */

void hs_config_limits(const struct hs_config *c, struct hs_limits *out)
{
    *out = (struct hs_limits){
        .bytes_in = (uint64_t)c->ingest.bytes_in,
        .bytes_json = (uint64_t)c->ingest.bytes_json,
        .ratio = (uint32_t)c->ingest.ratio,
        .events = (uint64_t)c->ingest.events,
        .depth = (uint32_t)c->ingest.depth,
        .string = (uint32_t)c->ingest.string,
        .names = (uint64_t)c->ingest.names,
        .name_bytes = (uint64_t)c->ingest.name_bytes,
        .members = (uint32_t)c->ingest.members,
        .communication = {c->ingest.communication.p, c->ingest.communication.n},
    };
}

void hs_config_sql(const struct hs_config *c, struct hs_sql_limits *out)
{
    *out = (struct hs_sql_limits){.rows = c->sql.rows, .bytes = c->sql.bytes, .time_ms = c->sql.time_ms};
}

enum hs_log_level hs_config_log_level(const struct hs_config *c)
{
    static const char *const names[] = {"debug", "info", "warn", "error"};
    for (int i = 0; i < 4; i++)
        if (!strcmp(names[i], c->log.level))
            return (enum hs_log_level)i;
    return HS_LOG_INFO;
}

char *hs_config_data_dir(void)
{
    const char *own = getenv("HOLOSCOPE_DATA"), *xdg = getenv("XDG_DATA_HOME"), *home = getenv("HOME");
    if (own && *own)
        return hs_strdup(own);
    if (xdg && *xdg == '/')
        return hs_asprintf("%s/holoscope", xdg);
    return hs_asprintf("%s/.local/share/holoscope", home && *home ? home : ".");
}

int hs_config_thresholds(const struct hs_config *c, struct hs_thresholds *out, struct hs_err *err)
{
    int rc = HS_OK;
    hs_thresholds_init(out);
    for (size_t i = 0; i < c->report.thresholds.n && !rc; i++)
        rc = hs_thresholds_set(out, c->report.thresholds.p[i], err);
    return rc ? hs_err_prefix(err, "[report] thresholds") : HS_OK;
}

enum hs_cache_policy hs_config_policy(const struct hs_config *c)
{
    return !strcmp(c->cache.policy, "always")  ? HS_CACHE_ALWAYS
           : !strcmp(c->cache.policy, "never") ? HS_CACHE_NEVER
                                               : HS_CACHE_ASK;
}
