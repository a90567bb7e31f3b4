#include "analysis/execution_trace.h"

#include "analysis/cpu_side.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* ---- reading ---- */

struct reading {
    struct hs_source *source;
    struct hs_quality quality;
    struct hs_err *err;
    size_t bytes;
    int rc;
};

static size_t read_more(void *buf, size_t cap, void *ctx)
{
    struct reading *r = ctx;
    size_t got = 0;
    r->rc = hs_source_read(r->source, buf, cap, &got, &r->quality, r->err);
    r->bytes += got;
    if (!r->rc && r->bytes > HS_ET_BYTES)
        r->rc = hs_fail(r->err, HS_ELIMIT, "an execution trace of more than %zu MiB of JSON", HS_ET_BYTES >> 20);
    return r->rc ? (size_t)-1 : got;
}

/* A whole number, as such or as text. */
static bool whole(const json_t *v, int64_t *out)
{
    if (json_is_integer(v)) {
        *out = json_integer_value(v);
        return true;
    }
    char *end;
    const char *s = json_string_value(v);
    if (!s || !*s)
        return false;
    *out = strtoll(s, &end, 10);
    return !*end;
}

/* The member, or the attribute of this name. */
static const json_t *field(const json_t *node, const char *key)
{
    const json_t *v = json_object_get(node, key), *attrs = json_object_get(node, "attrs");
    for (size_t i = 0; !v && i < json_array_size(attrs); i++) {
        const json_t *a = json_array_get(attrs, i);
        const char *name = json_string_value(json_object_get(a, "name"));
        if (name && !strcmp(name, key))
            v = json_object_get(a, "value");
    }
    return v;
}

