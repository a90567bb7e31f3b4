/* HTA's call graph (trace_call_graph.CallGraph) of one rank: the call stack of each CPU thread, the kernels below their
 * launches, the backward thread hung below the main one, and what each node sums up. */
#ifndef HS_ANALYSIS_HTA_GRAPH_H
#define HS_ANALYSIS_HTA_GRAPH_H

#include "analysis/hta_query.h"

enum hta_node_kind { HTA_NODE_NONE, HTA_NODE_CPU, HTA_NODE_GPU, HTA_NODE_ROOT };

struct hta_node {
    uint32_t first, last, next; /* children and sibling, as node numbers; HTA_NONE */
    uint32_t kernels;           /* below it */
    int32_t depth, height;      /* -1 outside all stacks */
    int64_t parent;             /* event number, or the root's -|tid|; -1 none */
    double dur_sum;             /* of the kernels below */
    double first_start, last_end;
    uint8_t kind;
};

struct hta_graph {
    const struct hta_rank *r;
    struct hta_node *nodes; /* [r->n] by row (of repeated rows only the last one is used), then the roots */
    size_t n;               /* r->n + roots */
    struct { HS_VEC(int64_t); } roots; /* -|tid| of root r->n + i */
    bool odd;               /* an event of no duration beside one of a negative one: HTA stops there */
};

void hta_graph_build(const struct hta_trace *t, const struct hta_rank *r, struct hta_graph *out, struct hs_table *notes);
void hta_graph_free(struct hta_graph *g);

/* The node of an event number, NULL where there is none. */
struct hta_node *hta_graph_node(const struct hta_graph *g, int64_t index);

#endif
