#include "render/chrome_trace.h"

#include "analysis/sequences.h"
#include "base/json.h"
#include "render/chrome_args.h"
#include "render/chrome_counters.h"
#include "render/chrome_critical.h"
#include "render/chrome_window.h"
#include "render/gzip.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct hs_param_spec hs_chrome_params[] = {
    {"overlay", HS_P_TEXT, "", NULL, 0, 0, NULL,
     "what to add, joined by commas: queue-length, memory-bandwidth, kernel-sequences, critical-path"},
    {"gzip", HS_P_BOOL, "", "true", 0, 0, NULL, "whether the file is compressed"},
    {"trace", HS_P_TEXT, "", NULL, 0, 0, NULL, "id of the trace, or its first digits, where several have the rank"},
    HS_PARAM_SEQUENCES,
    {"compress_other_kernels", HS_P_BOOL, "", "false", 0, 0, NULL,
     "of kernel-sequences: leave out the args of spans that are in none of them"},
    HS_PARAM_CRITICAL_OVERLAY,
};
const size_t hs_chrome_nparams = sizeof hs_chrome_params / sizeof hs_chrome_params[0];

/* ---- what is asked for ---- */

enum overlay { QUEUE = 1, BANDWIDTH = 2, SEQUENCES = 4, CRITICAL = 8 };
static const char *const overlay_names[] = {"queue-length", "memory-bandwidth", "kernel-sequences", "critical-path"};
#define NOVERLAYS (sizeof overlay_names / sizeof overlay_names[0])

static int read_overlays(const struct hs_params *p, unsigned *set, struct hs_err *err)
{
    const char *text = hs_param_text(p, "overlay");
    *set = 0;
    while (text && *text) {
        size_t n = strcspn(text, ","), i = 0;
        while (i < NOVERLAYS && (strlen(overlay_names[i]) != n || memcmp(overlay_names[i], text, n) != 0))
            i++;
        if (i == NOVERLAYS)
            return hs_fail(err, HS_EUSAGE,
                           "there is no overlay '%.*s'; there are queue-length, memory-bandwidth, kernel-sequences and "
                           "critical-path",
                           (int)(n < 60 ? n : 60), text);
        *set |= 1u << i;
        text += n + (text[n] == ',');
    }
    return HS_OK;
}

int hs_chrome_check(const struct hs_params *p, struct hs_err *err)
{
    unsigned set;
    int rc = read_overlays(p, &set, err);
    if (rc)
        return rc;
    const char *operator_name = hs_param_text(p, "operator_name");
    if (set & SEQUENCES && (!operator_name || !*operator_name))
        return hs_fail(err, HS_EUSAGE,
                       "the overlay kernel-sequences needs operator_name, a part of the name of the operator whose "
                       "calls it is to mark");
    if (hs_param_has(p, "from") && hs_param_has(p, "to") && hs_param_i64(p, "from") >= hs_param_i64(p, "to"))
        return hs_fail(err, HS_EUSAGE, "parameter from: it must be less than to");
    return HS_OK;
}

int hs_chrome_rank(const struct hs_run *run, const struct hs_params *p, const struct hs_run_rank **out,
                   struct hs_err *err)
{
    size_t nranks = 0, fits = 0;
    const int64_t *ranks = hs_param_has(p, "rank") ? hs_param_list(p, "rank", &nranks) : NULL;
    const char *id = hs_param_text(p, "trace");
    const struct hs_run_rank *found = NULL;
    bool several = false;
    if (ranks && nranks != 1)
        return hs_fail(err, HS_EUSAGE, "a trace is of one rank: give one number as rank");
    for (size_t i = 0; i < run->n; i++) {
        const struct hs_run_rank *r = &run->ranks[i];
        if ((ranks && r->rank != ranks[0]) || (id && strncmp(r->view->id, id, strlen(id)) != 0))
            continue;
        several |= found && found->rank != r->rank;
        found = r;
        fits++;
    }
    if (!fits && ranks)
        return hs_fail(err, HS_ENOTFOUND, "the run has no trace of rank %" PRId64 "%s", ranks[0],
                       id ? " with this id" : "");
    if (!fits)
        return hs_fail(err, HS_ENOTFOUND, id ? "the run has no trace with this id" : "the run has no traces");
    if (several)
        return hs_fail(err, HS_EUSAGE, "the run has %zu traces and a trace is of one rank: say which with rank", fits);
    if (fits > 1)
        return hs_fail(err, HS_EUSAGE, "the run has %zu traces of rank %" PRId64 ": say which with trace, its id", fits,
                       found->rank);
    *out = found;
    return HS_OK;
}

