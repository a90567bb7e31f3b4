/* One page by itself: no scripts, nothing from elsewhere, every text of the trace escaped. Links go to the server that gave it. */
#include "base/json.h"
#include "report/write.h"

#include "trace/display_name.h"
#include "trace/stats.h"

static void escaped(struct hs_buf *out, struct hs_str s)
{
    struct hs_buf clean = HS_BUF_INIT(1u << 20);
    hs_put_utf8(&clean, s);
    for (size_t i = 0; i < clean.n; i++) {
        char c = clean.p[i];
        const char *as = c == '<'    ? "&lt;"
                         : c == '>'  ? "&gt;"
                         : c == '&'  ? "&amp;"
                         : c == '"'  ? "&quot;"
                         : c == '\'' ? "&#39;"
                                     : NULL;
        if (as)
            hs_buf_puts(out, as);
        else
            hs_buf_putc(out, (unsigned char)c < ' ' ? ' ' : c);
    }
    hs_buf_free(&clean);
}

static void put(struct hs_buf *out, const char *text)
{
    escaped(out, hs_cstr(text ? text : ""));
}

static void element(struct hs_buf *out, const char *tag, const char *text)
{
    hs_buf_printf(out, "<%s>", tag);
    put(out, text);
    hs_buf_printf(out, "</%s>\n", tag);
}

/* `text`, and where there is a server, a link from it to the analysis. */
static void linked(const struct hs_report_parts *r, const char *analysis, const char *params, const char *text,
                   struct hs_buf *out)
{
    struct hs_buf path = HS_BUF_INIT(1u << 16);
    if (r->links) {
        hs_report_evidence(analysis, params, r->facts->run->name, &path);
        hs_buf_puts(out, "<a href=\"");
        escaped(out, hs_str(path.p ? path.p : "", path.n));
        hs_buf_puts(out, "\">");
    }
    put(out, text);
    hs_buf_puts(out, r->links ? "</a>" : "");
    hs_buf_free(&path);
}

static void example(const struct hs_report_parts *r, const struct hs_example *e, struct hs_buf *out)
{
    struct hs_buf text = HS_BUF_INIT(1u << 16);
    bool link = r->links && e->of->view->id[0];
    if (link) {
        hs_buf_puts(out, "<a href=\"");
        hs_report_event_path(e, out);
        hs_buf_puts(out, "\">");
    }
    hs_put_display_name(&text, hs_report_event_name(e), 80);
    escaped(out, hs_str(text.p ? text.p : "", text.n));
    hs_buf_puts(out, link ? "</a> (" : " (");
    hs_report_event_place(e, out);
    hs_buf_puts(out, ")");
    hs_buf_free(&text);
}

static void top_kernels(const struct hs_report_parts *r, struct hs_buf *out)
{
    const struct hs_facts *f = r->facts;
    if (!f->ntop)
        return;
    hs_buf_puts(out, "<table>\n<tr><th>% Time</th><th>Calls</th><th>Avg (μs)</th><th>");
    put(out, f->time.rows ? "Kernel" : "Operator");
    hs_buf_puts(out, "</th></tr>\n");
    for (size_t i = 0; i < f->ntop; i++) {
        const struct hs_top_kernel *k = &f->top[i];
        hs_buf_printf(out, "<tr><td>%.1f</td><td>%lld</td><td>%.1f</td><td title=\"", k->share_pct, (long long)k->calls,
                      (double)k->sum_ns / (double)k->calls / 1000);
        put(out, k->name);
        hs_buf_puts(out, "\">");
        struct hs_buf params = HS_BUF_INIT(1u << 16);
        const char *analysis = hs_report_top_evidence(f, k, &params);
        linked(r, analysis, params.p ? params.p : "", k->display, out);
        hs_buf_free(&params);
        hs_buf_puts(out, "</td></tr>\n");
    }
    hs_buf_printf(out, "</table>\n<p>%% Time is of the summed %s (%.3f ms).</p>\n",
                  f->time.rows ? "durations of all GPU work" : "time that operators spend themselves on the CPU",
                  (double)f->work_ns / 1e6);
}

static void bottleneck(const struct hs_report_parts *r, struct hs_buf *out)
{
    hs_buf_puts(out, "<h2>Bottleneck</h2>\n<p><strong>");
    put(out, hs_verdict_word(r->judgement->verdict));
    hs_buf_puts(out, ".</strong> ");
    put(out, r->judgement->reason);
    hs_buf_puts(out, "</p>\n");
    if (r->facts->time.span_ns <= 0)
        return;
    hs_buf_puts(out, "<table>\n<tr><th>Figure</th><th>% of GPU span</th><th>Threshold</th><th>Source</th></tr>\n");
    for (int i = 0; i < HS_FIGURES; i++) {
        if (r->judgement->idle_unknown && r->judgement->figures[i].points_to == HS_CPU_BOUND)
            continue;
        hs_buf_puts(out, "<tr><td>");
        linked(r, r->judgement->figures[i].analysis, "", r->judgement->figures[i].text, out);
        hs_buf_printf(out, "</td><td>%.1f</td><td>%.0f</td><td>", r->judgement->figures[i].pct,
                      r->judgement->figures[i].threshold);
        put(out, r->judgement->figures[i].source);
        hs_buf_puts(out, "</td></tr>\n");
    }
    hs_buf_puts(out, "</table>\n");
}

