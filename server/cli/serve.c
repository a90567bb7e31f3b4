#include "cli/cli.h"
#include "cli/load.h"

#include <getopt.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* systemd's readiness protocol: one datagram to the socket it names. Nothing happens elsewhere. */
static void notify(const char *state)
{
    const char *path = getenv("NOTIFY_SOCKET");
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    if (!path || !*path || strlen(path) >= sizeof a.sun_path)
        return;
    size_t n = strlen(path);
    memcpy(a.sun_path, path, n);
    if (a.sun_path[0] == '@')
        a.sun_path[0] = 0;
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return;
    sendto(fd, state, strlen(state), MSG_NOSIGNAL, (struct sockaddr *)&a,
           (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n));
    close(fd);
}

static void http_options(const struct hs_config *c, struct hs_store *store, struct hs_http_options *o)
{
    *o = (struct hs_http_options){
        .listen = c->server.listen,
        .threads = (unsigned)c->server.threads,
        .workers = (unsigned)c->server.workers,
        .uploads = (unsigned)c->server.uploads,
        .max_connections = (unsigned)c->server.max_connections,
        .max_upload = (uint64_t)c->server.max_upload,
        .idle_timeout_s = (unsigned)c->server.idle_timeout_s,
        .grace_s = (unsigned)c->server.grace_s,
        .cache_bytes = (size_t)c->server.cache_bytes,
        .cors_origins = c->server.cors_origins.p,
        .ncors = c->server.cors_origins.n,
        .allowed_hosts = c->server.allowed_hosts.p,
        .nhosts = c->server.allowed_hosts.n,
        .web_dir = *c->server.web_dir ? c->server.web_dir : NULL,
        .keep_original = c->store.keep_original,
        .store = store,
        .mounts = {.mounts = c->mounts,
                   .n = c->nmounts,
                   .policy = hs_config_policy(c),
                   .idle_s = c->cache.idle_s,
                   .memory_bytes = c->cache.memory_bytes,
                   .dir = *c->store.dir ? c->store.dir : NULL},
    };
    hs_config_limits(c, &o->limits);
    hs_config_sql(c, &o->sql);
}

/* Until SIGTERM or SIGINT. They are blocked in every thread and taken here, so nothing runs in a signal handler. A
 * second one ends the program at once. */
static int serve(const struct hs_config *c, struct hs_err *err)
{
    struct hs_store *store = NULL;
    struct hs_server *server = NULL;
    struct hs_http_options o;
    sigset_t signals;
    int got = 0;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    hs_log_set_level(hs_config_log_level(c));
    int rc = hs_open_store(c->store.dir, c, false, &store, err);
    if (rc)
        return rc;
    http_options(c, store, &o);
    rc = hs_config_thresholds(c, &o.thresholds, err);
    if (!rc)
        rc = hs_server_start(&server, &o, err);
    if (!rc) {
        printf("holoscope: listening on %s\n", server->url);
        fflush(stdout);
        notify("READY=1");
        sigwait(&signals, &got);
        pthread_sigmask(SIG_UNBLOCK, &signals, NULL);
        notify("STOPPING=1");
        hs_server_stop(server);
    }
    hs_store_close(store);
    return rc;
}

static int run(int argc, char **argv, struct hs_err *err)
{
    static const struct option options[] = {{"config", required_argument, NULL, 'c'},
                                            {"listen", required_argument, NULL, 'l'},
                                            {"data", required_argument, NULL, 'd'},
                                            {"help", no_argument, NULL, 'h'},
                                            {0}};
    const char *file = NULL, *listen_on = NULL, *data = NULL;
    bool done = false;
    for (int v; (v = hs_cli_option(argc, argv, options, &hs_cmd_serve, &done, err)) != -1;) {
        switch (v) {
        case 'c': file = optarg; break;
        case 'l': listen_on = optarg; break;
        case 'd': data = optarg; break;
        default: return HS_EUSAGE;
        }
    }
    if (done)
        return HS_OK;
    if (optind < argc)
        return hs_fail(err, HS_EUSAGE, "serve takes no '%.60s'; holoscope import keeps a trace, then serve shows it",
                       argv[optind]);
    struct hs_config c;
    int rc = hs_config_open(&c, file, err);
    if (listen_on) /* the command line is nearer than the file */
        c.server.listen = listen_on;
    if (data)
        c.store.dir = data;
    if (!rc)
        rc = serve(&c, err);
    hs_config_free(&c);
    return rc;
}

const struct hs_command hs_cmd_serve = {
    .name = "serve",
    .summary = "the page and the HTTP API",
    .help = "usage: holoscope serve [--config FILE] [--listen ADDR:PORT] [--data DIR]\n\n"
            "Serves the page and the JSON endpoints until SIGTERM or SIGINT; then finishes what runs and exits 0.\n\n"
            "  --config FILE       settings (config.example.toml documents them; default: $HOLOSCOPE_CONFIG)\n"
            "  --listen ADDR:PORT  default 127.0.0.1:8080; port 0 takes any free one\n"
            "  --data DIR          the store (default: $HOLOSCOPE_DATA, else ~/.local/share/holoscope)\n\n"
            "examples:\n"
            "  holoscope serve\n"
            "  holoscope serve --listen 0.0.0.0:8080 --data /srv/holoscope\n"
            "  curl -T trace.json.gz 'http://127.0.0.1:8080/api/v1/traces?name=trace.json.gz'\n",
    .run = run,
};
