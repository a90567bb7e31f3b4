#include "report/write.h"

#include "render/table_text.h"
#include "trace/display_name.h"
#include "trace/stats.h"

#include <math.h>

static void heading(const struct hs_facts *f, struct hs_buf *out)
{
    const char *name = f->run->name && *f->run->name ? f->run->name : "run";
    hs_buf_puts(out, "# GPU report: ");
    hs_put_md_text(out, hs_cstr(f->run->n == 1 && f->ranks[0].trace ? f->ranks[0].trace : name));
    hs_buf_puts(out, "\n\n");
}

void hs_report_notes_md(const struct hs_table *notes, struct hs_buf *out)
{
    for (size_t i = 0; i < notes->notes.n; i++) {
        hs_put_md_text(out, hs_cstr(notes->notes.p[i]));
        hs_buf_puts(out, "\n\n");
    }
}

/* `text`, and where there is a server, a link from it to the analysis. */
static void linked(const struct hs_report_parts *r, const char *analysis, const char *params, const char *text,
                   struct hs_buf *out)
{
    hs_buf_puts(out, r->links ? "[" : "");
    hs_put_md_text(out, hs_cstr(text));
    if (!r->links)
        return;
    hs_buf_puts(out, "](");
    hs_report_evidence(analysis, params, r->facts->run->name, out);
    hs_buf_puts(out, ")");
}

void hs_report_top_md(const struct hs_report_parts *r, struct hs_buf *out)
{
    const struct hs_facts *f = r->facts;
    if (!f->ntop)
        return;
    bool gpu = f->time.rows > 0;
    hs_buf_printf(out, "| %% Time | Calls | Avg (μs) | %s |\n| ---: | ---: | ---: | --- |\n",
                  gpu ? "Kernel" : "Operator");
    for (size_t i = 0; i < f->ntop; i++) {
        const struct hs_top_kernel *k = &f->top[i];
        hs_buf_printf(out, "| %.1f | %lld | %.1f | ", k->share_pct, (long long)k->calls,
                      (double)k->sum_ns / (double)k->calls / 1000);
        struct hs_buf params = HS_BUF_INIT(1u << 16);
        const char *analysis = hs_report_top_evidence(f, k, &params);
        linked(r, analysis, params.p ? params.p : "", k->display, out);
        hs_buf_free(&params);
        hs_buf_puts(out, " |\n");
    }
    hs_buf_printf(out, "\n%% Time is of the summed %s (%.3f ms%s).\n\n",
                  gpu ? "durations of all GPU work" : "time that operators spend themselves on the CPU",
                  (double)f->work_ns / 1e6, f->run->n > 1 ? ", all ranks" : "");
}

static void figure_row(const struct hs_report_parts *r, const struct hs_figure *x, struct hs_buf *out)
{
    hs_buf_puts(out, "| ");
    linked(r, x->analysis, "", x->text, out);
    hs_buf_printf(out, " | %.1f | %.0f | %s |\n", x->pct, x->threshold, x->source);
}

static void bottleneck(const struct hs_report_parts *r, struct hs_buf *out)
{
    const struct hs_facts *f = r->facts;
    const struct hs_judgement *j = r->judgement;
    hs_buf_printf(out, "### Bottleneck\n\n**%s.** %s\n\n", hs_verdict_word(j->verdict), j->reason);
    if (f->time.span_ns <= 0)
        return;
    hs_buf_printf(out, "GPU span: %.3f ms (first start to last end of GPU work, over %zu %s",
                  (double)f->time.span_ns / 1e6, f->time.devices, f->time.devices == 1 ? "GPU" : "GPUs, summed");
    hs_buf_printf(out, r->judgement->idle_unknown ? "). Work was recorded in %.1f %%" : "). Busy %.1f %%",
                  hs_facts_pct(f, f->time.busy_ns));
    if (r->judgement->idle_unknown)
        hs_buf_puts(out, "; the rest is idle time or lost work.\n\n");
    else
        hs_buf_printf(out, ", idle %.1f %%.\n\n", hs_facts_pct(f, f->time.idle_ns));
    hs_buf_puts(out, "| Figure | % of GPU span | Threshold | Source |\n| --- | ---: | ---: | --- |\n");
    for (int i = 0; i < HS_FIGURES; i++)
        if (!r->judgement->idle_unknown || j->figures[i].points_to != HS_CPU_BOUND)
            figure_row(r, &j->figures[i], out);
    hs_buf_puts(out, "\n");
}

