/* HTA's critical path of one rank: clip, nodes, edges, longest path. Steps in this order:
 *
 *   hta_cp_clip       the events of the window and the kernels they launched
 *   hta_cp_nodes      a start and an end node for each that can carry weight, in order of time
 *   hta_cp_cpu        edges out of the runtime's lock and the call stacks            (hta_cp_cpu.c)
 *   hta_cp_gpu        edges out of launches, streams, events and synchronisation      (hta_cp_gpu.c)
 *   hta_cp_path       checks, order, distances, the path                              (hta_cp_path.c)
 *
 * Rows are numbers of the rank's rows; a repeated row is the last one of its event. */
#ifndef HS_ANALYSIS_HTA_CP_H
#define HS_ANALYSIS_HTA_CP_H

#include "analysis/hta_query.h"

enum hta_cp_type { HTA_CP_OPERATOR, HTA_CP_DEPENDENCY, HTA_CP_LAUNCH, HTA_CP_KERNEL_KERNEL, HTA_CP_SYNC };

struct hta_cp_node {
    double ts;
    uint32_t row;
    bool start;
};
struct hta_cp_edge {
    uint32_t from, to; /* nodes */
    uint32_t owner;    /* row the weight is charged to; HTA_NONE */
    uint32_t type;     /* hta_cp_type */
    double weight;
};

struct hta_cp_options {
    const char *annotation; /* "" : the whole trace */
    int64_t first, last;    /* instances, in row order */
    const char *data_load;  /* comma-separated texts; NULL */
    bool zero_weight_launches;
};

struct hta_cp {
    const struct hta_trace *t;
    const struct hta_rank *r;
    struct {
        HS_VEC(uint32_t);
    } clip; /* rows in order of their events */
    struct {
        HS_VEC(struct hta_cp_node);
    } nodes;
    uint32_t *start, *end; /* by row: its nodes, HTA_NONE */
    struct {
        HS_VEC(struct hta_cp_edge);
    } edges;                /* in order of first use */
    struct hta_map edge_of; /* (from, to) -> edge */
    struct {
        HS_VEC(uint32_t);
    } path;    /* nodes, first to last */
    bool full; /* the edges reached their ceiling: what follows is worth nothing */
    bool ok;   /* HTA would return a path */
};

void hta_cp_init(struct hta_cp *c, const struct hta_trace *t, const struct hta_rank *r);
void hta_cp_free(struct hta_cp *c);

/* False, with a note, if there is nothing to look at. */
bool hta_cp_clip(struct hta_cp *c, const struct hta_cp_options *o, struct hs_table *notes);
void hta_cp_nodes(struct hta_cp *c, const struct hta_cp_options *o);
void hta_cp_cpu(struct hta_cp *c);
int hta_cp_gpu(struct hta_cp *c, const struct hta_cp_options *o, struct hs_table *notes, struct hs_err *err);
void hta_cp_path(struct hta_cp *c, struct hs_table *notes);

/* Adds the edge; a second one between the same nodes takes the place of the first. The weight is the time between them,
 * 0 for dependencies and synchronisation or when `zero`. Returns its number, HTA_NONE over the ceiling. */
uint32_t hta_cp_add(struct hta_cp *c, uint32_t from, uint32_t to, enum hta_cp_type type, bool zero);
/* Charges an operator or kernel-kernel edge to an event; `parent` for time between two children. */
void hta_cp_charge(struct hta_cp *c, uint32_t edge, uint32_t parent);

static inline const struct hta_row *hta_cp_row(const struct hta_cp *c, uint32_t node)
{
    return &c->r->rows[c->nodes.p[node].row];
}

#endif
