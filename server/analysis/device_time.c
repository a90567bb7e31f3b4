#include "analysis/device_time.h"
#include "analysis/device_walk.h"

#include <stdlib.h>

#define CLASSES 3

static unsigned class_index(uint8_t cls)
{
    return cls == HS_CLASS_COMM ? 1 : cls == HS_CLASS_COMPUTE ? 0 : 2;
}

/* A sweep over time. until[k]: where the work of class k met so far ends. All time before `now` is credited. */
struct sweep {
    int64_t now, until[CLASSES];
    struct hs_device_time *t;
};

/* Credits the time up to `t` to the sets of classes that run in it. */
static void advance(struct sweep *s, int64_t t)
{
    while (s->now < t) {
        unsigned set = 0;
        int64_t next = t;
        for (unsigned k = 0; k < CLASSES; k++) {
            if (s->until[k] > s->now) {
                set |= 1u << k;
                next = hs_min_i64(next, s->until[k]);
            }
        }
        if (set)
            s->t->ns[set] = hs_add_sat(s->t->ns[set], hs_sub_sat(next, s->now));
        s->now = next;
    }
}

/* Rows come by start, so what is cut at the window's border comes by start too. */
static void one_device(const struct hs_select *s, struct hs_device_walk *w, struct hs_device_time *t)
{
    struct sweep sweep = {.now = INT64_MIN, .until = {INT64_MIN, INT64_MIN, INT64_MIN}, .t = t};
    struct hs_span x;
    *t = (struct hs_device_time){.device = w->device, .first = INT64_MAX, .last = INT64_MIN};
    for (size_t i; hs_device_row(w, &i);) {
        if (!hs_select_span(s, i, &x))
            continue;
        int64_t *until = &sweep.until[class_index(s->gpu.cls[i])];
        advance(&sweep, x.start);
        *until = hs_max_i64(*until, x.end);
        t->rows++;
        t->first = hs_min_i64(t->first, x.start);
        t->last = hs_max_i64(t->last, x.end);
    }
    advance(&sweep, t->last);
}

int hs_device_times(const struct hs_select *s, struct hs_device_time **out, size_t *n, struct hs_err *err)
{
    struct {
        HS_VEC(struct hs_device_time);
    } list = HS_VEC_INIT(1 << 20);
    struct hs_device_walk walk;
    int rc = HS_OK;
    hs_device_walk_init(&walk, &s->gpu);
    while (!rc && hs_device_next(&walk)) {
        struct hs_device_time t;
        one_device(s, &walk, &t);
        if (t.rows && !hs_vec_push(&list, t))
            rc = hs_fail(err, HS_ELIMIT, "more than a million devices");
    }
    hs_device_walk_free(&walk);
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
