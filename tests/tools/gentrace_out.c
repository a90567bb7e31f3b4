/* gentrace_out.c - a buffered file, plain or gzip. A failed write ends the program: half a trace is of no use. */
#include "gentrace.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

struct out {
    FILE *plain;
    gzFile zip;
    const char *path;
    size_t n;
    char buffer[1 << 16];
};

struct out *out_open(const char *path, bool gzip)
{
    struct out *o = calloc(1, sizeof *o);
    if (!o)
        die("out of memory");
    o->path = path;
    if (gzip)
        o->zip = gzopen(path, "wb4");
    else
        o->plain = fopen(path, "wb");
    if (!o->zip && !o->plain)
        die("cannot write %s", path);
    return o;
}

static void out_flush(struct out *o)
{
    bool good =
        o->zip ? gzwrite(o->zip, o->buffer, (unsigned)o->n) == (int)o->n : fwrite(o->buffer, 1, o->n, o->plain) == o->n;
    if (!good)
        die("cannot write %s: is the disk full?", o->path);
    o->n = 0;
}

void out_bytes(struct out *o, const char *bytes, size_t n)
{
    while (n > 0) {
        if (o->n == sizeof o->buffer)
            out_flush(o);
        size_t part = n < sizeof o->buffer - o->n ? n : sizeof o->buffer - o->n;
        memcpy(o->buffer + o->n, bytes, part);
        o->n += part, bytes += part, n -= part;
    }
}

void out_text(struct out *o, const char *fmt, ...)
{
    for (int again = 0; again < 2; again++) {
        va_list args;
        va_start(args, fmt);
        size_t room = sizeof o->buffer - o->n;
        int n = vsnprintf(o->buffer + o->n, room, fmt, args);
        va_end(args);
        if (n >= 0 && (size_t)n < room) {
            o->n += (size_t)n;
            return;
        }
        out_flush(o);
    }
    die("a text longer than the buffer");
}

void out_close(struct out *o)
{
    if (o->n)
        out_flush(o);
    if (o->zip ? gzclose(o->zip) != Z_OK : fclose(o->plain) != 0)
        die("cannot write %s: is the disk full?", o->path);
    free(o);
}
