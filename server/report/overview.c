#include "report/overview.h"

#include "analysis/select.h"
#include "base/json.h"
#include "render/table_text.h"
#include "report/write.h"
#include "trace/stats.h"

#include <stdlib.h>

#define CATEGORIES 12 /* rows of the Markdown table */

struct category {
    struct hs_str name;
    int64_t events, ns;
};

/* What ingest counted, over all ranks. */
struct overview {
    const struct hs_run *run;
    struct hs_facts facts; /* its times, kernels and top only */
    int64_t events, cpu_ops, python, runtime_calls, memory_ops, kernel_ns, comm_ns, memory_ns, lost;
    struct category *categories; /* most events first */
    size_t ncategories;
    struct hs_table notes;
};

static int by_category(const void *a, const void *b)
{
    const struct category *x = a, *y = b;
    return hs_str_cmp(x->name, y->name);
}

static int by_events(const void *a, const void *b)
{
    const struct category *x = a, *y = b;
    if (x->events != y->events)
        return x->events < y->events ? 1 : -1;
    return by_category(a, b);
}

static void take_categories(struct overview *o)
{
    size_t n = 0, kept = 0;
    for (size_t i = 0; i < o->run->n; i++)
        n += o->run->ranks[i].view->ncats;
    o->categories = hs_calloc(n, sizeof *o->categories);
    n = 0;
    for (size_t i = 0; i < o->run->n; i++) {
        const struct hs_view *v = o->run->ranks[i].view;
        for (size_t k = 0; k < v->ncats; k++)
            o->categories[n++] = (struct category){hs_view_str(v, v->cats[k].cat), v->cats[k].count, v->cats[k].dur};
    }
    qsort(o->categories, n, sizeof *o->categories, by_category);
    for (size_t i = 0; i < n; i++) {
        struct category *last = kept ? &o->categories[kept - 1] : NULL;
        if (last && hs_str_eq(last->name, o->categories[i].name)) {
            last->events = hs_add_sat(last->events, o->categories[i].events);
            last->ns = hs_add_sat(last->ns, o->categories[i].ns);
        } else {
            o->categories[kept++] = o->categories[i];
        }
    }
    qsort(o->categories, kept, sizeof *o->categories, by_events);
    o->ncategories = kept;
}

static void take_rank(struct overview *o, const struct hs_view *v)
{
    const struct hs_summary *s = &v->sum;
    struct hs_facts *f = &o->facts;
    int64_t span = s->gpu_first_ts == HS_NO_VALUE ? 0 : hs_sub_sat(s->gpu_last_end, s->gpu_first_ts);
    if (__builtin_mul_overflow(span, s->devices, &span))
        span = INT64_MAX;
    f->time.devices += (size_t)hs_max_i64(0, s->devices);
    f->time.rows += (size_t)hs_max_i64(0, hs_add_sat(s->kernels, hs_add_sat(s->memcpys, s->memsets)));
    f->time.span_ns = hs_add_sat(f->time.span_ns, span);
    f->time.busy_ns = hs_add_sat(f->time.busy_ns, s->busy_ns);
    f->kernels = hs_add_sat(f->kernels, s->kernels);
    f->steps = hs_max_i64(f->steps, s->steps);
    f->work_ns = hs_add_sat(f->work_ns, hs_add_sat(s->kernel_ns, s->memory_ns));
    o->events = hs_add_sat(o->events, s->events);
    o->cpu_ops = hs_add_sat(o->cpu_ops, s->cpu_ops);
    o->python = hs_add_sat(o->python, s->python);
    o->runtime_calls = hs_add_sat(o->runtime_calls, s->runtime_calls);
    o->memory_ops = hs_add_sat(o->memory_ops, hs_add_sat(s->memcpys, s->memsets));
    o->kernel_ns = hs_add_sat(o->kernel_ns, s->kernel_ns);
    o->comm_ns = hs_add_sat(o->comm_ns, s->comm_ns);
    o->memory_ns = hs_add_sat(o->memory_ns, s->memory_ns);
    o->lost = hs_add_sat(o->lost, v->quality.count[HS_Q_LAUNCH_WITHOUT_KERNEL]);
}

/* ---- writing ---- */

