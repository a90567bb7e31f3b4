/* server: the listener and what all requests share. libmicrohttpd's epoll threads accept, read and write; work goes to
 * two pools, one for imports (they may wait for slow clients) and one for everything else. */
#ifndef HS_HTTP_SERVER_H
#define HS_HTTP_SERVER_H

#include "base/thread.h"
#include "http/cache.h"
#include "http/mounts.h"
#include "http/watch.h"
#include "report/rules.h"
#include "store/sql.h"
#include "store/store.h"

#define HS_VERSION "0.1.0"

struct hs_http_options { /* plain values and borrowed texts, which must live as long as the server */
    const char *listen;  /* ADDRESS:PORT, [v6]:PORT, port 0: any free one */
    unsigned threads;    /* of the listener; 0: as many as cores */
    unsigned workers;    /* for analyses, SQL, reports; 0: as many as cores, at least four */
    unsigned uploads;    /* imports at once */
    unsigned max_connections;
    uint64_t max_upload;     /* bytes of one request's body */
    unsigned idle_timeout_s; /* a connection that neither sends nor receives for that long is closed */
    unsigned grace_s;        /* how long running requests may take to finish after SIGTERM */
    size_t cache_bytes;      /* of rendered answers */
    const char *const *cors_origins;
    size_t ncors;
    const char *const *allowed_hosts; /* further names in Host when listening on loopback */
    size_t nhosts;
    const char *web_dir; /* NULL: the page that is built in */
    struct hs_limits limits;
    struct hs_sql_limits sql;
    struct hs_thresholds thresholds; /* of the report's rules */
    bool keep_original;
    struct hs_store *store;
    struct hs_mounts_options mounts; /* limits and store are set by the server */
};

struct hs_server {
    struct hs_http_options o;
    struct MHD_Daemon *daemon;
    struct hs_pool *workers, *imports;
    struct hs_cache *cache;
    struct hs_mounts *mounts; /* also where there are no mounted folders: it opens the store's runs, too */
    struct hs_watch watch;    /* uploads in progress */
    struct hs_blob *openapi;
    char openapi_etag[HS_ETAG_SIZE];
    atomic_bool stop_sql; /* the time of grace is over: running queries end */
    char *url;            /* http://127.0.0.1:8080 */
    bool loopback;        /* bound to a loopback address: Host is checked against DNS rebinding */
    pthread_mutex_t lock; /* protects all below */
    pthread_cond_t idle;
    unsigned active; /* requests between their first line and their last byte */
    unsigned jobs;   /* submitted and not yet ended */
    bool draining;   /* new requests are refused */
    bool closed;     /* no more jobs */
};

int hs_server_start(struct hs_server **out, const struct hs_http_options *o, struct hs_err *err);

/* Stops accepting, waits for running requests up to the time of grace, then cancels uploads, and ends. */
void hs_server_stop(struct hs_server *s);

/* Gives a job to one of the two pools; false: it is too busy, or the server stops. The job calls hs_server_job_done last. */
bool hs_server_submit(struct hs_server *s, struct hs_pool *pool, hs_job *fn, void *arg);
void hs_server_job_done(struct hs_server *s);

bool hs_server_enter(struct hs_server *s); /* a request begins; false: the server drains */
void hs_server_leave(struct hs_server *s);

#endif
