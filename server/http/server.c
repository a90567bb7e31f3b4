#include "http/server.h"

#include "base/clock.h"
#include "base/log.h"
#include "http/dispatch.h"
#include "http/openapi.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- the socket ---- */

/* Splits "host:port" or "[v6]:port". */
static int split_address(const char *text, char **host, const char **port, struct hs_err *err)
{
    const char *colon = strrchr(text, ':');
    if (!colon || !colon[1] || strlen(colon + 1) > 5 || colon[1 + strspn(colon + 1, "0123456789")])
        return hs_fail(err, HS_EUSAGE, "listen address '%s' is not ADDRESS:PORT, such as 127.0.0.1:8080 or [::1]:8080",
                       text);
    size_t n = (size_t)(colon - text);
    if (n >= 2 && text[0] == '[' && colon[-1] == ']')
        *host = hs_strndup(text + 1, n - 2);
    else
        *host = hs_strndup(text, n);
    *port = colon + 1;
    return HS_OK;
}

static bool is_loopback(const struct sockaddr *a)
{
    if (a->sa_family == AF_INET)
        return ntohl(((const struct sockaddr_in *)(const void *)a)->sin_addr.s_addr) >> 24 == 127;
    if (a->sa_family == AF_INET6)
        return IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)(const void *)a)->sin6_addr);
    return false;
}

static int bind_to(const struct addrinfo *a, const char *text, int *out, struct hs_err *err)
{
    int one = 1, fd = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return hs_fail_errno(err, HS_EINTERNAL, "no socket for %s", text);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(fd, a->ai_addr, a->ai_addrlen) || listen(fd, 511)) {
        int rc = hs_fail_errno(err, HS_EINTERNAL,
                               "cannot listen on %s (is another server there? --listen takes another address)", text);
        close(fd);
        return rc;
    }
    *out = fd;
    return HS_OK;
}

static void set_url(struct hs_server *s, int fd, const struct sockaddr *asked)
{
    struct sockaddr_storage a;
    socklen_t len = sizeof a;
    char host[64] = "127.0.0.1", port[16] = "0";
    s->loopback = is_loopback(asked);
    if (!getsockname(fd, (struct sockaddr *)&a, &len))
        getnameinfo((struct sockaddr *)&a, len, host, sizeof host, port, sizeof port, NI_NUMERICHOST | NI_NUMERICSERV);
    s->url = hs_asprintf(strchr(host, ':') ? "http://[%s]:%s" : "http://%s:%s", host, port);
}

static int open_socket(struct hs_server *s, int *fd, struct hs_err *err)
{
    const char *text = s->o.listen, *port = NULL;
    char *host = NULL;
    int rc = split_address(text, &host, &port, err);
    if (rc)
        return rc;
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV}, *list = NULL;
    int gai = getaddrinfo(*host ? host : NULL, port, &hints, &list);
    if (gai) {
        rc = hs_fail(err, HS_EUSAGE, "listen address '%s': %s", text, gai_strerror(gai));
    } else {
        rc = bind_to(list, text, fd, err);
        if (!rc)
            set_url(s, *fd, list->ai_addr);
        freeaddrinfo(list);
    }
    free(host);
    return rc;
}

/* ---- the daemon ---- */

static void mhd_log(void *cls, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));
static void mhd_log(void *cls, const char *fmt, va_list ap)
{
    (void)cls;
    char line[512];
    vsnprintf(line, sizeof line, fmt, ap);
    line[strcspn(line, "\n")] = 0;
    hs_log(HS_LOG_DEBUG, "libmicrohttpd", " text=\"%s\"", line);
}

/* It ends the program; at least the log says why. */
static void on_panic(void *cls, const char *file, unsigned line, const char *reason)
{
    (void)cls;
    hs_log(HS_LOG_ERROR, "libmicrohttpd gives up", " at=%s:%u reason=\"%.200s\"", file, line, reason ? reason : "");
    abort();
}

/* Decoding is http/uri.h's business: MHD's own would lose the difference between a slash and %2F. */
static size_t keep_escapes(void *cls, struct MHD_Connection *c, char *s)
{
    (void)cls, (void)c;
    return strlen(s);
}

/* From SIGTERM on nobody new is let in. MHD_quiesce_daemon would be the way, but in 0.9.75 it takes the socket out of the
 * threads' epoll sets while they may do the same, and whoever comes second ends the program. */
static enum MHD_Result on_accept(void *cls, const struct sockaddr *from, socklen_t n)
{
    (void)from, (void)n;
    return ((struct hs_server *)cls)->draining ? MHD_NO : MHD_YES;
}

