#include "report/write.h"

#include "analysis/select.h"
#include "base/json.h"
#include "trace/display_name.h"
#include "trace/stats.h"

#include <math.h>
#include <stdlib.h>

static void pct(struct hs_json *j, const char *key, double v)
{
    hs_json_key(j, key);
    hs_json_f64(j, isfinite(v) ? (double)hs_round_i64(v * 1e4) / 1e4 : NAN); /* null */
}

void hs_report_us(struct hs_json *j, const char *key, int64_t ns)
{
    hs_json_key(j, key);
    hs_json_us(j, ns);
}

void hs_report_i64(struct hs_json *j, const char *key, int64_t v)
{
    hs_json_key(j, key);
    hs_json_i64(j, v);
}

void hs_report_text(struct hs_json *j, const char *key, const char *v)
{
    hs_json_key(j, key);
    hs_json_cstr(j, v);
}

/* Idle time; null where so much GPU activity was lost that nobody knows it. */
static void idle(const struct hs_report_parts *r, const char *key, int64_t ns, struct hs_json *j)
{
    hs_json_key(j, key);
    if (r->judgement->idle_unknown)
        hs_json_null(j);
    else
        hs_json_us(j, ns);
}

static void summary(const struct hs_report_parts *r, struct hs_json *j)
{
    const struct hs_facts *f = r->facts;
    hs_json_key(j, "summary");
    hs_json_obj(j);
    hs_report_i64(j, "ranks", (int64_t)f->run->n);
    hs_report_i64(j, "devices", (int64_t)f->time.devices);
    hs_report_i64(j, "steps", f->steps);
    hs_report_i64(j, "kernels", f->kernels);
    hs_report_us(j, "gpu_span_us", f->time.span_ns);
    hs_report_us(j, "busy_us", f->time.busy_ns);
    idle(r, "idle_us", f->time.idle_ns, j);
    hs_report_us(j, "gpu_work_us", f->time.rows ? f->work_ns : 0);
    pct(j, "busy_pct", hs_facts_pct(f, f->time.busy_ns));
    pct(j, "idle_pct", r->judgement->idle_unknown ? NAN : hs_facts_pct(f, f->time.idle_ns));
    for (int c = 0; c < HS_CAUSES; c++) {
        static const char *const keys[] = {"host_wait_us", "kernel_wait_us", "other_wait_us"};
        idle(r, keys[c], f->idle_ns[c], j);
    }
    hs_json_end(j);
}

void hs_report_top_json(const struct hs_facts *f, struct hs_json *j)
{
    hs_json_key(j, "top_kernels");
    hs_json_arr(j);
    for (size_t i = 0; i < f->ntop; i++) {
        const struct hs_top_kernel *k = &f->top[i];
        hs_json_obj(j);
        hs_report_text(j, "name", k->name);
        hs_report_text(j, "short_name", k->short_name);
        hs_report_text(j, "display_name", k->display);
        hs_report_text(j, "class", k->cls);
        hs_report_i64(j, "calls", k->calls);
        hs_report_us(j, "sum_us", k->sum_ns);
        hs_report_us(j, "mean_us", hs_round_i64((double)k->sum_ns / (double)k->calls));
        pct(j, "share_pct", k->share_pct);
        hs_json_end(j);
    }
    hs_json_end(j);
}

static void evidence(const char *analysis, const char *params, const char *run, struct hs_json *j)
{
    struct hs_buf path = HS_BUF_INIT(1u << 16);
    hs_report_evidence(analysis, params, run, &path);
    hs_json_key(j, "evidence");
    hs_json_obj(j);
    hs_report_text(j, "analysis", analysis);
    hs_report_text(j, "params", params);
    hs_report_text(j, "path", path.p ? path.p : "");
    hs_json_end(j);
    hs_buf_free(&path);
}

static void bottleneck(const struct hs_report_parts *r, struct hs_json *j)
{
    const struct hs_judgement *g = r->judgement;
    hs_json_key(j, "bottleneck");
    hs_json_obj(j);
    hs_report_text(j, "verdict", hs_verdict_word(g->verdict));
    hs_report_text(j, "sentence", g->reason);
    hs_json_key(j, "figures");
    hs_json_arr(j);
    for (int i = 0; i < HS_FIGURES; i++) {
        hs_json_obj(j);
        hs_report_text(j, "name", g->figures[i].name);
        hs_report_text(j, "text", g->figures[i].text);
        bool unknown = r->judgement->idle_unknown && g->figures[i].points_to == HS_CPU_BOUND;
        pct(j, "value_pct", unknown ? NAN : g->figures[i].pct);
        pct(j, "threshold_pct", g->figures[i].threshold);
        hs_report_text(j, "points_to", hs_verdict_word(g->figures[i].points_to));
        hs_report_text(j, "source", g->figures[i].source);
        evidence(g->figures[i].analysis, "", r->facts->run->name, j);
        hs_json_end(j);
    }
    hs_json_end(j);
    hs_json_end(j);
}

static void data_quality(const struct hs_table *q, struct hs_json *j)
{
    hs_json_key(j, "data_quality");
    hs_json_arr(j);
    for (size_t i = 0; i < q->rows; i++) {
        const struct hs_cell *rank = hs_report_cell(q, i, "rank");
        hs_json_obj(j);
        hs_json_key(j, "rank");
        if (rank->kind == HS_C_I64)
            hs_json_i64(j, rank->i);
        else
            hs_json_null(j);
        hs_report_text(j, "kind", hs_report_cell(q, i, "kind")->s);
        hs_report_text(j, "severity", hs_report_cell(q, i, "severity")->s);
        hs_report_i64(j, "count", hs_report_cell(q, i, "count")->i);
        hs_report_text(j, "text", hs_report_cell(q, i, "text")->s);
        hs_json_end(j);
    }
    hs_json_end(j);
}

