/* collectives: how long they took, how much of it was waiting for the last rank, and at what bandwidth the rest ran. */
#include "analysis/analyses.h"
#include "analysis/collective.h"

#include <math.h>
#include <stdlib.h>

static const struct hs_column_spec columns[] = {
    {"collective", HS_T_TEXT, "", "allreduce, allgather, …; sendrecv is point to point or of an unknown collective"},
    {"group", HS_T_TEXT, "", "process group: its name and ranks; null where the trace does not tell"},
    {"bytes", HS_T_INT, "bytes",
     "size of one message as nccl-tests counts it: what a rank sends, for allgather what it has in the end; null: size "
     "unknown"},
    {"dtype", HS_T_TEXT, "", "type of the elements; null where the trace does not tell"},
    {"group_size", HS_T_INT, "1", "ranks of the group as the trace tells; null: unknown"},
    {"count", HS_T_INT, "1", "operations; one that several ranks recorded is one"},
    {"calls", HS_T_INT, "1", "device rows of all ranks"},
    {"matched", HS_T_INT, "1", "operations of which at least two ranks were found; waiting and transfer are of these"},
    {"dur_us", HS_T_TIME, "us", "durations of all calls, of all ranks"},
    {"wait_us", HS_T_TIME, "us",
     "of the matched: duration beyond that of the rank that was fastest through the same operation, summed over ranks: "
     "the time spent waiting for the last rank"},
    {"wait_pct", HS_T_PCT, "percent", "wait_us of the duration of the matched calls"},
    {"transfer_us", HS_T_TIME, "us", "of the matched: shortest duration over ranks, summed over operations"},
    {"min_us", HS_T_TIME, "us", "shortest call"},
    {"max_us", HS_T_TIME, "us", "longest call"},
    {"alg_gbps", HS_T_REAL, "GB/s", "bytes * matched / transfer_us; null without a size or a match"},
    {"bus_gbps", HS_T_REAL, "GB/s", "alg_gbps times the bus factor of nccl-tests; null where it has none"},
};

struct sums {
    int64_t count, calls, matched, matched_ns, dur_ns, wait_ns, transfer_ns, min_ns, max_ns;
};

static int64_t length(const struct hs_collective_call *x)
{
    return hs_sub_sat(x->end, x->start);
}

static void add_calls(const struct hs_collectives *c, struct sums *s)
{
    for (size_t i = 0; i < c->calls.n; i++) {
        const struct hs_collective_call *x = &c->calls.p[i];
        struct sums *k = &s[x->kind];
        bool first = !i || x[-1].key != x->key || x[-1].seq != x->seq || x[-1].nth != x->nth;
        bool single = hs_collective_is_p2p(c->kinds.p[x->kind].type);
        k->count += first || single;
        k->min_ns = k->calls ? hs_min_i64(k->min_ns, length(x)) : length(x);
        k->max_ns = hs_max_i64(k->max_ns, length(x));
        k->calls++;
        k->dur_ns = hs_add_sat(k->dur_ns, length(x));
    }
}

/* An operation is of the kind of its first rank; sizes differ between ranks only where messages are uneven. */
static void add_matches(const struct hs_collectives *c, struct sums *s)
{
    for (size_t i = 0; i < c->list.n; i++) {
        const struct hs_collective_call *x = &c->calls.p[c->list.p[i].first];
        struct sums *k = &s[x->kind];
        int64_t shortest = INT64_MAX, all = 0;
        for (uint32_t r = 0; r < c->list.p[i].n; r++) {
            shortest = hs_min_i64(shortest, length(&x[r]));
            all = hs_add_sat(all, length(&x[r]));
        }
        k->matched++;
        k->matched_ns = hs_add_sat(k->matched_ns, all);
        k->transfer_ns = hs_add_sat(k->transfer_ns, shortest);
        for (uint32_t r = 0; r < c->list.p[i].n; r++)
            k->wait_ns = hs_add_sat(k->wait_ns, length(&x[r]) - shortest);
    }
}

static void text_or_null(struct hs_table *out, struct hs_str s)
{
    if (s.n)
        hs_cell_text(out, s);
    else
        hs_cell_null(out);
}

static void number_or_null(struct hs_table *out, int64_t v)
{
    if (v >= 0)
        hs_cell_i64(out, v);
    else
        hs_cell_null(out);
}

