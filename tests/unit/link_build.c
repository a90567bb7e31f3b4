#include "tests/unit/link_build.h"

#include "ingest/link.h"
#include "trace/classes.h"

#include <check.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

void link_trace_init(struct hs_trace *t)
{
    hs_trace_init(t, &hs_limits_default);
}

static uint32_t sym(struct hs_trace *t, const char *s)
{
    return hs_intern_add(&t->syms, s ? s : "", s ? strlen(s) : 0);
}

static uint32_t lane(struct hs_trace *t, struct hs_id pid, struct hs_id tid)
{
    for (size_t i = 0; i < t->lanes.n; i++) {
        struct hs_lane l = t->lanes.p[i];
        if (l.pid.kind == pid.kind && l.pid.v == pid.v && l.tid.v == tid.v)
            return (uint32_t)i;
    }
    ck_assert(hs_vec_push(&t->lanes, ((struct hs_lane){pid, tid})));
    return (uint32_t)t->lanes.n - 1;
}

uint32_t link_add(struct hs_trace *t, struct ev e)
{
    struct hs_rows *r = &t->rows;
    ck_assert(hs_rows_reserve(r, 1, HS_MAX_EVENTS));
    size_t i = r->n++;
    const char *p = e.pid ? e.pid : "1";
    bool digits = isdigit((unsigned char)p[0]) != 0;
    struct hs_id pid = {digits ? atoll(p) : sym(t, p), digits ? HS_ID_INT : HS_ID_TEXT};
    r->ts[i] = e.ts;
    r->dur[i] = e.dur == NONE_I64 ? 0 : e.dur;
    r->flags[i] = (uint8_t)(HS_ROW_HAS_TS | (e.dur == NONE_I64 || e.ph != 'X' ? 0 : HS_ROW_HAS_DUR) |
                            (e.collective ? HS_ROW_COLLECTIVE : 0));
    r->corr[i] = e.corr ? e.corr : HS_NO_VALUE;
    r->name[i] = sym(t, e.name);
    r->cat[i] = (uint16_t)sym(t, e.cat);
    r->ph[i] = (uint8_t)e.ph;
    r->lane[i] = lane(t, pid, (struct hs_id){e.tid, HS_ID_INT});
    if (hs_cat_is_device(hs_cat_kind(hs_cstr(e.cat ? e.cat : ""))))
        ck_assert(hs_vec_push(
            &t->device_rows, ((struct hs_device_row){(uint32_t)i, (int32_t)e.device, e.stream, e.bytes, HS_NO_VALUE})));
    t->events++;
    return (uint32_t)i;
}

void link_run(struct hs_trace *t, struct hs_links *out)
{
    struct hs_err err = HS_ERR_INIT;
    hs_links_init(out);
    ck_assert_msg(hs_link(t, out, &err) == HS_OK, "%s", err.text);
    ck_assert_ptr_null(t->rows.ts); /* given back */
}

/* ---- one trace for one test ---- */

struct hs_trace link_t;
struct hs_links link_k;

void link_setup(void)
{
    link_trace_init(&link_t);
}

void link_teardown(void)
{
    hs_links_free(&link_k);
    hs_trace_free(&link_t);
}

uint32_t link_op(const char *name, int64_t ts, int64_t dur)
{
    return link_add(&link_t, (struct ev){.ph = 'X', .cat = "cpu_op", .name = name, .ts = ts, .dur = dur});
}

uint32_t link_call(const char *name, int64_t ts, int64_t dur, int64_t corr)
{
    return link_add(&link_t,
                    (struct ev){.ph = 'X', .cat = "cuda_runtime", .name = name, .ts = ts, .dur = dur, .corr = corr});
}

uint32_t link_kernel(const char *name, int64_t ts, int64_t dur, int64_t corr)
{
    return link_add(&link_t, (struct ev){.ph = 'X',
                                         .cat = "kernel",
                                         .name = name,
                                         .pid = "0",
                                         .tid = 7,
                                         .ts = ts,
                                         .dur = dur,
                                         .corr = corr,
                                         .stream = 7,
                                         .bytes = NONE_I64});
}

int link_count(enum hs_quality_kind kind)
{
    return (int)link_t.quality.count[kind];
}