/* ---- rules ---- */

static void events(const struct hs_figure_value *x, struct hs_json *j)
{
    hs_json_key(j, "events");
    hs_json_arr(j);
    for (size_t i = 0; i < x->nexamples; i++) {
        const struct hs_example *e = &x->examples[i];
        hs_json_obj(j);
        hs_report_i64(j, "rank", e->of->rank);
        hs_report_text(j, "trace", e->of->view->id);
        hs_report_i64(j, "event", e->event);
        hs_report_us(j, "ts_us", e->ts_ns);
        struct hs_str name = hs_report_event_name(e);
        struct hs_buf display = HS_BUF_INIT(4096);
        hs_put_display_name(&display, name, 80);
        hs_json_key(j, "name");
        hs_json_str(j, name);
        hs_json_key(j, "display_name");
        hs_json_str(j, hs_str(display.p ? display.p : "", display.n));
        hs_buf_free(&display);
        hs_json_end(j);
    }
    hs_json_end(j);
}

static void recommendation(const struct hs_facts *f, const struct hs_verdict_of_rule *v, struct hs_json *j)
{
    const struct hs_rule *r = &hs_rules[v->rule];
    const struct hs_figure_doc *d = &hs_figure_docs[r->figure];
    hs_json_obj(j);
    hs_report_text(j, "id", r->id);
    hs_report_text(j, "title", r->title);
    hs_report_text(j, "severity", r->severity);
    hs_report_text(j, "text", r->advice);
    hs_report_text(j, "detail", v->value->detail);
    hs_report_text(j, "figure", d->name);
    pct(j, "value", v->value->v);
    hs_report_text(j, "unit", d->unit);
    hs_report_text(j, "of", d->of);
    pct(j, "threshold", v->threshold);
    hs_report_text(j, "source", r->source);
    hs_report_us(j, "gain_us", v->value->gain_ns);
    pct(j, "gain_pct", hs_facts_pct(f, v->value->gain_ns));
    evidence(r->analysis, r->params, f->run->name, j);
    hs_json_key(j, "sql");
    if (r->sql)
        hs_json_cstr(j, r->sql);
    else
        hs_json_null(j);
    events(v->value, j);
    hs_report_text(j, "next", r->next);
    hs_json_end(j);
}

static void rules(const struct hs_report_parts *r, struct hs_json *j)
{
    hs_json_key(j, "recommendations");
    hs_json_arr(j);
    for (size_t i = 0; i < HS_RULES && r->rules[i].state == HS_RULE_APPLIES; i++)
        recommendation(r->facts, &r->rules[i], j);
    hs_json_end(j);
    hs_json_key(j, "rules");
    hs_json_arr(j);
    for (size_t i = 0; i < HS_RULES; i++) {
        const struct hs_verdict_of_rule *v = &r->rules[i];
        bool known = v->state != HS_RULE_CANNOT_ANSWER;
        hs_json_obj(j);
        hs_report_text(j, "id", hs_rules[v->rule].id);
        hs_report_text(j, "state", hs_rule_state_word(v->state));
        hs_json_key(j, "value");
        if (known)
            hs_json_f64(j, (double)hs_round_i64(v->value->v * 1e4) / 1e4);
        else
            hs_json_null(j);
        pct(j, "threshold", v->threshold);
        hs_json_key(j, "reason");
        if (v->missing)
            hs_json_cstr(j, v->missing);
        else
            hs_json_null(j);
        hs_json_end(j);
    }
    hs_json_end(j);
}

static void ranks(const struct hs_facts *f, struct hs_json *j)
{
    hs_json_key(j, "ranks");
    hs_json_arr(j);
    for (size_t i = 0; i < f->run->n; i++) {
        const struct hs_rank_facts *r = &f->ranks[i];
        hs_json_obj(j);
        hs_report_i64(j, "rank", r->rank);
        hs_report_text(j, "trace", r->trace);
        hs_report_i64(j, "devices", (int64_t)r->time.devices);
        hs_report_us(j, "gpu_span_us", r->time.span_ns);
        hs_report_us(j, "busy_us", r->time.busy_ns);
        hs_report_us(j, "compute_us", hs_time_of(r->time.ns, HS_SET_COMPUTE));
        hs_report_us(j, "exposed_communication_us", hs_exposed_comm(&r->time));
        hs_report_us(j, "exposed_memory_us", hs_exposed_memory(&r->time));
        hs_report_us(j, "idle_us", r->time.idle_ns);
        hs_report_us(j, "host_wait_us", r->idle_ns[HS_HOST_WAIT]);
        pct(j, "compute_against_median_pct", r->odd_pct);
        hs_json_end(j);
    }
    hs_json_end(j);
}

void hs_report_notes_json(const struct hs_table *notes, struct hs_json *j)
{
    for (size_t i = 0; i < notes->notes.n; i++)
        hs_json_cstr(j, notes->notes.p[i]);
}

void hs_report_json(const struct hs_report_parts *r, struct hs_buf *out)
{
    struct hs_json j = HS_JSON_INIT(out);
    hs_json_obj(&j);
    hs_report_text(&j, "run", r->facts->run->name);
    hs_report_text(&j, "main_finding", r->judgement->finding);
    summary(r, &j);
    hs_report_top_json(r->facts, &j);
    bottleneck(r, &j);
    ranks(r->facts, &j);
    data_quality(r->quality, &j);
    rules(r, &j);
    hs_json_key(&j, "notes");
    hs_json_arr(&j);
    hs_report_notes_json(r->notes, &j);
    hs_report_notes_json(r->quality, &j);
    hs_json_end(&j);
    hs_json_end(&j);
    hs_buf_putc(out, '\n');
}