static void rank_table(const struct hs_facts *f, struct hs_buf *out)
{
    if (f->run->n < 2)
        return;
    hs_buf_puts(out, "### Ranks\n\n| Rank | GPU span (ms) | Busy % | Compute % | Exposed communication % | Idle % | "
                     "Compute against median % |\n"
                     "| ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n");
    for (size_t i = 0; i < f->run->n; i++) {
        const struct hs_rank_facts *r = &f->ranks[i];
        if (r->time.span_ns <= 0) {
            hs_buf_printf(out, "| %lld | no GPU work |  |  |  |  |  |\n", (long long)r->rank);
            continue;
        }
        hs_buf_printf(out, "| %lld | %.3f | %.1f | %.1f | %.1f | %.1f | %+.1f |\n", (long long)r->rank,
                      (double)r->time.span_ns / 1e6, hs_percent(r->time.busy_ns, r->time.span_ns),
                      hs_percent(hs_time_of(r->time.ns, HS_SET_COMPUTE), r->time.span_ns),
                      hs_percent(hs_exposed_comm(&r->time), r->time.span_ns),
                      hs_percent(r->time.idle_ns, r->time.span_ns), r->odd_pct);
    }
    const struct hs_rank_facts *odd = &f->ranks[f->odd];
    if (f->gpu_ranks > 1 && fabs(odd->odd_pct) >= 10)
        hs_buf_printf(out, "\nRank %lld differs most: it computes %.0f %% %s than the median rank.\n",
                      (long long)odd->rank, fabs(odd->odd_pct), odd->odd_pct > 0 ? "longer" : "less");
    else if (f->gpu_ranks > 1)
        hs_buf_printf(out, "\nNo rank computes 10 %% more or less than the median rank.\n");
    hs_buf_puts(out, "\n");
}

/* What is only information says nothing against the answers; it is in `quality`. */
static void data_quality(const struct hs_table *q, struct hs_buf *out)
{
    bool any = false;
    for (size_t i = 0; i < q->rows; i++) {
        const struct hs_cell *severity = hs_report_cell(q, i, "severity"), *rank = hs_report_cell(q, i, "rank"),
                             *text = hs_report_cell(q, i, "text");
        if (hs_str_is(hs_str(severity->s, severity->len), "info"))
            continue;
        if (!any)
            hs_buf_puts(out, "### Data Quality\n\n");
        any = true;
        hs_buf_printf(out, "- %s", severity->s);
        if (rank->kind == HS_C_I64)
            hs_buf_printf(out, ", rank %lld", (long long)rank->i);
        hs_buf_printf(out, ": %lld × %s\n", (long long)hs_report_cell(q, i, "count")->i, text->s);
    }
    if (any)
        hs_buf_puts(out, "\n");
}

/* ---- advice ---- */

/* A link where there is a server to follow it on, else what to type. */
static void evidence(const struct hs_report_parts *r, const char *analysis, const char *params, struct hs_buf *out)
{
    struct hs_buf text = HS_BUF_INIT(1u << 16);
    hs_report_evidence_name(analysis, params, r->links, &text);
    if (r->links)
        linked(r, analysis, params, text.p, out);
    else
        hs_buf_printf(out, "`%s`", text.p);
    hs_buf_free(&text);
}

static void example(const struct hs_report_parts *r, const struct hs_example *e, struct hs_buf *out)
{
    struct hs_buf name = HS_BUF_INIT(4096);
    hs_put_display_name(&name, hs_report_event_name(e), 80);
    bool link = r->links && e->of->view->id[0];
    hs_buf_puts(out, link ? "[" : "");
    hs_put_md_text(out, hs_str(name.p ? name.p : "", name.n));
    if (link) {
        hs_buf_puts(out, "](");
        hs_report_event_path(e, out);
        hs_buf_puts(out, ")");
    }
    hs_buf_puts(out, " (");
    hs_report_event_place(e, out);
    hs_buf_puts(out, ")");
    hs_buf_free(&name);
}

