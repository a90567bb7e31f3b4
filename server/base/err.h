/* The one error idiom of the project.
 *
 * A function that can fail returns 0 or a status from below and writes one sentence into the caller's error
 * object: what happened, where (file, byte), what to do about it. Outputs are untouched on failure. Inside, one
 * `out:` label frees in reverse order. A NULL error object is allowed: only the status is then told.
 *
 *     int rc = hs_thing_open(&t, path, err);
 *     if (rc) goto out;
 *
 * The object is plain memory owned by the caller, usually on the stack; it never needs freeing. It is written by
 * one thread at a time. */
#ifndef HS_BASE_ERR_H
#define HS_BASE_ERR_H

#include <stdarg.h>
#include <stdint.h>

/* The first four are also the exit statuses of the command line. */
enum hs_status {
    HS_OK = 0,
    HS_EINPUT = 1,     /* the user's data is not what it should be: exit 1, HTTP 422 */
    HS_EUSAGE = 2,     /* a wrong call: option, parameter, unknown name: exit 2, HTTP 400 */
    HS_EINTERNAL = 3,  /* our fault or the machine's: I/O, memory, SQLite: exit 3, HTTP 500 */
    HS_ENOTFOUND = 4,  /* no such run, trace, analysis: exit 1, HTTP 404 */
    HS_ELIMIT = 5,     /* a configured cap was reached: exit 1, HTTP 413 */
    HS_ECANCELLED = 6, /* the caller asked to stop: exit 1, HTTP 503 */
    HS_ECONFLICT = 7,  /* in the way of something that exists: exit 1, HTTP 409 */
    HS_ENOSPACE = 8,   /* no room left in the store: exit 3, HTTP 507 */
    HS_EASK = 10,      /* the caller has to choose first (cache=true or false): exit 2, HTTP 428 */
    HS_EUNDECIDED = 9  /* asked to judge, and the data cannot tell: exit 4; never over HTTP */
};

struct hs_err {
    int code;       /* an hs_status; HS_OK after hs_err_clear */
    int64_t offset; /* byte of the decompressed input where it happened, -1 where that means nothing */
    char text[512]; /* one sentence, UTF-8, no newline, always terminated */
};

#define HS_ERR_INIT \
    {               \
        HS_OK, -1,  \
        {           \
            0       \
        }           \
    }

void hs_err_clear(struct hs_err *err);

/* Sets code and text (cut to fit) and returns `code`, so that `return hs_fail(err, HS_EINPUT, "...", ...)` is one line. */
int hs_fail(struct hs_err *err, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
int hs_vfail(struct hs_err *err, int code, const char *fmt, va_list ap) __attribute__((format(printf, 3, 0)));

/* The same with ": <strerror(errno)>" at the end; errno is read first. */
int hs_fail_errno(struct hs_err *err, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Puts "prefix: " before the text that is already there (a file's name, usually). Keeps the code; returns it. */
int hs_err_prefix(struct hs_err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Exit status of the command line for a status: 0 to 4. */
int hs_exit_status(int code);

#endif
