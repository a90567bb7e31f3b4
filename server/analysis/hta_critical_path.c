/* critical_path_analysis: the events on the path, and its time by cause. */
#include "analysis/hta_cp.h"
#include "analysis/name_filter.h"
#include "trace/names.h"

#include <string.h>

static const struct hs_column_spec columns[] = {
    {"event_idx", HS_T_INT, "1", "number of the event that the time is charged to; null for dependencies and launches"},
    {"duration", HS_T_REAL, "us", "weight of the edge"},
    {"type", HS_T_TEXT, "", "kind of edge"},
    {"s_name", HS_T_TEXT, "", "name without template and arguments"},
    {"cat", HS_T_TEXT, "", "category"},
    {"pid", HS_T_INT, "1", "process"},
    {"tid", HS_T_INT, "1", "thread"},
    {"stream", HS_T_INT, "1", "stream number, -1 on the CPU"},
    {"index", HS_T_INT, "1", "as event_idx"},
    {"bound_by", HS_T_TEXT, "", "what the time is bound by; empty for dependencies"},
};
static const struct hs_column_spec summary_columns[] = {
    {"bound_by", HS_T_TEXT, "", "what the time is bound by; empty for dependencies"},
    {"duration", HS_T_REAL, "us", "time on the path"},
    {"count", HS_T_INT, "1", "edges on the path"},
};

enum cause { CPU, DATA, COMM, COMPUTE, KERNEL_KERNEL, LAUNCH, NOTHING, CAUSES };
static const char *const cause_name[CAUSES] = {"cpu_bound",
                                               "data_loading",
                                               "gpu_communication_bound",
                                               "gpu_compute_bound",
                                               "gpu_kernel_kernel_overhead",
                                               "gpu_kernel_launch_overhead",
                                               ""};
static const char *const type_name[] = {"critical_path_operator", "critical_path_dependency",
                                        "critical_path_kernel_launch_delay", "critical_path_kernel_kernel_delay",
                                        "critical_path_sync_dependency"};

/* What a caller does with the path of one rank. */
struct report {
    struct hs_table *out;
    struct hs_name_filter *data; /* HTA reads the texts of data_load_events as patterns here */
    struct hs_buf scratch;
    double sum[CAUSES];
    int64_t count[CAUSES];
    bool events;
};

static enum cause cause_of(const struct hta_cp *c, const struct hta_cp_edge *e, struct hs_str name, struct report *rep)
{
    if (e->type == HTA_CP_KERNEL_KERNEL)
        return KERNEL_KERNEL;
    if (e->type == HTA_CP_LAUNCH)
        return LAUNCH;
    if (e->type != HTA_CP_OPERATOR)
        return NOTHING;
    if (e->owner == HTA_NONE || c->r->rows[e->owner].stream < 0)
        return rep->data && hs_name_matches(rep->data, name) ? DATA : CPU;
    return hta_name_is_comm(name) ? COMM : COMPUTE;
}

static void event_row(const struct hta_cp *c, const struct hta_cp_edge *e, struct hs_str name, enum cause cause,
                      struct hs_table *out)
{
    bool charged = e->owner != HTA_NONE && (e->type == HTA_CP_OPERATOR || e->type == HTA_CP_KERNEL_KERNEL);
    const struct hta_row *x = charged ? &c->r->rows[e->owner] : NULL;
    hs_table_row(out);
    if (x)
        hs_cell_i64(out, x->index);
    else
        hs_cell_null(out);
    hs_cell_f64(out, e->weight);
    hs_cell_cstr(out, type_name[e->type]);
    if (x) {
        hs_cell_text(out, name);
        hs_cell_text(out, hta_text(c->t, x->cat));
        hta_cell_pid(out, c->r, x);
        hta_cell_tid(out, c->r, x);
        hs_cell_i64(out, x->stream);
        hs_cell_i64(out, x->index);
    } else {
        for (int i = 0; i < 6; i++)
            hs_cell_null(out);
    }
    hs_cell_cstr(out, cause_name[cause]);
}