static int by_rf_id(const void *a, const void *b)
{
    const struct hs_et_node *x = a, *y = b;
    if (x->rf_id != y->rf_id)
        return x->rf_id < y->rf_id ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

static int take_node(struct hs_et *et, const json_t *node, struct hs_err *err)
{
    struct hs_et_node n = {0, 0, -1, NULL};
    const char *name = json_string_value(json_object_get(node, "name"));
    if (!whole(field(node, "rf_id"), &n.rf_id) || !whole(json_object_get(node, "id"), &n.id)) {
        et->without++;
        return HS_OK;
    }
    if (!whole(json_object_get(node, "parent"), &n.parent))
        whole(json_object_get(node, "ctrl_deps"), &n.parent); /* from schema 1.0.2 on */
    n.name = hs_arena_dup(&et->texts, name ? name : "", name ? strlen(name) : 0);
    if (!n.name || !hs_vec_push(&et->nodes, n))
        return hs_fail(err, HS_ELIMIT, "the execution trace has more than %u nodes, or its names are too long",
                       HS_ET_NODES);
    return HS_OK;
}

static int take_nodes(struct hs_et *et, const json_t *root, const char *name, struct hs_err *err)
{
    const json_t *nodes = json_object_get(root, "nodes");
    int rc = HS_OK;
    if (!json_is_array(nodes))
        return hs_fail(err, HS_EINPUT,
                       "%s: this is no execution trace: it has no list \"nodes\" (record one with "
                       "torch.profiler.ExecutionTraceObserver)",
                       name);
    for (size_t i = 0; i < json_array_size(nodes) && !rc; i++)
        rc = take_node(et, json_array_get(nodes, i), err);
    if (!rc && et->nodes.n)
        qsort(et->nodes.p, et->nodes.n, sizeof *et->nodes.p, by_rf_id);
    return rc;
}

int hs_et_read(struct hs_et *et, struct hs_input *in, const struct hs_limits *limits, struct hs_err *err)
{
    struct reading r = {.err = err};
    json_t *root = NULL;
    json_error_t e;
    const char *name = in->name;
    bool more = false;
    *et = (struct hs_et){.nodes = HS_VEC_INIT(HS_ET_NODES), .texts = HS_ARENA_INIT(HS_ET_BYTES)};
    hs_quality_init(&r.quality);
    int rc = hs_source_new(&r.source, in, limits, NULL, err);
    if (!rc)
        rc = hs_source_next(r.source, &more, &name, err);
    if (!rc && !more)
        rc = hs_fail(err, HS_EINPUT, "%s: there is no document in it", in->name);
    if (rc)
        goto out;
    root = json_load_callback(read_more, &r, JSON_DECODE_ANY | JSON_ALLOW_NUL, &e);
    if (r.rc)
        rc = r.rc;
    else if (!root)
        rc = hs_fail(err, HS_EINPUT, "%s: no execution trace: %s (line %d)", name, e.text, e.line);
    else
        rc = take_nodes(et, root, name, err);
out:
    json_decref(root);
    hs_source_free(r.source);
    if (rc)
        hs_et_free(et);
    return rc;
}

void hs_et_free(struct hs_et *et)
{
    hs_vec_free(&et->nodes);
    hs_arena_free(&et->texts);
}

/* ---- the join ---- */

const struct hs_column_spec hs_et_columns[] = {
    {"rank", HS_T_INT, "", "rank of the trace"},
    {"event", HS_T_INT, "", "event number of the Kineto trace"},
    {"name", HS_T_TEXT, "", "its name"},
    {"category", HS_T_TEXT, "", "cpu_op or user_annotation"},
    {"ts_us", HS_T_TIME, "us", "start, on the run's clock"},
    {"dur_us", HS_T_TIME, "us", "duration"},
    {"external_id", HS_T_INT, "", "its External id, the node's rf_id"},
    {"et_node", HS_T_INT, "", "id of the node"},
    {"et_name", HS_T_TEXT, "", "the node's name"},
    {"et_parent", HS_T_INT, "", "id of the node's parent"},
    {"num_kernels", HS_T_INT, "1", "device activities launched by the event or by anything beneath it"},
    {"kernel_dur_sum_us", HS_T_TIME, "us", "their summed durations (work volume)"},
};
const size_t hs_et_ncolumns = sizeof hs_et_columns / sizeof hs_et_columns[0];

/* The first node with this rf_id; NULL. */
static const struct hs_et_node *node_of(const struct hs_et *et, int64_t rf_id)
{
    size_t lo = 0, hi = et->nodes.n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (et->nodes.p[mid].rf_id < rf_id)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < et->nodes.n && et->nodes.p[lo].rf_id == rf_id ? &et->nodes.p[lo] : NULL;
}

struct join {
    const struct hs_et *et;
    const struct hs_run_rank *rank;
    struct hs_cpu cpu;
    struct hs_beneath beneath;
    uint8_t *hit; /* by node: an event has it */
    size_t matched, differ, unmatched;
    struct hs_table *out;
};

static void row(const struct join *j, uint32_t e, int64_t id, const struct hs_et_node *n)
{
    const struct hs_events *ev = &j->cpu.ev;
    const struct hs_view *v = j->rank->view;
    struct hs_table *out = j->out;
    hs_table_row(out);
    hs_cell_i64(out, j->rank->rank);
    hs_cell_i64(out, e);
    hs_cell_text(out, hs_view_str(v, ev->name[e]));
    hs_cell_text(out, hs_view_str(v, ev->cat[e]));
    hs_cell_ns(out, hs_add_sat(ev->ts[e], j->rank->offset_ns));
    hs_cell_ns(out, hs_max_i64(0, ev->dur[e]));
    hs_cell_i64(out, id);
    hs_cell_i64(out, n->id);
    hs_cell_cstr(out, n->name);
    hs_cell_i64(out, n->parent);
    hs_cell_i64(out, j->beneath.count[e]);
    hs_cell_ns(out, j->beneath.ns[e]);
}

/* "External id", of an event that could have a node. */
static void match(struct join *j, uint32_t e, int64_t id)
{
    enum hs_cat_kind k = hs_cpu_kind(&j->cpu, e);
    if (!hs_cpu_is_span(&j->cpu, e) || (k != HS_CAT_CPU_OP && k != HS_CAT_ANNOTATION))
        return;
    const struct hs_et_node *n = node_of(j->et, id);
    if (!n) {
        j->unmatched++;
        return;
    }
    j->matched++;
    j->hit[n - j->et->nodes.p] = 1;
    j->differ += !hs_str_is(hs_view_str(j->rank->view, j->cpu.ev.name[e]), n->name);
    row(j, e, id, n);
}

static void notes(const struct join *j)
{
    size_t unseen = 0;
    for (size_t i = 0; i < j->et->nodes.n; i++)
        unseen += !j->hit[i];
    hs_table_note(j->out,
                  "%zu operators and annotations have a node; %zu with an External id have none, and %zu of %zu nodes "
                  "with an rf_id have no event.",
                  j->matched, j->unmatched, unseen, j->et->nodes.n);
    if (j->et->without)
        hs_table_note(j->out, "%zu nodes have no rf_id (process groups, threads, tensors).", j->et->without);
    if (j->differ)
        hs_table_note(j->out, "%zu pairs have different names: the execution trace may be of another run or rank.",
                      j->differ);
    if (!j->matched)
        hs_table_note(j->out,
                      "Nothing matches: record both in one run, with the observer started before the profiler's "
                      "active steps, and take the files of the same rank.");
}

static int find_rank(struct hs_run *run, const int64_t *rank, const struct hs_run_rank **out, struct hs_err *err)
{
    const struct hs_run_rank *found = NULL;
    for (size_t i = 0; i < run->n; i++) {
        if (hs_view_is_memory_timeline(run->ranks[i].view) || (rank && run->ranks[i].rank != *rank))
            continue;
        if (found)
            return hs_fail(err, HS_EUSAGE,
                           "an execution trace is of one rank, and the run has several traces%s: say "
                           "which with rank",
                           rank ? " of this one" : "");
        found = &run->ranks[i];
    }
    if (!found)
        return hs_fail(err, HS_EUSAGE, "the run has no trace%s", rank ? " of this rank" : "");
    *out = found;
    return HS_OK;
}

int hs_et_join(const struct hs_et *et, struct hs_run *run, const int64_t *rank, struct hs_table *out,
               struct hs_err *err)
{
    struct join j = {.et = et, .out = out};
    struct hs_gpu gpu;
    struct hs_sparse ids;
    hs_table_init(out, hs_et_columns, hs_et_ncolumns);
    int rc = find_rank(run, rank, &j.rank, err);
    if (rc)
        return rc;
    struct hs_view *v = j.rank->view;
    rc = hs_view_gpu(v, &gpu, err);
    if (!rc)
        rc = v->ops->arg_sparse(v, "External id", 1, &ids, err);
    if (!rc)
        rc = hs_cpu_open(&j.cpu, v, HS_EV_TS | HS_EV_DUR | HS_EV_PH, err);
    if (rc)
        return rc;
    struct hs_select all = {.view = v, .from = INT64_MIN, .to = INT64_MAX, .gpu = gpu};
    hs_cpu_beneath(&j.cpu, &all, &j.beneath);
    j.hit = hs_calloc(et->nodes.n + 1, 1);
    for (size_t i = 0; i < ids.n; i++)
        match(&j, ids.event[i], ids.v[i]);
    notes(&j);
    free(j.hit);
    hs_beneath_free(&j.beneath);
    hs_cpu_close(&j.cpu);
    return hs_table_check(out, err);
}
