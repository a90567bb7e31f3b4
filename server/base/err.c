#include "base/err.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

void hs_err_clear(struct hs_err *err)
{
    if (!err)
        return;
    err->code = HS_OK;
    err->offset = -1;
    err->text[0] = 0;
}

int hs_vfail(struct hs_err *err, int code, const char *fmt, va_list ap)
{
    if (!err)
        return code;
    err->code = code;
    vsnprintf(err->text, sizeof err->text, fmt, ap);
    for (char *c = err->text; *c; c++) /* the promise is one line, whatever a file name holds */
        if (*c == '\n' || *c == '\r')
            *c = ' ';
    return code;
}

int hs_fail(struct hs_err *err, int code, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    hs_vfail(err, code, fmt, ap);
    va_end(ap);
    return code;
}

int hs_fail_errno(struct hs_err *err, int code, const char *fmt, ...)
{
    int no = errno;
    va_list ap;
    va_start(ap, fmt);
    hs_vfail(err, code, fmt, ap);
    va_end(ap);
    if (err) {
        size_t n = strlen(err->text);
        snprintf(err->text + n, sizeof err->text - n, ": %s", strerror(no));
    }
    return code;
}

int hs_err_prefix(struct hs_err *err, const char *fmt, ...)
{
    if (!err)
        return HS_EINTERNAL;
    struct hs_err old = *err;
    va_list ap;
    va_start(ap, fmt);
    hs_vfail(err, old.code, fmt, ap);
    va_end(ap);
    size_t n = strlen(err->text);
    snprintf(err->text + n, sizeof err->text - n, ": %s", old.text);
    return old.code;
}

int hs_exit_status(int code)
{
    switch (code) {
    case HS_OK: return 0;
    case HS_EUSAGE: return 2;
    case HS_EINTERNAL:
    case HS_ENOSPACE: return 3;
    case HS_EASK: return 2;
    case HS_EUNDECIDED: return 4;
    default: return 1;
    }
}
