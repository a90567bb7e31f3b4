/* Makes a large trace of a real one: `bench_repeat IN.json[.gz] OUT.json.gz COPIES [OUT.json]` writes the events of IN
 * COPIES times with times and ids moved on, so that copies follow one another as steps of a longer run would.
 *
 * Works on the text, not on a document: after each of the keys below the number that follows is replaced. The shift of
 * times is the span of IN's events, rounded up to whole milliseconds; ids move by the largest id of IN plus one. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

struct key {
    const char *text; /* with its quotes and colon */
    int is_time;
};
static const struct key keys[] = {
    {"\"ts\":", 1}, {"\"correlation\":", 0}, {"\"External id\":", 0}, {"\"id\":", 0}, {"\"Ev Idx\":", 0}};
enum { NKEYS = sizeof keys / sizeof keys[0] };

static char *read_all(const char *path, size_t *n)
{
    gzFile f = gzopen(path, "rb");
    size_t cap = 1 << 20;
    char *p = malloc(cap);
    *n = 0;
    if (!f || !p)
        return NULL;
    for (int got; (got = gzread(f, p + *n, (unsigned)(cap - *n - 1))) > 0;) {
        *n += (size_t)got;
        if (cap - *n < 2 && !(p = realloc(p, cap *= 2)))
            return NULL;
    }
    gzclose(f);
    p[*n] = 0;
    return p;
}

/* Start of the number after one of the keys at p, or NULL. */
static char *number_after(char *p, int *is_time)
{
    for (int i = 0; i < NKEYS; i++) {
        size_t n = strlen(keys[i].text);
        if (!strncmp(p, keys[i].text, n)) {
            p += n;
            while (*p == ' ')
                p++;
            *is_time = keys[i].is_time;
            return *p >= '0' && *p <= '9' ? p : NULL;
        }
    }
    return NULL;
}

struct range {
    int64_t first_ts, last_ts, max_id;
};

static struct range find_range(char *events)
{
    struct range r = {INT64_MAX, 0, 0};
    for (char *p = events; (p = strchr(p, '"')); p++) {
        int is_time;
        char *num = number_after(p, &is_time);
        if (!num)
            continue;
        int64_t v = strtoll(num, NULL, 10);
        if (is_time && v > 0) {
            r.first_ts = v < r.first_ts ? v : r.first_ts;
            r.last_ts = v > r.last_ts ? v : r.last_ts;
        } else if (!is_time && v < (int64_t)1 << 40) {
            r.max_id = v > r.max_id ? v : r.max_id;
        }
    }
    return r;
}

struct out {
    gzFile gz;
    FILE *plain;
};

static void put(struct out *o, const char *p, size_t n)
{
    if (n && gzwrite(o->gz, p, (unsigned)n) <= 0)
        exit(1);
    if (n && o->plain && fwrite(p, 1, n, o->plain) != n)
        exit(1);
}

static void put_copy(struct out *o, char *events, char *end, int64_t dt, int64_t did)
{
    char *done = events;
    for (char *p = events; p < end && (p = memchr(p, '"', (size_t)(end - p))); p++) {
        int is_time;
        char *num = number_after(p, &is_time), *stop, text[32];
        if (!num)
            continue;
        int64_t v = strtoll(num, &stop, 10);
        put(o, done, (size_t)(num - done));
        int n = snprintf(text, sizeof text, "%" PRId64, v + (v ? is_time ? dt : did : 0));
        put(o, text, (size_t)n);
        done = stop;
    }
    put(o, done, (size_t)(end - done));
}

int main(int argc, char **argv)
{
    if (argc < 4) {
        fprintf(stderr, "usage: %s IN OUT.json.gz COPIES [OUT.json]\n", argv[0]);
        return 2;
    }
    size_t n;
    char *text = read_all(argv[1], &n), *events = text ? strstr(text, "\"traceEvents\"") : NULL,
         *end = text ? text + n : NULL;
    struct out o = {gzopen(argv[2], "wb6"), argc > 4 ? fopen(argv[4], "wb") : NULL};
    if (!events || !(events = strchr(events, '[')) || !o.gz)
        return fprintf(stderr, "%s: cannot read it, or no traceEvents\n", argv[1]), 1;
    events++;
    while (end > events && *end != ']') /* the array's end: in these files the last bracket of the document */
        end--;
    struct range r = find_range(events);
    int64_t dt = (r.last_ts - r.first_ts) / 1000 * 1000 + 1000000;
    put(&o, text, (size_t)(events - text));
    for (long k = 0, copies = atol(argv[3]); k < copies; k++) {
        put_copy(&o, events, end, k * dt, k * (r.max_id + 1));
        if (k + 1 < copies)
            put(&o, ",", 1);
    }
    put(&o, end, (size_t)(text + n - end));
    return gzclose(o.gz) != Z_OK || (o.plain && fclose(o.plain)) ? 1 : 0;
}