/* ---- the file, piece by piece ---- */

enum stage { HEAD, EVENTS, COUNTERS, FLOWS, TAIL, SEQUENCE_LIST, NOTES, DONE };

struct hs_chrome_trace {
    struct hs_run_rank rank;
    const struct hs_params *params;
    unsigned overlays;
    bool windowed;
    uint8_t *window; /* bits; NULL: every event */
    struct hs_event_reader *reader;
    struct hs_chrome_counters counters;
    struct hs_sequences sequences;
    const uint8_t *ph; /* of every event, where the args of other spans are to go; else NULL */
    struct hs_chrome_critical critical;
    struct hs_table notes;
    struct hs_gzip *gzip;
    struct hs_buf text; /* the part before it is compressed */
    enum stage stage;
    size_t n, i; /* events; next event, or entry of a list */
    bool comma;  /* an element of the array stands before */
};

int hs_chrome_open(struct hs_chrome_trace **out, const struct hs_run_rank *r, const struct hs_params *p,
                   struct hs_err *err)
{
    struct hs_chrome_trace *t = hs_calloc(1, sizeof *t);
    struct hs_view *v = r->view;
    struct hs_events ev;
    t->rank = *r;
    t->params = p;
    t->text = (struct hs_buf)HS_BUF_INIT(HS_CHROME_CEILING);
    t->windowed = hs_param_has(p, "from") || hs_param_has(p, "to");
    hs_table_init(&t->notes, NULL, 0);
    int rc = hs_chrome_check(p, err);
    if (!rc)
        rc = read_overlays(p, &t->overlays, err);
    if (!rc)
        rc = hs_view_events(v, HS_EV_SHAPE | HS_EV_PH, &ev, err);
    if (rc)
        goto out;
    t->n = ev.n;
    if (t->overlays & SEQUENCES && hs_param_bool(p, "compress_other_kernels"))
        t->ph = ev.ph;
    struct hs_select s;
    hs_select_window(&s, r, p, &t->notes);
    if (t->windowed)
        rc = hs_chrome_window(v, s.from, s.to, &t->window, err);
    hs_select_close(&s);
    if (!rc)
        rc = hs_chrome_counters_open(&t->counters, r, p, t->overlays & QUEUE, t->overlays & BANDWIDTH, &t->notes, err);
    if (!rc && t->overlays & SEQUENCES) {
        rc = hs_sequences_open(&t->sequences, r, p, &t->notes, err);
        if (!rc)
            hs_sequences_note(&t->sequences, p, &t->notes);
    }
    if (!rc && t->overlays & CRITICAL)
        rc = hs_chrome_critical_open(&t->critical, r, p, t->window, &t->notes, err);
    if (v->ops->reader_new)
        t->reader = v->ops->reader_new(v);
    if (hs_param_bool(p, "gzip"))
        t->gzip = hs_gzip_new();
out:
    if (rc)
        hs_chrome_close(t);
    else
        *out = t;
    return rc;
}

void hs_chrome_close(struct hs_chrome_trace *t)
{
    if (!t)
        return;
    if (t->reader)
        t->rank.view->ops->reader_free(t->reader);
    hs_chrome_counters_close(&t->counters);
    hs_chrome_critical_close(&t->critical);
    if (t->overlays & SEQUENCES)
        hs_sequences_close(&t->sequences);
    hs_table_free(&t->notes);
    hs_gzip_free(t->gzip);
    hs_buf_free(&t->text);
    free(t->window);
    free(t);
}

