#include "analysis/device_time.h"

#include <stdlib.h>

#define CLASSES 3

static size_t class_index(uint8_t cls)
{
    return cls == HS_CLASS_COMM ? 1 : cls == HS_CLASS_COMPUTE ? 0 : 2;
}

/* Rows [i, end) are one device. */
static void one_device(const struct hs_select *s, size_t i, size_t end, struct hs_spans sets[CLASSES],
                       struct hs_device_time *t)
{
    struct hs_span x;
    *t = (struct hs_device_time){.device = s->gpu.device[i], .first = INT64_MAX, .last = INT64_MIN};
    for (size_t k = 0; k < CLASSES; k++)
        sets[k].n = 0;
    for (; i < end; i++) {
        if (!hs_select_span(s, i, &x))
            continue;
        t->rows++;
        t->first = hs_min_i64(t->first, x.start);
        t->last = hs_max_i64(t->last, x.end);
        hs_spans_push(&sets[class_index(s->gpu.cls[i])], x.start, x.end);
    }
    for (size_t k = 0; k < CLASSES; k++)
        hs_spans_normalise(&sets[k]);
    hs_spans_sweep(sets, CLASSES, t->ns);
}

int hs_device_times(const struct hs_select *s, struct hs_device_time **out, size_t *n, struct hs_err *err)
{
    struct {
        HS_VEC(struct hs_device_time);
    } list = HS_VEC_INIT(1 << 20);
    struct hs_spans sets[CLASSES] = {HS_SPANS_INIT, HS_SPANS_INIT, HS_SPANS_INIT};
    int rc = HS_OK;
    for (size_t i = 0, end; i < s->gpu.n && !rc; i = end) {
        struct hs_device_time t;
        for (end = i + 1; end < s->gpu.n && s->gpu.device[end] == s->gpu.device[i];)
            end++;
        one_device(s, i, end, sets, &t);
        if (t.rows && !hs_vec_push(&list, t))
            rc = hs_fail(err, HS_ELIMIT, "more than a million devices");
    }
    for (size_t k = 0; k < CLASSES; k++)
        hs_vec_free(&sets[k]);
    if (rc) {
        hs_vec_free(&list);
        return rc;
    }
    *out = list.p;
    *n = list.n;
    return HS_OK;
}

int hs_rank_time(const struct hs_select *s, struct hs_rank_time *out, struct hs_err *err)
{
    struct hs_device_time *list;
    size_t n;
    int rc = hs_device_times(s, &list, &n, err);
    if (rc)
        return rc;
    struct hs_rank_time r = {.devices = n, .first = INT64_MAX, .last = INT64_MIN};
    for (size_t i = 0; i < n; i++) {
        r.rows += list[i].rows;
        r.first = hs_min_i64(r.first, list[i].first);
        r.last = hs_max_i64(r.last, list[i].last);
        for (size_t k = 1; k < HS_SETS; k++)
            r.ns[k] = hs_add_sat(r.ns[k], list[i].ns[k]);
    }
    free(list);
    if (n) {
        int64_t span = hs_sub_sat(r.last, r.first);
        if (__builtin_mul_overflow(span, (int64_t)n, &r.span_ns))
            r.span_ns = INT64_MAX;
        r.busy_ns = hs_time_of(r.ns, HS_SETS - 1);
        r.idle_ns = hs_max_i64(0, hs_sub_sat(r.span_ns, r.busy_ns));
    }
    *out = r;
    return HS_OK;
}

int64_t hs_time_of(const int64_t ns[HS_SETS], unsigned bits)
{
    int64_t sum = 0;
    for (unsigned k = 1; k < HS_SETS; k++)
        if (k & bits)
            sum = hs_add_sat(sum, ns[k]);
    return sum;
}