static int start_daemon(struct hs_server *s, int fd, struct hs_err *err)
{
    enum { CONNECTION_MEMORY = 128 * 1024 }; /* of which half is the read buffer: what an upload hands over at a time */
    const struct hs_http_options *o = &s->o;
    MHD_set_panic_func(on_panic, NULL);
    s->daemon = MHD_start_daemon(MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG, 0,
                                 on_accept, s, hs_on_access, s, MHD_OPTION_EXTERNAL_LOGGER, mhd_log, NULL,
                                 MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_THREAD_POOL_SIZE, o->threads,
                                 MHD_OPTION_CONNECTION_LIMIT, o->max_connections, MHD_OPTION_CONNECTION_TIMEOUT,
                                 o->idle_timeout_s, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_MEMORY,
                                 MHD_OPTION_URI_LOG_CALLBACK, hs_on_uri, s, MHD_OPTION_UNESCAPE_CALLBACK, keep_escapes,
                                 NULL, MHD_OPTION_NOTIFY_COMPLETED, hs_on_completed, s, MHD_OPTION_END);
    if (!s->daemon)
        return hs_fail(err, HS_EINTERNAL, "the HTTP server could not be started on %s", o->listen);
    return HS_OK;
}

static void server_free(struct hs_server *s)
{
    hs_watch_stop(&s->watch);
    hs_pool_free(s->workers);
    hs_pool_free(s->imports);
    hs_mounts_free(s->mounts);
    hs_cache_free(s->cache);
    hs_blob_unref(s->openapi);
    pthread_cond_destroy(&s->idle);
    pthread_mutex_destroy(&s->lock);
    free(s->url);
    free(s);
}

int hs_server_start(struct hs_server **out, const struct hs_http_options *o, struct hs_err *err)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    unsigned n = cores > 0 ? (unsigned)cores : 1;
    struct hs_server *s = hs_calloc(1, sizeof *s);
    int fd = -1;
    s->o = *o;
    s->o.threads = o->threads ? o->threads : n > 1 ? n : 2; /* a pool of one is refused by MHD */
    s->o.threads = s->o.threads < 2 ? 2 : s->o.threads;
    if (s->o.max_connections < s->o.threads)
        s->o.max_connections = s->o.threads;
    pthread_mutex_init(&s->lock, NULL);
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&s->idle, &attr);
    pthread_condattr_destroy(&attr);
    s->cache = hs_cache_new(o->cache_bytes);
    s->o.mounts.limits = &s->o.limits;
    s->o.mounts.store = s->o.store;
    s->mounts = hs_mounts_new(&s->o.mounts);
    hs_openapi_build(s);
    int rc = open_socket(s, &fd, err);
    if (rc)
        goto out;
    s->workers = hs_pool_new(o->workers ? o->workers : n < 4 ? 4 : n, 1024);
    s->imports = hs_pool_new(o->uploads ? o->uploads : 1, 256);
    if (!s->workers || !s->imports) {
        rc = hs_fail(err, HS_EINTERNAL, "no threads could be started");
        goto out;
    }
    rc = hs_watch_start(&s->watch, err);
    if (!rc)
        rc = start_daemon(s, fd, err);
out:
    if (rc) {
        if (fd >= 0)
            close(fd);
        server_free(s);
        return rc;
    }
    *out = s;
    return HS_OK;
}

/* ---- counting ---- */

bool hs_server_enter(struct hs_server *s)
{
    pthread_mutex_lock(&s->lock);
    s->active++;
    bool open = !s->draining;
    pthread_mutex_unlock(&s->lock);
    return open;
}

static void count_down(struct hs_server *s, unsigned *n)
{
    pthread_mutex_lock(&s->lock);
    if (--*n == 0)
        pthread_cond_broadcast(&s->idle);
    pthread_mutex_unlock(&s->lock);
}

void hs_server_leave(struct hs_server *s)
{
    count_down(s, &s->active);
}

void hs_server_job_done(struct hs_server *s)
{
    count_down(s, &s->jobs);
}

bool hs_server_submit(struct hs_server *s, struct hs_pool *pool, hs_job *fn, void *arg)
{
    pthread_mutex_lock(&s->lock);
    bool ok = !s->closed && hs_pool_submit(pool, fn, arg);
    s->jobs += ok;
    pthread_mutex_unlock(&s->lock);
    return ok;
}

/* ---- the end ---- */

/* Under the lock: waits until the counter is 0, or until the deadline (0: none). */
static void wait_for(struct hs_server *s, const unsigned *n, int64_t deadline_ns)
{
    struct timespec t = {.tv_sec = deadline_ns / 1000000000, .tv_nsec = deadline_ns % 1000000000};
    while (*n)
        if (!deadline_ns)
            pthread_cond_wait(&s->idle, &s->lock);
        else if (pthread_cond_timedwait(&s->idle, &s->lock, &t) == ETIMEDOUT)
            break;
}

void hs_server_stop(struct hs_server *s)
{
    pthread_mutex_lock(&s->lock);
    s->draining = true;
    hs_log(HS_LOG_INFO, "draining", " requests=%u grace_s=%u", s->active, s->o.grace_s);
    wait_for(s, &s->active, hs_now_ns() + (int64_t)s->o.grace_s * 1000000000);
    s->closed = true;
    pthread_mutex_unlock(&s->lock);
    hs_watch_abort_all(&s->watch);
    atomic_store(&s->stop_sql, true);
    pthread_mutex_lock(&s->lock);
    /* MHD must not be stopped while a connection is suspended, and connections are suspended exactly while jobs run.
     * Imports and SQL were cancelled above, analyses are short. */
    wait_for(s, &s->jobs, 0);
    pthread_mutex_unlock(&s->lock);
    MHD_stop_daemon(s->daemon);
    server_free(s);
}
