#include "base/log.h"

#include "base/mem.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static enum hs_log_level g_lowest = HS_LOG_INFO; /* written before threads start, then only read */

void hs_log_set_level(enum hs_log_level lowest)
{
    g_lowest = lowest;
}

void hs_log(enum hs_log_level level, const char *msg, const char *fields, ...)
{
    static const char *const names[] = {"debug", "info", "warn", "error"};
    if (level < g_lowest)
        return;
    char line[2048], stamp[40];
    struct timespec t;
    struct tm tm;
    clock_gettime(CLOCK_REALTIME, &t);
    gmtime_r(&t.tv_sec, &tm);
    strftime(stamp, sizeof stamp, "%Y-%m-%dT%H:%M:%S", &tm);
    int n =
        snprintf(line, sizeof line, "ts=%s.%03ldZ level=%s msg=\"%s\"", stamp, t.tv_nsec / 1000000, names[level], msg);
    size_t len = n < 0 ? 0 : (size_t)n < sizeof line ? (size_t)n : sizeof line - 1;
    va_list ap;
    va_start(ap, fields);
    vsnprintf(line + len, sizeof line - len, fields, ap);
    va_end(ap);
    len = strlen(line);
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)line[i] < 0x20) /* a file name may hold anything; a log line may not */
            line[i] = '?';
    if (len == sizeof line - 1)
        len--;
    line[len++] = '\n';
    ssize_t w = write(STDERR_FILENO, line, len);
    (void)w; /* nowhere left to complain */
}