static void recommendation(const struct hs_report_parts *r, const struct hs_verdict_of_rule *v, struct hs_buf *out)
{
    const struct hs_rule *rule = &hs_rules[v->rule];
    struct hs_buf text = HS_BUF_INIT(1u << 16);
    hs_buf_puts(out, "<li><strong>");
    put(out, rule->title);
    hs_buf_puts(out, "</strong>: ");
    hs_report_figure(v, &text);
    hs_report_gain(r->facts, v, &text);
    escaped(out, hs_str(text.p ? text.p : "", text.n));
    hs_buf_puts(out, ". ");
    put(out, rule->advice);
    hs_buf_puts(out, " ");
    put(out, v->value->detail);
    hs_buf_puts(out, v->value->detail[0] ? ". Evidence: " : "Evidence: ");
    hs_buf_clear(&text);
    hs_report_evidence_name(rule->analysis, rule->params, r->links, &text);
    linked(r, rule->analysis, rule->params, text.p, out);
    for (size_t i = 0; i < v->value->nexamples; i++) {
        hs_buf_puts(out, i ? ", " : "; events: ");
        example(r, &v->value->examples[i], out);
    }
    hs_buf_puts(out, "</li>\n");
    hs_buf_free(&text);
}

static void rules(const struct hs_report_parts *r, struct hs_buf *out)
{
    hs_buf_puts(out, "<h2>Recommendations</h2>\n");
    if (r->rules[0].state != HS_RULE_APPLIES)
        hs_buf_puts(out, "<p>None: no rule applies.</p>\n");
    else
        hs_buf_puts(out, "<ol>\n");
    for (size_t i = 0; i < HS_RULES && r->rules[i].state == HS_RULE_APPLIES; i++)
        recommendation(r, &r->rules[i], out);
    hs_buf_puts(out, r->rules[0].state == HS_RULE_APPLIES ? "</ol>\n" : "");
    bool any = false;
    for (size_t i = 0; i < HS_RULES; i++) {
        if (r->rules[i].state != HS_RULE_CANNOT_ANSWER)
            continue;
        hs_buf_puts(out, any ? "" : "<h2>Not judged</h2>\n<ul>\n");
        any = true;
        hs_buf_puts(out, "<li>");
        put(out, hs_rules[r->rules[i].rule].title);
        hs_buf_puts(out, ": ");
        put(out, r->rules[i].missing);
        hs_buf_puts(out, "</li>\n");
    }
    hs_buf_puts(out, any ? "</ul>\n" : "");
}

void hs_report_html(const struct hs_report_parts *r, struct hs_buf *out)
{
    const struct hs_facts *f = r->facts;
    const char *name = f->run->n == 1 && f->ranks[0].trace ? f->ranks[0].trace : f->run->name;
    hs_buf_puts(out, "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>GPU report: ");
    put(out, name);
    hs_buf_puts(
        out,
        "</title>\n<meta name=\"viewport\" content=\"width=device-width\"><style>body{font:15px/1.5 "
        "system-ui,sans-serif;max-width:60rem;"
        "margin:2rem auto;padding:0 1rem;color:#1a1a1a;background:#fff}table{border-collapse:collapse;margin:1rem 0}"
        "th,td{border-bottom:1px solid #ccc;padding:.25rem .75rem;text-align:left}li{margin:.5rem 0}"
        "@media(prefers-color-scheme:dark){body{color:#e6e6e6;background:#161616}a{color:#8ab4f8}"
        "th,td{border-color:#444}}</style></head><body>\n<h1>GPU report: ");
    put(out, name);
    hs_buf_puts(out, "</h1>\n<p><strong>Main Finding:</strong> ");
    put(out, r->judgement->finding);
    hs_buf_puts(out, "</p>\n");
    for (size_t i = 0; i < r->notes->notes.n; i++)
        element(out, "p", r->notes->notes.p[i]);
    top_kernels(r, out);
    bottleneck(r, out);
    rules(r, out);
    for (size_t i = 0; i < r->quality->notes.n; i++)
        element(out, "p", r->quality->notes.p[i]);
    hs_buf_puts(out, "</body></html>\n");
}