static void row(const struct hs_collectives *c, const struct hs_collective_kind *k, const struct sums *s,
                struct hs_table *out)
{
    double gbps = s->transfer_ns > 0 && k->bytes > 0 ? (double)k->bytes * (double)s->matched / (double)s->transfer_ns
                                                     : NAN; /* bytes a ns are GB/s */
    double factor = hs_collective_bus_factor(k->type, k->group_size);
    hs_table_row(out);
    hs_cell_cstr(out, hs_collective_word(k->type));
    text_or_null(out, c->texts.p[k->group]);
    number_or_null(out, k->bytes);
    text_or_null(out, c->texts.p[k->dtype]);
    number_or_null(out, k->group_size);
    hs_cell_i64(out, s->count);
    hs_cell_i64(out, s->calls);
    hs_cell_i64(out, s->matched);
    hs_cell_ns(out, s->dur_ns);
    if (s->matched) {
        hs_cell_ns(out, s->wait_ns);
        hs_cell_f64(out, s->matched_ns > 0 ? 100 * (double)s->wait_ns / (double)s->matched_ns : NAN);
        hs_cell_ns(out, s->transfer_ns);
    } else {
        hs_cell_null(out);
        hs_cell_null(out);
        hs_cell_null(out);
    }
    hs_cell_ns(out, s->min_ns);
    hs_cell_ns(out, s->max_ns);
    hs_cell_f64(out, gbps);
    hs_cell_f64(out, factor > 0 ? gbps * factor : NAN);
}

struct sorted {
    int64_t ns;
    uint32_t kind;
};

static int by_time(const void *a, const void *b)
{
    const struct sorted *x = a, *y = b;
    if (x->ns != y->ns)
        return x->ns > y->ns ? -1 : 1;
    return (x->kind > y->kind) - (x->kind < y->kind);
}

static void write_rows(const struct hs_collectives *c, struct hs_table *out)
{
    struct sums *s = hs_calloc(c->kinds.n + 1, sizeof *s);
    struct sorted *order = hs_calloc(c->kinds.n + 1, sizeof *order);
    bool unknown = false, partial = false;
    add_calls(c, s);
    add_matches(c, s);
    for (size_t i = 0; i < c->kinds.n; i++)
        order[i] = (struct sorted){s[i].dur_ns, (uint32_t)i};
    qsort(order, c->kinds.n, sizeof *order, by_time);
    for (size_t i = 0; i < c->kinds.n; i++) {
        const struct hs_collective_kind *k = &c->kinds.p[order[i].kind];
        row(c, k, &s[order[i].kind], out);
        unknown |= k->bytes < 0;
        partial |= k->group_size > (int64_t)c->nranks;
    }
    if (unknown)
        hs_table_note(out,
                      "Size unknown: the trace does not tell the messages of some collectives (args of NCCL kernels, "
                      "PyTorch 2.2 and later): they have no bandwidth.");
    if (partial)
        hs_table_note(out, "Groups are larger than the run has ranks: the last rank may be one that is not here, so "
                           "transfer_us may hold waiting and bandwidth is a lower bound.");
    free(order);
    free(s);
}

static int run(struct hs_run *r, const struct hs_params *p, struct hs_table *out, struct hs_err *err)
{
    struct hs_collectives c;
    int rc = hs_collectives_open(&c, r, p, out, err);
    if (!rc && r->n < 2)
        hs_table_note(out, "With one rank nothing can be matched: waiting and transfer cannot be told apart.");
    if (!rc && !c.calls.n)
        hs_table_note(out, "The run has no communication kernels.");
    if (!rc)
        write_rows(&c, out);
    hs_collectives_free(&c);
    return rc;
}

const struct hs_analysis hs_analysis_collectives = {
    .name = "collectives",
    .summary = "Collectives by kind, size and group: count, duration, waiting for the last rank, transfer, bandwidth",
    .doc = "Calls are matched across ranks by process group and sequence number, else by their order. The rank that "
           "comes last "
           "does not wait, so the shortest duration over ranks is the transfer, and what the others took longer is "
           "waiting. "
           "Bandwidth is that of nccl-tests (doc/PERFORMANCE.md): alg = S / t, where S is the message of a rank (of "
           "allgather: what it has in the end) and t the transfer; bus = alg * f with f = 2 (n - 1) / n for allreduce, "
           "(n - 1) / n "
           "for allgather, reducescatter and alltoall, 1 for broadcast, reduce, send and recv. GB/s are 1e9 bytes a "
           "second. A "
           "call belongs to the window in which it starts.",
    .version = 1,
    .columns = columns,
    .ncolumns = sizeof columns / sizeof columns[0],
    .run = run,
};
