/* The document: windows of text, the top level, header members, the array of events, finding the way again.
 *
 * Every step works on text that is in memory whole: it consumes an item (an event, a header member, a comma), or says
 * MORE, and what it did not consume stands before the next window. An item that does not fit a window is put together in
 * `pending`, and tried again only when that has doubled, so that the work stays linear. */
#include "ingest/kineto_in.h"
#include "ingest/sniff.h"

#include <stdatomic.h>
#include <stdlib.h>

enum {
    HEAD_BYTES = 4096,          /* of the document, kept for sniffing */
    TRY_AGAIN_ALWAYS = 1 << 18, /* leftovers below this are tried with every window */
};

/* ---- birth and death ---- */

int hs_kineto_new(struct hs_kineto **out, struct hs_trace *trace, const struct hs_limits *limits,
                  struct hs_segment *first, hs_emit_segment *emit, void *ctx, struct hs_err *err)
{
    (void)err;
    struct hs_kineto *k = hs_calloc(1, sizeof *k);
    k->trace = trace;
    k->limits = limits ? *limits : hs_limits_default;
    k->seg = first;
    k->emit = emit;
    k->ctx = ctx;
    k->pending = (struct hs_buf)HS_BUF_INIT(SIZE_MAX / 4); /* its ceiling is item_max and one window: see keep() */
    k->head = (struct hs_buf)HS_BUF_INIT(HEAD_BYTES);
    k->text = (struct hs_buf)HS_BUF_INIT(hs_kineto_item_max(k));
    k->arena = (struct hs_arena)HS_ARENA_INIT(64u << 20);
    k->odd_texts.max = 64;
    k->meta.max = SIZE_MAX / 8;
    k->syms = hs_calloc(HS_SYM_CACHE, sizeof *k->syms);
    k->lanes = hs_calloc(HS_LANE_CACHE, sizeof *k->lanes);
    static const char nothing[16];
    for (size_t i = 0; i < HS_SYM_CACHE; i++)
        k->syms[i] = (struct hs_sym_slot){nothing, 0, 0};
    hs_repair_init(&k->repair, hs_kineto_item_max(k) * 2);
    hs_segment_reset(first, trace->events);
    hs_kineto_intern_known(k);
    *out = k;
    return HS_OK;
}

void hs_kineto_free(struct hs_kineto *k)
{
    if (!k)
        return;
    hs_segment_free(k->seg);
    hs_buf_free(&k->pending);
    hs_buf_free(&k->head);
    hs_buf_free(&k->text);
    hs_repair_free(&k->repair);
    hs_arena_free(&k->arena);
    hs_vec_free(&k->meta);
    hs_vec_free(&k->odd_texts);
    free(k->syms);
    free(k->lanes);
    free(k->lane_table);
    free(k->shape_table);
    free(k->column_table);
    free(k);
}

/* ---- stopping, and what the work was ---- */

void hs_kineto_cancel(struct hs_kineto *k, const _Atomic bool *cancel)
{
    k->repair.cancel = cancel;
}

uint64_t hs_kineto_work(const struct hs_kineto *k)
{
    return k->repair.work;
}

int hs_kineto_ask(struct hs_kineto *k, struct hs_err *err)
{
    const _Atomic bool *cancel = k->repair.cancel;
    k->check_at = k->repair.work + (1u << 20);
    if (!cancel || !atomic_load_explicit(cancel, memory_order_relaxed))
        return HS_OK;
    k->check_at = 0;
    return hs_fail(err, HS_ECANCELLED, "the import was stopped");
}

/* ---- windows ---- */

/* Reads [text, text + n); *left: how many bytes at its end were not consumed. */
static int run(struct hs_kineto *k, const char *text, size_t n, size_t *left, struct hs_err *err)
{
    const char *p = text, *end = text + n;
    enum hs_scan r = HS_SCAN_OK;
    int rc = HS_OK;
    k->win = k->item = text;
    while (!r && p < end && !rc && !(rc = hs_kineto_stopped(k, err))) {
        switch (k->state) {
        case HS_ST_START: r = hs_kineto_start(k, &p, end); break;
        case HS_ST_KEY: r = hs_kineto_top(k, &p, end); break;
        case HS_ST_EVENTS: r = hs_kineto_events(k, &p, end, &rc, err); break;
        case HS_ST_RESYNC: r = hs_kineto_resync(k, &p, end); break;
        case HS_ST_SEEK: r = hs_kineto_seek(k, &p, end); break;
        case HS_ST_SKIP: r = hs_kineto_skip(k, &p, end); break;
        case HS_ST_DONE: r = hs_kineto_done(k, &p, end); break;
        case HS_ST_IGNORE: p = end; break;
        }
    }
    *left = (size_t)(end - p);
    k->win_off += (uint64_t)(p - text);
    return rc;
}

