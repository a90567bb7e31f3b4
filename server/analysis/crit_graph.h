/* The whole graph that the critical path is the longest way through: not only what came last before each piece of work (the
 * walk of crit.h), but all that it had to wait for. With it a "what if" can be answered: when work is made faster, what waited
 * for it may find that it now waits for something else.
 *
 * Points are the start and the end of each stretch of a thread and of each device activity of the window: those that were
 * launched in it, and those that were launched before and had not ended when it began, cut at its beginning. An edge says that
 * its target does not happen before its source, some of the source's own work (`own`) and a delay (`lag`); of all edges into
 * a point the one that came last has the delay that was measured, the others none. So with all factors 1 each point happens
 * when the trace says it did, and the longest way to the last of them is as long as the walk's path (tests hold it to that).
 * Kinds after HTA's: operator (start to end of one), dependency (thread to thread, or to what follows on a thread), launch
 * delay, kernel-kernel delay, synchronisation.
 *
 * Acyclic by construction: edges go forward in time, at one instant in the order of rows and from a stretch's start.
 * Linear in points and edges. */
#ifndef HS_ANALYSIS_CRIT_GRAPH_H
#define HS_ANALYSIS_CRIT_GRAPH_H

#include "analysis/crit_index.h"

enum hs_crit_edge_kind {
    HS_EDGE_OPERATOR,
    HS_EDGE_DEPENDENCY,
    HS_EDGE_LAUNCH,
    HS_EDGE_KERNEL,
    HS_EDGE_SYNC,
    HS_CRIT_EDGE_KINDS
};
const char *hs_crit_edge_word(enum hs_crit_edge_kind k);

#define HS_NO_POINT UINT32_MAX

struct hs_crit_edge {
    uint32_t from;    /* a point; HS_NO_POINT: the beginning of the window */
    uint8_t kind;     /* hs_crit_edge_kind */
    uint8_t cause;    /* hs_crit_cause of the lag */
    bool lag_is_work; /* the lag is time of the target's own stretch: its factor applies, not the cause's */
    int64_t own, lag; /* ns: work of the source's stretch or activity; delay */
};

struct hs_crit_graph {
    size_t nnodes;      /* stretches and activities: node k has the points 2k (start) and 2k + 1 (end) */
    size_t nseg;        /* the first of them are stretches */
    uint32_t *item;     /* by node: index of its segment, or its device row */
    int64_t from, to;   /* the window; stretches are cut at it */
    int64_t asked_from; /* from as it was given: earlier than all that the trace has, maybe */
    uint32_t *in;       /* by point: its edges are edges.p[in[p]] up to in[p + 1] */
    struct {
        HS_VEC(struct hs_crit_edge);
    } edges;
    size_t count[HS_CRIT_EDGE_KINDS];
};

/* Of the stretches that overlap [from, to) and the device work launched before `to` that ends after `from`. HS_ELIMIT: too many. */
int hs_crit_graph_build(struct hs_crit_graph *g, const struct hs_crit_index *x, int64_t from, int64_t to,
                        struct hs_err *err);
size_t hs_crit_edges(const struct hs_crit_graph *g); /* of all kinds; those from the window's beginning are no edges */
void hs_crit_graph_free(struct hs_crit_graph *g);

/* Factors: of the work of each node (NULL: 1), and of the delays by cause (NULL: 1). */
struct hs_crit_factors {
    const double *node;
    const double *lag; /* [HS_CRIT_CAUSES] */
};

/* The longest way from the window's beginning to the last point, by cause; the length is the sum. HS_EINTERNAL should there be
 * a cycle. */
struct hs_crit_way {
    int64_t ns[HS_CRIT_CAUSES], length;
    struct {
        HS_VEC(uint32_t);
    } edges; /* indices into the graph's, last first */
    struct {
        HS_VEC(uint32_t);
    } points; /* what each of them leads to */
};
int hs_crit_longest(const struct hs_crit_graph *g, const struct hs_crit_index *x, const struct hs_crit_factors *f,
                    struct hs_crit_way *way, struct hs_err *err);
void hs_crit_way_free(struct hs_crit_way *way);

/* The event of a node, and when its points were. */
uint32_t hs_crit_node_event(const struct hs_crit_graph *g, const struct hs_crit_index *x, size_t node);
int64_t hs_crit_point_time(const struct hs_crit_graph *g, const struct hs_crit_index *x, uint32_t point);
/* Launched before the window: others may wait for it, but the path does not end with it. */
bool hs_crit_node_early(const struct hs_crit_graph *g, const struct hs_crit_index *x, size_t node);
enum hs_crit_cause hs_crit_node_cause(const struct hs_crit_graph *g, const struct hs_crit_index *x, size_t node);

#endif