static void json_summary(const struct overview *o, struct hs_json *j)
{
    const struct hs_facts *f = &o->facts;
    hs_json_key(j, "summary");
    hs_json_obj(j);
    hs_report_i64(j, "ranks", (int64_t)o->run->n);
    hs_report_i64(j, "devices", (int64_t)f->time.devices);
    hs_report_i64(j, "steps", f->steps);
    hs_report_i64(j, "events", o->events);
    hs_report_i64(j, "cpu_ops", o->cpu_ops);
    hs_report_i64(j, "python_calls", o->python);
    hs_report_i64(j, "runtime_calls", o->runtime_calls);
    hs_report_i64(j, "kernels", f->kernels);
    hs_report_i64(j, "memory_ops", o->memory_ops);
    hs_report_i64(j, "launches_without_work", o->lost);
    hs_report_us(j, "gpu_span_us", f->time.span_ns);
    hs_report_us(j, "busy_us", f->time.busy_ns);
    hs_report_us(j, "gpu_work_us", f->work_ns);
    hs_report_us(j, "kernel_us", o->kernel_ns);
    hs_report_us(j, "communication_us", o->comm_ns);
    hs_report_us(j, "memory_us", o->memory_ns);
    hs_json_end(j);
}

static void write_json(const struct overview *o, struct hs_buf *out)
{
    struct hs_json j = HS_JSON_INIT(out);
    hs_json_obj(&j);
    hs_report_text(&j, "run", o->run->name);
    hs_report_text(&j, "part", "overview");
    json_summary(o, &j);
    hs_report_top_json(&o->facts, &j);
    hs_json_key(&j, "categories");
    hs_json_arr(&j);
    for (size_t i = 0; i < o->ncategories; i++) {
        hs_json_obj(&j);
        hs_json_key(&j, "category");
        hs_json_str(&j, o->categories[i].name);
        hs_report_i64(&j, "events", o->categories[i].events);
        hs_report_us(&j, "sum_us", o->categories[i].ns);
        hs_json_end(&j);
    }
    hs_json_end(&j);
    hs_json_key(&j, "notes");
    hs_json_arr(&j);
    hs_report_notes_json(&o->notes, &j);
    hs_json_end(&j);
    hs_json_end(&j);
    hs_buf_putc(out, '\n');
}

static void write_md(const struct overview *o, struct hs_buf *out)
{
    const struct hs_facts *f = &o->facts;
    hs_buf_puts(out, "# Overview: ");
    hs_put_md_text(out, hs_cstr(o->run->name && *o->run->name ? o->run->name : "run"));
    hs_buf_printf(out,
                  "\n\n%lld events of %zu %s: %lld kernels, %lld copies and memsets, %lld CPU operators, %lld steps.",
                  (long long)o->events, o->run->n, o->run->n == 1 ? "rank" : "ranks", (long long)f->kernels,
                  (long long)o->memory_ops, (long long)o->cpu_ops, (long long)f->steps);
    if (f->time.span_ns > 0)
        hs_buf_printf(out, " GPU work in %.1f %% of the GPU span (%.3f ms over %zu %s).",
                      hs_facts_pct(f, f->time.busy_ns), (double)f->time.span_ns / 1e6, f->time.devices,
                      f->time.devices == 1 ? "GPU" : "GPUs, summed");
    if (o->lost)
        hs_buf_printf(out, " %lld launches have no device work in the trace.", (long long)o->lost);
    hs_buf_puts(out, "\n\n");
    hs_report_notes_md(&o->notes, out);
    hs_report_top_md(&(struct hs_report_parts){.facts = f}, out);
    hs_buf_puts(out, "| Category | Events | Sum (ms) |\n| --- | ---: | ---: |\n");
    for (size_t i = 0; i < o->ncategories && i < CATEGORIES; i++) {
        hs_buf_puts(out, "| ");
        hs_put_md_text(out, o->categories[i].name);
        hs_buf_printf(out, " | %lld | %.3f |\n", (long long)o->categories[i].events, (double)o->categories[i].ns / 1e6);
    }
}

int hs_report_overview(struct hs_run *run, enum hs_report_format format, struct hs_buf *out, struct hs_err *err)
{
    if (format == HS_REPORT_HTML)
        return hs_fail(err, HS_EUSAGE, "the overview of a report comes as json or md, not as html");
    struct overview o = {.facts = {.whole = run}};
    struct hs_run traces = hs_report_run(run, &o.notes);
    o.run = o.facts.run = &traces;
    int rc = HS_OK;
    for (size_t i = 0; i < traces.n; i++)
        take_rank(&o, traces.ranks[i].view);
    take_categories(&o);
    if (o.facts.time.rows)
        rc = hs_facts_take_top(&o.facts, &traces, err);
    if (!rc && format == HS_REPORT_JSON)
        write_json(&o, out);
    else if (!rc)
        write_md(&o, out);
    if (!rc)
        rc = hs_buf_check(out, "the overview", err);
    hs_facts_free(&o.facts);
    hs_table_free(&o.notes);
    free(o.categories);
    free(traces.ranks);
    return rc;
}
