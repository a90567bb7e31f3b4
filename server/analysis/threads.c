#include "analysis/threads.h"

#include <stdlib.h>
#include <string.h>

void hs_put_id(struct hs_buf *out, const struct hs_view *v, struct hs_id id)
{
    struct hs_str text = id.kind == HS_ID_TEXT ? hs_view_str(v, (uint32_t)id.v) : hs_str("", 0);
    if (id.kind == HS_ID_INT)
        hs_buf_put_i64(out, id.v);
    else
        hs_buf_put(out, text.p, text.n);
}

void hs_cell_id(struct hs_table *out, const struct hs_view *v, struct hs_id id)
{
    struct hs_buf text = HS_BUF_INIT(1 << 20);
    hs_put_id(&text, v, id);
    hs_cell_text(out, hs_str(text.p ? text.p : "", text.n));
    hs_buf_free(&text);
}

static int compare_ids(const struct hs_view *v, struct hs_id a, struct hs_id b)
{
    if (a.kind != b.kind)
        return a.kind < b.kind ? -1 : 1;
    if (a.kind == HS_ID_TEXT)
        return hs_str_cmp(hs_view_str(v, (uint32_t)a.v), hs_view_str(v, (uint32_t)b.v));
    return (a.v > b.v) - (a.v < b.v);
}

static int by_ids(const void *a, const void *b, void *view)
{
    const struct hs_view *v = view;
    const struct hs_lane_info *x = &v->lanes[*(const uint32_t *)a], *y = &v->lanes[*(const uint32_t *)b];
    int c = compare_ids(v, x->pid, y->pid);
    return c ? c : compare_ids(v, x->tid, y->tid);
}

static bool fits(const struct hs_view *v, const struct hs_lane_info *lane, struct hs_str wanted)
{
    struct hs_buf text = HS_BUF_INIT(1 << 20);
    hs_put_id(&text, v, lane->pid);
    hs_buf_putc(&text, '/');
    size_t tid = text.n;
    hs_put_id(&text, v, lane->tid);
    bool yes = hs_str_eq(hs_str(text.p, text.n), wanted) || hs_str_eq(hs_str(text.p + tid, text.n - tid), wanted);
    hs_buf_free(&text);
    return yes;
}

void hs_threads_open(struct hs_threads *t, const struct hs_view *view, const char *thread)
{
    size_t n = view->nlanes;
    uint32_t *order = hs_realloc_array(NULL, n + 1, sizeof *order);
    *t = (struct hs_threads){view, hs_calloc(n, sizeof *t->place), hs_calloc(n, 1), 0};
    for (size_t i = 0; i < n; i++) {
        order[i] = (uint32_t)i;
        t->on[i] = !thread || fits(view, &view->lanes[i], hs_cstr(thread));
        t->chosen += t->on[i];
    }
    if (n)
        qsort_r(order, n, sizeof *order, by_ids, (void *)view);
    for (size_t i = 0; i < n; i++)
        t->place[order[i]] = (int64_t)i;
    free(order);
}

void hs_threads_close(struct hs_threads *t)
{
    free(t->place);
    free(t->on);
    t->place = NULL;
    t->on = NULL;
}
