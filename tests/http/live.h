/* live: the real binary on a free port with a data directory of its own, and clients that talk to it over loopback:
 * libcurl for what is HTTP, a plain socket for what is not quite. */
#ifndef HS_TESTS_HTTP_LIVE_H
#define HS_TESTS_HTTP_LIVE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct live {
    pid_t pid;
    char *dir; /* temporary; the store is dir/data */
    char data[600];
    char url[64]; /* http://127.0.0.1:PORT */
    int port;
};

/* Starts it; `config` is the text of a configuration file, or NULL. Fails the test if it does not come up. */
void live_start(struct live *l, const char *config);
int live_stop(struct live *l);                             /* SIGTERM; the exit status, or -signal */
int live_kill(struct live *l, int signal);                 /* the same with another signal; the directory stays */
void live_start_again(struct live *l, const char *config); /* after live_kill, on the same directory */
void live_cleanup(struct live *l);                         /* removes the directory */

struct answer {
    long status;
    char *body, *headers; /* terminated */
    size_t n;
};
/* headers: NULL-terminated list of "Name: value", or NULL. body NULL: none. The caller frees it with answer_free. */
struct answer ask(const struct live *l, const char *method, const char *path, const char *const *headers,
                  const void *body, size_t n);
struct answer get(const struct live *l, const char *path);
void answer_free(struct answer *a);
/* A header's value (case-insensitive name), "" if absent; static memory, valid until the next call. */
const char *header_of(const struct answer *a, const char *name);
json_t *json_of(const struct answer *a); /* fails the test if the body is no JSON; json_decref it */

/* Checks that it is a problem document (RFC 9457) with this status and code. */
void check_problem(const struct answer *a, long status, const char *code);

/* Uploads text as a trace with PUT and `query` behind the ?. */
struct answer put_trace(const struct live *l, const char *query, const char *text);

/* Sends raw bytes, reads until the other side closes or `cap` is full; returns how many came. */
size_t raw(const struct live *l, const char *bytes, size_t n, char *out, size_t cap);
int dial(const struct live *l); /* a connected socket */

/* A small trace: rank `rank` (-1: no distributedInfo), `kernels` kernels "k<i % 3>" of 10, 20, 30 µs on stream 7 with
 * their launches and CPU ops. free() it. */
char *small_trace(int rank, int kernels);

size_t files_in(const char *dir, const char *ending); /* how many files of that ending there are */

#endif
