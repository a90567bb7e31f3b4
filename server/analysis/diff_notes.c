#include "analysis/diff_notes.h"
#include "trace/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void hs_diff_note_whole(const char *what, int64_t base, int64_t test, struct hs_table *out)
{
    if (base || test)
        hs_table_note(out, "Whole of %s per step and rank: base %.3f us, test %.3f us, difference %+.3f us.", what,
                      (double)base / 1e3, (double)test / 1e3, (double)(test - base) / 1e3);
}

static void note_steps(const struct hs_compare *c, struct hs_table *out)
{
    const struct hs_step_time *b = &c->step[0], *t = &c->step[1];
    if (!b->n || !t->n) {
        hs_table_note(out, "Step times cannot be compared: the %s has no profiler steps.",
                      b->n   ? "test"
                      : t->n ? "base"
                             : "runs");
        return;
    }
    struct hs_judgement j = hs_compare_judge(b, t, 0);
    hs_table_note(out,
                  "Step time: base %.3f us (spread %.3f, %zu steps), test %.3f us (spread %.3f, %zu steps), %+.2f %%.",
                  b->mean_ns / 1e3, b->n > 1 ? b->std_ns / 1e3 : 0.0, b->n, t->mean_ns / 1e3,
                  t->n > 1 ? t->std_ns / 1e3 : 0.0, t->n, isfinite(j.change) ? 100 * j.change : 0.0);
    if (b->n < 2 || t->n < 2)
        hs_table_note(out, "One step has no spread: whether the difference is more than chance cannot be told.");
    else if (isfinite(j.low) && j.low <= 0 && j.high >= 0)
        hs_table_note(out, "The difference of step times is within their spread (95 %% bounds %+.2f .. %+.2f %%).",
                      100 * j.low, 100 * j.high);
}

/* Chosen ranks of a side: how many, and a text of the numbers. */
static size_t ranks_text(struct hs_run *run, const struct hs_params *p, int side, struct hs_buf *b)
{
    size_t n = 0;
    for (size_t i = 0; i < run->n; i++)
        if (hs_compare_rank_on(p, side, run, i) && n++ < 16)
            hs_buf_printf(b, "%s%lld", n > 1 ? "," : "", (long long)run->ranks[i].rank);
    hs_buf_printf(b, "%s", n > 16 ? ",…" : "");
    return n;
}

static int64_t devices(struct hs_run *run, const struct hs_params *p, int side)
{
    int64_t n = 0;
    for (size_t i = 0; i < run->n; i++)
        if (hs_compare_rank_on(p, side, run, i))
            n += run->ranks[i].view->sum.devices;
    return n;
}

/* "name" of the first entry of deviceProperties, as it stands in the file. */
static struct hs_str device_name(const struct hs_run *run)
{
    static const char key[] = "\"name\"";
    for (size_t i = 0; run->n && i < run->ranks[0].view->nheader; i++) {
        const struct hs_view *v = run->ranks[0].view;
        struct hs_str text = hs_view_str(v, v->header[i].json);
        if (!hs_str_is(hs_view_str(v, v->header[i].key), "deviceProperties"))
            continue;
        const char *at = memmem(text.p, text.n, key, sizeof key - 1), *end = text.p + text.n;
        const char *open = at ? memchr(at + sizeof key - 1, '"', (size_t)(end - at) - (sizeof key - 1)) : NULL;
        const char *close = open ? memchr(open + 1, '"', (size_t)(end - open) - 1) : NULL;
        if (close)
            return hs_str(open + 1, (size_t)(close - open) - 1);
    }
    return hs_str("", 0);
}

static void note_devices(struct hs_run *run, const struct hs_params *p, struct hs_table *out)
{
    struct hs_str base = device_name(run), test = device_name(run->other);
    int64_t b = devices(run, p, 0), t = devices(run->other, p, 1);
    if (base.n && test.n && hs_str_cmp(base, test) != 0)
        hs_table_note(out, "Not comparable: the base ran on %.*s, the test on %.*s.", (int)(base.n < 80 ? base.n : 80),
                      base.p, (int)(test.n < 80 ? test.n : 80), test.p);
    if (b != t)
        hs_table_note(out, "Not comparable: the base has %lld devices, the test %lld.", (long long)b, (long long)t);
}

void hs_diff_notes(const struct hs_compare *c, struct hs_run *run, const struct hs_params *p, struct hs_table *out)
{
    struct hs_buf base = HS_BUF_INIT(4096), test = HS_BUF_INIT(4096);
    size_t b = ranks_text(run, p, 0, &base), t = ranks_text(run->other, p, 1, &test);
    hs_table_note(out, "Base: %.120s. Test: %.120s.", run->name, run->other->name);
    note_steps(c, out);
    if (!b || !t)
        hs_table_note(out, "Not comparable: the %s has none of the ranks asked for.", b ? "test" : "base");
    else if (base.n != test.n || memcmp(base.p, test.p, base.n) != 0)
        hs_table_note(out, "Not comparable: the base has ranks %s, the test %s.", base.p, test.p);
    if (c->stepped[0] != c->stepped[1])
        hs_table_note(out,
                      "Not comparable: only the %s has profiler steps; its figures are per step and rank, the other's "
                      "per rank.",
                      c->stepped[0] ? "base" : "test");
    else if (c->per[0] != c->per[1])
        hs_table_note(out, "The base has %lld %s, the test %lld: figures are the mean of one.", (long long)c->per[0],
                      c->stepped[0] ? "steps (of all ranks together)" : "ranks", (long long)c->per[1]);
    for (int side = 0; side < 2; side++)
        if (c->outside[side])
            hs_table_note(out, "%lld device events of the %s belong to no step and are left out.",
                          (long long)c->outside[side], side ? "test" : "base");
    note_devices(run, p, out);
    hs_buf_free(&base);
    hs_buf_free(&test);
}