static void report_path(const struct hta_cp *c, struct report *rep)
{
    for (size_t i = 1; i < c->path.n; i++) {
        const struct hta_cp_edge *e = &c->edges.p[hta_map_get(&c->edge_of, hta_pair(c->path.p[i - 1], c->path.p[i]))];
        struct hs_str name = {"", 0};
        if (e->owner != HTA_NONE)
            name = hs_shorten_hta(hta_text(c->t, c->r->rows[e->owner].name), &rep->scratch);
        enum cause cause = cause_of(c, e, name, rep);
        rep->sum[cause] += e->weight;
        rep->count[cause]++;
        if (rep->events)
            event_row(c, e, name, cause, rep->out);
    }
}

static int rank_path(const struct hta_trace *t, const struct hta_rank *r, const struct hta_cp_options *o,
                     struct report *rep, struct hs_err *err)
{
    struct hta_cp c;
    int rc = 0;
    hta_cp_init(&c, t, r);
    if (hta_cp_clip(&c, o, rep->out)) {
        hta_cp_nodes(&c, o);
        hta_cp_cpu(&c);
        rc = hta_cp_gpu(&c, o, rep->out, err);
        if (!rc)
            hta_cp_path(&c, rep->out);
        if (!rc)
            report_path(&c, rep);
    }
    hta_cp_free(&c);
    return rc;
}

/* HTA searches each text of the list as a pattern of its own: one alternation does the same. */
static int data_filter(const char *list, struct hs_name_filter **out, struct hs_err *err)
{
    struct hs_buf b = HS_BUF_INIT(1 << 16);
    for (const char *p = list; p && *p;) {
        size_t n = strcspn(p, ",");
        hs_buf_printf(&b, "%s(?:", b.n ? "|" : "");
        hs_buf_put(&b, p, n);
        hs_buf_puts(&b, ")");
        p += n + (p[n] == ',');
    }
    int rc = b.n ? hs_name_filter_new(out, b.p, err) : 0;
    hs_buf_free(&b);
    return rc;
}

static struct hta_cp_options options(const struct hs_params *params)
{
    size_t n;
    const int64_t *instance = hta_list(params, "instance_id", &n);
    struct hta_cp_options o = {.annotation = hta_string(params, "annotation", ""),
                               .data_load = hta_string(params, "data_load_events", NULL),
                               .zero_weight_launches = hta_flag(params, "zero_weight_launch_edges", false)};
    if (n) {
        o.first = instance[0];
        o.last = instance[n - 1];
    }
    return o;
}

static int paths(struct hs_run *run, const struct hs_params *params, bool events, struct hs_table *out,
                 struct hs_err *err)
{
    struct hta_query q = {NULL, NULL, 0};
    struct report rep = {.out = out, .scratch = HS_BUF_INIT((size_t)64 << 20), .events = events};
    struct hta_cp_options o = options(params);
    int rc = data_filter(o.data_load, &rep.data, err);
    if (!rc)
        rc = hta_query_open(&q, run, params, HTA_RANK_0, events ? columns : summary_columns,
                            events ? HTA_COUNT(columns) : HTA_COUNT(summary_columns), out, err);
    if (!rc && !hta_any_symbol_contains(q.t, hs_cstr(o.annotation))) {
        hs_table_note(out, "no event's name contains \"%s\"", o.annotation);
        q.n = 0;
    }
    for (size_t i = 0; !rc && i < q.n; i++)
        rc = rank_path(q.t, q.ranks[i], &o, &rep, err);
    for (int k = 0; !rc && !events && k < CAUSES; k++) {
        if (!rep.count[k])
            continue;
        hs_table_row(out);
        hs_cell_cstr(out, cause_name[k]);
        hs_cell_f64(out, rep.sum[k]);
        hs_cell_i64(out, rep.count[k]);
    }
    hs_name_filter_free(rep.data);
    hs_buf_free(&rep.scratch);
    hta_query_close(&q);
    return rc ? rc : hs_table_check(out, err);
}

int hta_critical_path(struct hs_run *run, const struct hs_params *params, struct hs_table *out, struct hs_err *err)
{
    return paths(run, params, true, out, err);
}

int hta_critical_path_summary(struct hs_run *run, const struct hs_params *params, struct hs_table *out,
                              struct hs_err *err)
{
    return paths(run, params, false, out, err);
}