static void recommendation(const struct hs_report_parts *r, const struct hs_verdict_of_rule *v, int n,
                           struct hs_buf *out)
{
    const struct hs_rule *rule = &hs_rules[v->rule];
    hs_buf_printf(out, "%d. **%s**: ", n, rule->title);
    hs_report_figure(v, out);
    hs_report_gain(r->facts, v, out);
    hs_buf_printf(out, ". %s", rule->advice);
    if (v->value->detail[0]) {
        hs_buf_puts(out, " ");
        hs_put_md_text(out, hs_cstr(v->value->detail));
        hs_buf_puts(out, ".");
    }
    hs_buf_puts(out, " Evidence: ");
    evidence(r, rule->analysis, rule->params, out);
    for (size_t i = 0; i < v->value->nexamples; i++) {
        hs_buf_puts(out, i ? ", " : "; events: ");
        example(r, &v->value->examples[i], out);
    }
    hs_buf_puts(out, ".\n");
}

static void recommendations(const struct hs_report_parts *r, struct hs_buf *out)
{
    int n = 0;
    for (size_t i = 0; i < HS_RULES && r->rules[i].state == HS_RULE_APPLIES; i++) {
        hs_buf_puts(out, n ? "" : "### Recommendations\n\n");
        recommendation(r, &r->rules[i], ++n, out);
    }
    hs_buf_puts(out, n ? "\n" : "### Recommendations\n\nNone: no rule applies.\n\n");
}

/* Rules of one reason on one line: what could not be judged is one thing to record, not fifteen complaints. */
static void not_judged(const struct hs_report_parts *r, struct hs_buf *out)
{
    bool any = false;
    for (size_t i = 0; i < HS_RULES; i++) {
        const char *why = r->rules[i].missing;
        bool first = r->rules[i].state == HS_RULE_CANNOT_ANSWER && why;
        for (size_t k = 0; k < i && first; k++)
            first = r->rules[k].missing != why;
        if (!first)
            continue;
        hs_buf_puts(out, any ? "- " : "### Not judged\n\n- ");
        any = true;
        bool comma = false;
        for (size_t k = i; k < HS_RULES; k++)
            if (r->rules[k].state == HS_RULE_CANNOT_ANSWER && r->rules[k].missing == why) {
                hs_buf_printf(out, "%s%s", comma ? ", " : "", hs_rules[r->rules[k].rule].id);
                comma = true;
            }
        hs_buf_printf(out, ": %s.\n", why);
    }
    hs_buf_puts(out, any ? "\n" : "");
}

static void next(const struct hs_report_parts *r, struct hs_buf *out)
{
    int n = 0;
    for (size_t i = 0; i < HS_RULES && r->rules[i].state == HS_RULE_APPLIES && n < 3; i++) {
        const struct hs_rule *rule = &hs_rules[r->rules[i].rule];
        bool told = false;
        for (size_t k = 0; k < i; k++)
            told |= hs_rules[r->rules[k].rule].next == rule->next;
        if (told)
            continue;
        hs_buf_puts(out, n++ ? "" : "### Next\n\n");
        hs_buf_puts(out, "- ");
        evidence(r, rule->next, "", out);
        hs_buf_puts(out, "\n");
    }
}

void hs_report_md(const struct hs_report_parts *r, struct hs_buf *out)
{
    heading(r->facts, out);
    hs_buf_printf(out, "**Main Finding:** %s\n\n", r->judgement->finding);
    hs_report_notes_md(r->notes, out);
    hs_report_top_md(r, out);
    bottleneck(r, out);
    rank_table(r->facts, out);
    data_quality(r->quality, out);
    recommendations(r, out);
    not_judged(r, out);
    next(r, out);
}