/* The members that are told in other places now are left out. */
static void put_head(struct hs_chrome_trace *t, struct hs_buf *out)
{
    const struct hs_view *v = t->rank.view;
    hs_buf_puts(out, "{\n");
    for (size_t i = 0; i < v->nheader; i++) {
        struct hs_str key = hs_view_str(v, v->header[i].key);
        if (hs_str_is(key, "traceEvents") || ((t->overlays || t->windowed) && hs_str_is(key, "holoscope")))
            continue;
        hs_json_quote(out, key);
        hs_buf_puts(out, ": ");
        hs_put_utf8(out, hs_view_str(v, v->header[i].json));
        hs_buf_puts(out, ",\n");
    }
    hs_buf_puts(out, "\"traceEvents\": [");
}

static void begin_element(struct hs_chrome_trace *t, struct hs_buf *out)
{
    hs_buf_puts(out, t->comma ? ",\n" : "\n");
    t->comma = true;
}

static int put_event(struct hs_chrome_trace *t, uint32_t event, struct hs_buf *out, struct hs_err *err)
{
    const struct hs_view_ops *ops = t->rank.view->ops;
    begin_element(t, out);
    size_t at = out->n;
    int rc = t->reader ? ops->reader_json(t->reader, event, out, err) : ops->event_json(t->rank.view, event, out, err);
    if (!rc && hs_chrome_critical_has(&t->critical, event))
        hs_chrome_add_arg(out, at, HS_STR("\"critical\":1"));
    size_t place = !rc && t->overlays & SEQUENCES ? hs_sequences_of(&t->sequences, event) : SIZE_MAX;
    if (!rc && place == SIZE_MAX && t->ph && t->ph[event] == 'X')
        hs_chrome_drop_args(out, at);
    if (place == SIZE_MAX)
        return rc;
    const struct hs_sequence *s = &t->sequences.list.p[place];
    char member[80];
    int n = snprintf(member, sizeof member, "\"Patterns\":{\"%016" PRIx64 "\":%" PRId64 "}", s->hash, s->count);
    hs_chrome_add_arg(out, at, hs_str(member, (size_t)n));
    return HS_OK;
}

/* One element of the array, or the end of a list: then on to the next stage, from its first entry. */
static void next_stage(struct hs_chrome_trace *t)
{
    t->stage++;
    t->i = 0;
}

static int step_events(struct hs_chrome_trace *t, struct hs_buf *out, struct hs_err *err)
{
    while (t->i < t->n && ((t->window && !hs_chrome_window_has(t->window, t->i)) ||
                           !hs_chrome_critical_keeps(&t->critical, (uint32_t)t->i)))
        t->i++;
    if (t->i < t->n)
        return put_event(t, (uint32_t)t->i++, out, err);
    next_stage(t);
    return HS_OK;
}

static int step_counters(struct hs_chrome_trace *t, struct hs_buf *out, struct hs_err *err)
{
    bool more;
    size_t n = out->n;
    bool comma = t->comma;
    begin_element(t, out);
    int rc = hs_chrome_counters_next(&t->counters, out, &more, err);
    if (!rc && !more) {
        out->n = n; /* there is no such element */
        t->comma = comma;
        next_stage(t);
    }
    return rc;
}

static void step_flows(struct hs_chrome_trace *t, struct hs_buf *out)
{
    size_t n = out->n;
    bool comma = t->comma;
    begin_element(t, out);
    if (hs_chrome_critical_next(&t->critical, out))
        return;
    out->n = n;
    t->comma = comma;
    next_stage(t);
}

/* ---- the member "holoscope" ---- */

static void put_time(const struct hs_chrome_trace *t, const char *name, struct hs_buf *out)
{
    if (!hs_param_has(t->params, name))
        return;
    hs_buf_printf(out, ",\"%s_us\":", name);
    hs_put_us(out, hs_param_i64(t->params, name));
}

static void put_tail(const struct hs_chrome_trace *t, struct hs_buf *out)
{
    hs_buf_puts(out, "\n]");
    if (!t->overlays && !t->windowed)
        return;
    hs_buf_printf(out, ",\n\"holoscope\": {\"rank\":%" PRId64, t->rank.rank);
    put_time(t, "from", out);
    put_time(t, "to", out);
    hs_buf_puts(out, ",\"overlays\":[");
    for (size_t i = 0, k = 0; i < NOVERLAYS; i++)
        if (t->overlays >> i & 1)
            hs_buf_printf(out, "%s\"%s\"", k++ ? "," : "", overlay_names[i]);
    hs_buf_puts(out, "]");
}

