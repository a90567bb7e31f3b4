/* The report's idle time on the small odd traces, against a slow and obvious count over the file: a device is busy in a
 * nanosecond that some X event of its kernels, copies and memsets covers, from the first start to the last end. */
#include "report/report.h"
#include "tests/unit/exported.h"
#include "tests/unit/test.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <zlib.h>

struct work {
    json_int_t device;
    double start, end; /* us */
};

static bool is_device_work(json_t *e)
{
    const char *cat = json_string_value(json_object_get(e, "cat")), *ph = json_string_value(json_object_get(e, "ph"));
    return cat && ph && !strcmp(ph, "X") &&
           (!strcasecmp(cat, "kernel") || !strcasecmp(cat, "gpu_memcpy") || !strcasecmp(cat, "gpu_memset"));
}

static int by_start(const void *a, const void *b)
{
    const struct work *x = a, *y = b;
    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    return (x->start > y->start) - (x->start < y->start);
}

/* Percent; NAN without device work. */
static double idle_by_hand(json_t *doc)
{
    static struct work list[4096];
    json_t *events = json_is_array(doc) ? doc : json_object_get(doc, "traceEvents"), *e;
    double first = INFINITY, last = -INFINITY, busy = 0;
    size_t n = 0, devices = 0, i;
    json_array_foreach(events, i, e)
    {
        double ts = json_number_value(json_object_get(e, "ts")), dur = json_number_value(json_object_get(e, "dur"));
        if (!is_device_work(e) || n == sizeof list / sizeof list[0])
            continue;
        json_t *device = json_object_get(json_object_get(e, "args"), "device");
        list[n++] =
            (struct work){json_integer_value(device ? device : json_object_get(e, "pid")), ts, ts + fmax(0, dur)};
    }
    qsort(list, n, sizeof *list, by_start);
    for (size_t from = 0, to; from < n; from = to) {
        double end = list[from].start;
        for (to = from; to < n && list[to].device == list[from].device; to++) {
            busy += fmax(0, list[to].end - fmax(end, list[to].start));
            end = fmax(end, list[to].end);
        }
        first = fmin(first, list[from].start);
        last = fmax(last, end);
        devices++;
    }
    double whole = (last - first) * (double)devices;
    return whole > 0 ? 100 * (whole - busy) / whole : NAN;
}

static double idle_of_report(const char *path)
{
    struct traced t;
    struct hs_buf out = HS_BUF_INIT(1 << 22);
    struct hs_err err = HS_ERR_INIT;
    traced_file(&t, path);
    ck_assert_msg(!hs_report(t.run, &(struct hs_report_options){HS_REPORT_JSON, NULL, false}, &out, &err), "%s: %s",
                  path, err.text);
    json_t *j = json_loads(out.p, 0, NULL), *summary = json_object_get(j, "summary");
    ck_assert_ptr_nonnull(summary);
    ck_assert_uint_gt(strlen(json_string_value(json_object_get(j, "main_finding"))), 20);
    json_t *idle = json_object_get(summary, "idle_pct");
    double pct = json_number_value(json_object_get(summary, "gpu_span_us")) > 0 && json_is_number(idle)
                     ? json_number_value(idle)
                     : NAN;
    json_decref(j);
    hs_buf_free(&out);
    traced_end(&t);
    return pct;
}

/* NULL: it is no JSON. */
static json_t *read_json(const char *path)
{
    static char text[1 << 20];
    gzFile f = gzopen(path, "rb");
    ck_assert_ptr_nonnull(f);
    int n = gzread(f, text, sizeof text);
    gzclose(f);
    ck_assert(n < (int)sizeof text);
    return n < 0 ? NULL : json_loadb(text, (size_t)n, 0, NULL);
}

static bool one_file(const char *path)
{
    json_t *doc = read_json(path);
    double want = idle_by_hand(doc), got = idle_of_report(path);
    bool agree = isnan(want) || isnan(got) ? isnan(want) == isnan(got) : fabs(want - got) < 0.01;
    ck_assert_msg(agree || !doc, "%s: %f, not %f", path, got, want);
    json_decref(doc);
    return doc != NULL;
}

START_TEST(idle_time_of_odd_traces)
{
    char path[4096];
    size_t checked = 0;
    if (!hs_test_traces())
        return;
    snprintf(path, sizeof path, "%s/synth", hs_test_traces());
    DIR *synth = opendir(path);
    ck_assert_ptr_nonnull(synth);
    for (struct dirent *d; (d = readdir(synth));) {
        snprintf(path, sizeof path, "%s/synth/%s", hs_test_traces(), d->d_name);
        DIR *dir = d->d_name[0] == '.' ? NULL : opendir(path);
        for (struct dirent *f; dir && (f = readdir(dir));) {
            snprintf(path, sizeof path, "%s/synth/%s/%s", hs_test_traces(), d->d_name, f->d_name);
            if (f->d_name[0] != '.' && strstr(f->d_name, ".json"))
                checked += one_file(path);
        }
        if (dir)
            closedir(dir);
    }
    closedir(synth);
    ck_assert_uint_gt(checked, 30);
}
END_TEST

HS_SUITE(report_synth)
{
    HS_TEST(idle_time_of_odd_traces);
}
