/* An execution trace (PyTorch's ExecutionTraceObserver, the input of Chakra) and its join with a Kineto trace of the same run:
 * which node of the one is which event of the other. HTA's correlate_execution_trace.
 *
 * A node has the record function's number as rf_id, a Kineto event as args "External id": they are equal where both observers
 * saw the same call. Schemas up to 1.0.1 have rf_id among the node's members, later ones among its attrs. Nodes have no
 * times: the join gives them those of the events, and the device work that was launched beneath. */
#ifndef HS_ANALYSIS_EXECUTION_TRACE_H
#define HS_ANALYSIS_EXECUTION_TRACE_H

#include "analysis/registry.h"
#include "ingest/source.h"

#define HS_ET_NODES (16u << 20)       /* ceiling */
#define HS_ET_BYTES ((size_t)1 << 30) /* of its JSON */

struct hs_et_node {
    int64_t rf_id, id, parent; /* parent: -1 where it has none */
    const char *name;          /* in the arena */
};
struct hs_et {
    struct {
        HS_VEC(struct hs_et_node);
    } nodes;        /* those with an rf_id, by (rf_id, id) */
    size_t without; /* nodes without one */
    struct hs_arena texts;
};

/* Reads one, in any container that hs_source knows. HS_EINPUT: what it is instead. */
int hs_et_read(struct hs_et *et, struct hs_input *in, const struct hs_limits *limits, struct hs_err *err);
void hs_et_free(struct hs_et *et);

extern const struct hs_column_spec hs_et_columns[];
extern const size_t hs_et_ncolumns;

/* One row for each operator and annotation of the rank that has a node, in the order of the file. *out is initialised here. The
 * rank is the run's only one, or the one given (HS_EUSAGE else). */
int hs_et_join(const struct hs_et *et, struct hs_run *run, const int64_t *rank, struct hs_table *out,
               struct hs_err *err);

#endif