static void put_sequence(const struct hs_chrome_trace *t, size_t i, struct hs_buf *out)
{
    static const struct hs_column_spec columns[] = {HS_PATTERN_COLUMNS};
    const struct hs_sequence *s = &t->sequences.list.p[i];
    struct hs_buf scratch = HS_BUF_INIT(1 << 24);
    struct hs_table row;
    hs_table_init(&row, columns, sizeof columns / sizeof columns[0]);
    hs_table_row(&row);
    hs_pattern_cells(&t->sequences.patterns, s->pattern, &scratch, &row);
    hs_buf_puts(out, i ? ",\n" : ",\"sequences\":[\n");
    hs_buf_puts(out, "{");
    for (size_t k = 0; k < row.ncolumns; k++) {
        const struct hs_cell *c = hs_table_cell(&row, 0, k);
        hs_buf_printf(out, "\"%s\":", columns[k].name);
        if (c->kind == HS_C_TEXT)
            hs_json_quote(out, hs_str(c->s, c->len));
        else
            hs_buf_put_i64(out, c->i);
        hs_buf_puts(out, ",");
    }
    hs_buf_printf(out, "\"count\":%" PRId64 ",\"gpu_us\":", s->count);
    hs_put_us(out, s->gpu_ns);
    hs_buf_puts(out, "}");
    hs_table_free(&row);
    hs_buf_free(&scratch);
}

static void step_sequences(struct hs_chrome_trace *t, struct hs_buf *out)
{
    size_t n = t->overlays & SEQUENCES ? t->sequences.top : 0;
    if (t->i < n) {
        put_sequence(t, t->i++, out);
        return;
    }
    if (n)
        hs_buf_puts(out, "]");
    next_stage(t);
}

static void put_notes(const struct hs_chrome_trace *t, struct hs_buf *out)
{
    if (t->overlays || t->windowed) {
        hs_buf_puts(out, ",\"notes\":[");
        for (size_t i = 0; i < t->notes.notes.n; i++) {
            hs_buf_puts(out, i ? "," : "");
            hs_json_quote(out, hs_cstr(t->notes.notes.p[i]));
        }
        hs_buf_puts(out, "]}");
    }
    hs_buf_puts(out, "\n}\n");
}

/* ---- parts ---- */

static int step(struct hs_chrome_trace *t, struct hs_buf *out, struct hs_err *err)
{
    switch (t->stage) {
    case HEAD:
        put_head(t, out);
        next_stage(t);
        break;
    case EVENTS: return step_events(t, out, err);
    case COUNTERS: return step_counters(t, out, err);
    case FLOWS: step_flows(t, out); break;
    case TAIL:
        put_tail(t, out);
        next_stage(t);
        break;
    case SEQUENCE_LIST: step_sequences(t, out); break;
    case NOTES:
        put_notes(t, out);
        next_stage(t);
        break;
    case DONE: break;
    }
    return HS_OK;
}

int hs_chrome_next(struct hs_chrome_trace *t, struct hs_buf *out, bool *done, struct hs_err *err)
{
    struct hs_buf *text = t->gzip ? &t->text : out;
    size_t start = t->gzip ? 0 : out->n;
    int rc = HS_OK;
    if (t->gzip)
        hs_buf_clear(text);
    while (!rc && t->stage != DONE && text->n - start < HS_CHROME_PART && !text->full)
        rc = step(t, text, err);
    if (!rc)
        rc = hs_buf_check(text, "an event of the trace", err);
    if (!rc && t->gzip)
        rc = hs_gzip_put(t->gzip, text->p, text->n, t->stage == DONE, out, err);
    *done = t->stage == DONE;
    return rc;
}

int hs_chrome_write(struct hs_chrome_trace *t, hs_chrome_sink *sink, void *ctx, struct hs_err *err)
{
    struct hs_buf part = HS_BUF_INIT(HS_CHROME_CEILING);
    bool done = false;
    int rc = HS_OK;
    while (!rc && !done) {
        hs_buf_clear(&part);
        rc = hs_chrome_next(t, &part, &done, err);
        if (!rc && part.n)
            rc = sink(ctx, part.p, part.n, err);
    }
    hs_buf_free(&part);
    return rc;
}
