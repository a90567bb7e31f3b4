#include "report/report.h"

#include "analysis/analyses.h"
#include "analysis/select.h"
#include "report/write.h"

#include <stdlib.h>
#include <string.h>

const struct hs_cell *hs_report_cell(const struct hs_table *t, size_t row, const char *column)
{
    for (size_t c = 0; c < t->ncolumns; c++)
        if (!strcmp(t->columns[c].name, column))
            return hs_table_cell(t, row, c);
    return NULL;
}

static int ask_quality(struct hs_run *run, struct hs_table *out, struct hs_err *err)
{
    struct hs_params *p = NULL;
    int rc = hs_params_new(&p, hs_analysis_quality.params, hs_analysis_quality.nparams, err);
    if (!rc)
        rc = hs_analysis_run(&hs_analysis_quality, run, p, out, err);
    hs_params_free(p);
    return rc;
}

struct hs_run hs_report_run(const struct hs_run *run, struct hs_table *notes)
{
    hs_table_init(notes, NULL, 0);
    if (run->note)
        hs_table_note(notes, "%s", run->note);
    return hs_run_traces(run, notes);
}

/* ---- pieces that all forms have ---- */

static void put_uri(struct hs_buf *out, const char *text)
{
    for (const unsigned char *p = (const unsigned char *)text; *p; p++)
        if ((*p >= '0' && *p <= '9') || (*p >= 'A' && *p <= 'Z') || (*p >= 'a' && *p <= 'z') || strchr("-._~", *p))
            hs_buf_putc(out, (char)*p);
        else
            hs_buf_printf(out, "%%%02X", *p);
}

void hs_report_evidence(const char *analysis, const char *params, const char *run, struct hs_buf *out)
{
    hs_buf_puts(out, "/api/v1/runs/");
    put_uri(out, run ? run : "");
    hs_buf_printf(out, "/%s", analysis);
    const char *eq = strchr(params, '=');
    if (!eq)
        return;
    hs_buf_printf(out, "?%.*s=", (int)(eq - params), params);
    put_uri(out, eq + 1);
}

const char *hs_report_top_evidence(const struct hs_facts *f, const struct hs_top_kernel *k, struct hs_buf *params)
{
    hs_buf_puts(params, "name=^\\Q"); /* PCRE: literally, up to the next \\E, which is closed and told by itself */
    for (const char *p = k->name; *p; p++)
        hs_buf_puts(params, p[0] == '\\' && p[1] == 'E' ? "\\E\\\\\\Q" : (const char[]){*p, 0});
    hs_buf_puts(params, "\\E$");
    return f->time.rows ? "kernels" : "call-stack";
}

struct hs_str hs_report_event_name(const struct hs_example *e)
{
    struct hs_events ev;
    if (hs_view_events(e->of->view, HS_EV_NAME, &ev, NULL) || e->event >= ev.n)
        return HS_STR("");
    return hs_view_str(e->of->view, ev.name[e->event]);
}

void hs_report_event_path(const struct hs_example *e, struct hs_buf *out)
{
    hs_buf_printf(out, "/api/v1/traces/%s/events/%u", e->of->view->id, e->event);
}

void hs_report_event_place(const struct hs_example *e, struct hs_buf *out)
{
    hs_buf_printf(out, "rank %lld, event %u at %.3f ms", (long long)e->of->rank, e->event, (double)e->ts_ns / 1e6);
}

void hs_report_evidence_name(const char *analysis, const char *params, bool link, struct hs_buf *out)
{
    bool quoted = strpbrk(params, " ()[]|*?!^$") != NULL;
    hs_buf_printf(out, link ? "%s" : "holoscope analyze %s", analysis);
    if (*params)
        hs_buf_printf(out, link ? " %s" : quoted ? " --set '%s'" : " --set %s", params);
}

void hs_report_figure(const struct hs_verdict_of_rule *v, struct hs_buf *out)
{
    const struct hs_figure_doc *d = &hs_figure_docs[hs_rules[v->rule].figure];
    bool plain = !strcmp(d->unit, "1");
    hs_buf_printf(out, plain ? "%.4g%s %s (from %g on)" : "%.1f%s %s (from %g on)", v->value->v,
                  plain                         ? ""
                  : !strcmp(d->unit, "percent") ? " %"
                                                : " ms",
                  d->of, v->threshold);
}

void hs_report_gain(const struct hs_facts *f, const struct hs_verdict_of_rule *v, struct hs_buf *out)
{
    if (v->value->gain_ns <= 0 || f->time.span_ns <= 0)
        return;
    hs_buf_printf(out, ", at most %.3f ms to gain, %.1f %% of the GPU span", (double)v->value->gain_ns / 1e6,
                  hs_facts_pct(f, v->value->gain_ns));
}

/* ---- the report ---- */

static const char *const format_names[] = {"md", "json", "html"};

int hs_report_format_parse(const char *name)
{
    for (int i = 0; i < 3; i++)
        if (!strcmp(name, format_names[i]))
            return i;
    return -1;
}

const char *hs_report_content_type(enum hs_report_format f)
{
    static const char *const types[] = {"text/markdown; charset=utf-8", "application/json; charset=utf-8",
                                        "text/html; charset=utf-8"};
    return types[f];
}

int hs_report(struct hs_run *run, const struct hs_report_options *o, struct hs_buf *out, struct hs_err *err)
{
    struct hs_facts facts = {0};
    struct hs_figures figures;
    struct hs_judgement judgement;
    struct hs_thresholds defaults;
    struct hs_verdict_of_rule rules[HS_RULES];
    struct hs_table quality, notes;
    struct hs_run traces = hs_report_run(run, &notes);
    int rc = hs_facts_take(&facts, &traces, err);
    if (rc)
        goto out;
    facts.whole = run;
    rc = hs_figures_take(&figures, &facts, &traces, err);
    if (!rc)
        rc = ask_quality(run, &quality, err);
    if (rc)
        goto out;
    hs_thresholds_init(&defaults);
    hs_judge(&facts, &figures, &judgement);
    hs_rules_judge(&figures, o->thresholds ? o->thresholds : &defaults, rules);
    const struct hs_report_parts parts = {&facts, &figures, &judgement, rules, &quality, &notes, o->links};
    switch (o->format) {
    case HS_REPORT_MD: hs_report_md(&parts, out); break;
    case HS_REPORT_JSON: hs_report_json(&parts, out); break;
    case HS_REPORT_HTML: hs_report_html(&parts, out); break;
    }
    hs_table_free(&quality);
    rc = hs_buf_check(out, "the report", err);
out:
    hs_facts_free(&facts);
    hs_table_free(&notes);
    free(traces.ranks);
    return rc;
}
