/* The checks HTA makes of its graph, and the longest path: networkx' dag_longest_path, to the choice among equals. */
#include "analysis/hta_cp.h"

#include <string.h>

/* Edges by the node they leave or enter, in order of first use. */
struct adjacency {
    uint32_t *at, *edge; /* edges of node n: edge[at[n] .. at[n + 1]) */
};

static struct adjacency adjacency(const struct hta_cp *c, bool into)
{
    size_t n = c->nodes.n;
    struct adjacency a = {hs_calloc(n + 2, sizeof *a.at), hs_malloc((c->edges.n + 1) * sizeof *a.edge)};
    for (size_t i = 0; i < c->edges.n; i++)
        a.at[(into ? c->edges.p[i].to : c->edges.p[i].from) + 2]++;
    for (size_t i = 2; i < n + 2; i++)
        a.at[i] += a.at[i - 1];
    for (uint32_t i = 0; i < c->edges.n; i++)
        a.edge[a.at[(into ? c->edges.p[i].to : c->edges.p[i].from) + 1]++] = i;
    return a;
}

static void free_adjacency(struct adjacency *a)
{
    hs_free_array((void **)&a->at);
    hs_free_array((void **)&a->edge);
}

/* Waiting for an event recorded on the own stream is legal, but HTA takes it for a fault in its graph. */
static bool streams_differ(const struct hta_cp *c)
{
    for (size_t i = 0; i < c->edges.n; i++) {
        const struct hta_cp_edge *e = &c->edges.p[i];
        int64_t a = hta_cp_row(c, e->from)->stream, b = hta_cp_row(c, e->to)->stream;
        if (e->type == HTA_CP_SYNC && a != -1 && a == b)
            return false;
    }
    return true;
}

/* Kahn's order from the nodes that have an edge, in order of first use. Returns how many came out; less than there are:
 * a cycle. */
static size_t order_nodes(const struct hta_cp *c, const struct adjacency *out, uint32_t *topo, size_t *used)
{
    uint32_t *degree = hs_calloc(c->nodes.n + 1, sizeof *degree);
    bool *seen = hs_calloc(c->nodes.n + 1, sizeof *seen);
    size_t n = 0;
    *used = 0;
    for (size_t i = 0; i < c->edges.n; i++)
        degree[c->edges.p[i].to]++;
    for (size_t i = 0; i < 2 * c->edges.n; i++) {
        uint32_t node = i & 1 ? c->edges.p[i / 2].to : c->edges.p[i / 2].from;
        if (seen[node])
            continue;
        seen[node] = true;
        ++*used;
        if (!degree[node])
            topo[n++] = node;
    }
    for (size_t i = 0; i < n; i++)
        for (uint32_t k = out->at[topo[i]]; k < out->at[topo[i] + 1]; k++) {
            uint32_t to = c->edges.p[out->edge[k]].to;
            if (!--degree[to])
                topo[n++] = to;
        }
    hs_free_array((void **)&degree);
    hs_free_array((void **)&seen);
    return n;
}

/* Distances in topological order; of equal predecessors the first wins, and a path that came to less than 0 starts anew. */
static void longest(struct hta_cp *c, const struct adjacency *in, const uint32_t *topo, size_t n)
{
    double *dist = hs_calloc(c->nodes.n + 1, sizeof *dist);
    uint32_t *from = hs_malloc((c->nodes.n + 1) * sizeof *from), best = topo[0];
    for (size_t i = 0; i < n; i++) {
        uint32_t v = topo[i];
        double top = -1;
        from[v] = v;
        for (uint32_t k = in->at[v]; k < in->at[v + 1]; k++) {
            const struct hta_cp_edge *e = &c->edges.p[in->edge[k]];
            double d = dist[e->from] + (e->weight <= -1 ? 0 : e->weight);
            if (k == in->at[v] || d > top) {
                top = d;
                from[v] = e->from;
            }
        }
        if (top < 0)
            from[v] = v;
        dist[v] = top < 0 ? 0 : top;
        if (dist[v] > dist[best])
            best = v;
    }
    for (uint32_t v = best;; v = from[v]) {
        if (!hs_vec_push(&c->path, v) || from[v] == v)
            break;
    }
    for (size_t i = 0; i < c->path.n / 2; i++) {
        uint32_t x = c->path.p[i];
        c->path.p[i] = c->path.p[c->path.n - 1 - i];
        c->path.p[c->path.n - 1 - i] = x;
    }
    hs_free_array((void **)&dist);
    hs_free_array((void **)&from);
}

void hta_cp_path(struct hta_cp *c, struct hs_table *notes)
{
    struct adjacency out = adjacency(c, false), in = adjacency(c, true);
    uint32_t *topo = hs_malloc((c->nodes.n + 1) * sizeof *topo);
    size_t used, n = order_nodes(c, &out, topo, &used);
    c->ok = streams_differ(c) && n == used;
    if (n != used)
        hs_table_note(notes, "HTA's graph has a cycle here, and it gives up");
    else if (!c->ok)
        hs_table_note(notes, "a stream waits for an event recorded on itself; HTA takes that for a fault and gives up");
    else if (n)
        longest(c, &in, topo, n);
    hs_free_array((void **)&topo);
    free_adjacency(&out);
    free_adjacency(&in);
}