/* An item larger than any may be: the event is dropped, the header member skipped. */
static void too_large(struct hs_kineto *k, const char *text, size_t *left)
{
    int64_t at = (int64_t)k->win_off;
    if (k->state == HS_ST_KEY) {
        hs_quality_add(&k->trace->quality, HS_Q_BAD_HEADER, 1, at);
        k->state = HS_ST_SKIP;
        k->skip.depth = 0;
        k->skip.text = k->skip.slash = false;
        const char *p = text, *end = text + *left;
        k->win = text;
        bool escaped; /* the key and its colon were read before */
        p++;
        hs_scan_text(&p, end, &escaped);
        p++;
        hs_kineto_skip(k, &p, end);
        k->win_off += (uint64_t)(p - text);
        *left = (size_t)(end - p);
        return;
    }
    hs_quality_add(&k->trace->quality, HS_Q_BAD_EVENT, 1, at);
    hs_quality_add(&k->trace->quality, HS_Q_SKIPPED_BYTES, (int64_t)*left, at);
    k->win_off += *left;
    *left = 0;
    k->before = ',';
    k->state = HS_ST_RESYNC;
}

/* Puts what the window left over before whatever comes next. `text` may lie in pending itself. */
static void keep(struct hs_kineto *k, const char *text, size_t left)
{
    if (left > hs_kineto_item_max(k)) {
        size_t rest = left;
        too_large(k, text, &rest);
        text += left - rest;
        left = rest;
    }
    k->retry_at = left < TRY_AGAIN_ALWAYS ? 0 : 2 * left;
    if (k->retry_at > hs_kineto_item_max(k) + 1)
        k->retry_at = hs_kineto_item_max(k) + 1;
    if (k->pending.p && text >= k->pending.p && text <= k->pending.p + k->pending.n) {
        memmove(k->pending.p, text, left);
        k->pending.n = left;
        return;
    }
    hs_buf_clear(&k->pending);
    hs_buf_put(&k->pending, text, left);
}

static int run_pending(struct hs_kineto *k, struct hs_err *err)
{
    size_t left;
    hs_buf_reserve(&k->pending, HS_SCAN_PAD);
    memset(k->pending.p + k->pending.n, 0, HS_SCAN_PAD);
    int rc = run(k, k->pending.p, k->pending.n, &left, err);
    keep(k, k->pending.p + (k->pending.n - left), left);
    return rc;
}

int hs_kineto_feed(struct hs_kineto *k, char *text, size_t n, struct hs_err *err)
{
    size_t left, had = k->pending.n;
    if (!n)
        return HS_OK;
    if (k->head.n < HEAD_BYTES)
        hs_buf_put(&k->head, text, n < HEAD_BYTES - k->head.n ? n : HEAD_BYTES - k->head.n);
    if (had >= TRY_AGAIN_ALWAYS || had > HS_KINETO_HEAD) {
        hs_buf_put(&k->pending, text, n);
        return k->pending.n >= k->retry_at ? run_pending(k, err) : HS_OK;
    }
    if (had)
        memcpy(text - had, k->pending.p, had);
    int rc = run(k, text - had, n + had, &left, err);
    keep(k, text + n - left, left);
    return rc;
}

/* ---- the end ---- */

static int refuse(struct hs_kineto *k, const char *why, struct hs_err *err)
{
    if (err)
        err->offset = 0;
    (void)k;
    return hs_fail(err, HS_EINPUT, "%s", why);
}

static const char *no_trace(struct hs_kineto *k)
{
    struct hs_trace *t = k->trace;
    struct hs_str head = hs_str(k->head.n ? k->head.p : "", k->head.n);
    if (k->no_json || k->state == HS_ST_START)
        return hs_sniff_bytes(head);
    if (t->bare_array)
        return !k->with_ph && (k->objects || k->non_objects || t->events) ? hs_sniff_array(head) : NULL;
    if (t->has_events_key)
        return NULL;
    struct hs_str *keys = hs_calloc(t->header.n, sizeof *keys);
    for (size_t i = 0; i < t->header.n; i++)
        keys[i] = hs_intern_str(&t->syms, t->header.p[i].key);
    const char *why = hs_sniff_object(keys, t->header.n);
    free(keys);
    return why;
}

int hs_kineto_finish(struct hs_kineto *k, struct hs_err *err)
{
    struct hs_trace *t = k->trace;
    int rc = HS_OK;
    k->final = true;
    if (k->pending.n)
        rc = run_pending(k, err);
    if (rc)
        return rc;
    const char *why = no_trace(k);
    if (why)
        return refuse(k, why, err);
    bool cut = k->pending.n > 0 || (k->state != HS_ST_DONE && k->state != HS_ST_IGNORE);
    if (cut) {
        bool open_array = t->bare_array && k->state == HS_ST_EVENTS && !k->pending.n;
        hs_quality_add(&t->quality, open_array ? HS_Q_NO_CLOSING : HS_Q_TRUNCATED, 1, (int64_t)k->win_off);
    }
    hs_kineto_head_settle(k);
    if (t->memory_timeline)
        t->has_base = true; /* of 0: its times are unix time */
    return k->seg->rows ? hs_kineto_flush(k, err) : HS_OK;
}
