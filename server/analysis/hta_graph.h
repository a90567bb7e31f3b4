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
    struct {
        HS_VEC(int64_t);
    } roots;  /* -|tid| of root r->n + i */
    bool odd; /* an event of no duration beside one of a negative one: HTA stops there */
};

void hta_graph_build(const struct hta_trace *t, const struct hta_rank *r, struct hta_graph *out,
                     struct hs_table *notes);
void hta_graph_free(struct hta_graph *g);

/* Columns and cells of a node, as HTA adds them to a row. */
#define HTA_NODE_COLUMNS                                                                                              \
    {"depth", HS_T_INT, "1", "0 at the top of its thread; kernels one below their launch; -1 outside all stacks"},    \
        {"height", HS_T_INT, "1", "0 for kernels, else one more than the highest child; -1 outside all stacks"},      \
        {"parent", HS_T_INT, "1", "event number of the parent, or minus the thread's number at the top"},             \
        {"num_kernels", HS_T_INT, "1", "kernels below it"},                                                           \
        {"kernel_dur_sum", HS_T_REAL, "us", "sum of their durations"},                                                \
        {"kernel_span", HS_T_REAL, "us", "last end minus first start: too large by the run's first time, as in HTA"}, \
        {"first_kernel_start", HS_T_REAL, "us", "since the first event of the run; -1 without kernels"},              \
    {                                                                                                                 \
        "last_kernel_end", HS_T_REAL, "us", "absolute time, as in HTA; -1 without kernels"                            \
    }
void hta_node_cells(struct hs_table *out, const struct hta_node *n);

/* The node of an event number, NULL where there is none. */
struct hta_node *hta_graph_node(const struct hta_graph *g, int64_t index);

#endif
