/* Collectives of several ranks, matched: which device row of one rank is the same operation as which of another.
 *
 * Matched by kind, process group and sequence number (args Seq) where the trace has them, else by order of start within
 * kind and group, step by step where the ranks have steps. What comes more than once under one such key (coalesced calls,
 * replays of a graph) is matched by order under that key. Point to point (send, recv) is listed and never matched.
 *
 * Clocks: a collective in which every rank waits for every other ends on all of them at one moment, up to the time of its
 * last message. A rank's shift is the median, over the collectives it shares with ranks already shifted, of their
 * ends minus its own; the first rank stays. What is left of the differences is the residual. */
#ifndef HS_ANALYSIS_COLLECTIVE_H
#define HS_ANALYSIS_COLLECTIVE_H

#include "analysis/select.h"
#include "base/intern.h"

enum hs_collective_type {
    HS_COLL_UNKNOWN,
    HS_COLL_ALLREDUCE,
    HS_COLL_REDUCESCATTER,
    HS_COLL_ALLGATHER,
    HS_COLL_ALLTOALL,
    HS_COLL_BROADCAST,
    HS_COLL_BARRIER,
    HS_COLL_SENDRECV,
    HS_COLL_SEND,
    HS_COLL_RECV,
    HS_COLL_REDUCE,
    HS_COLL_GATHER,
    HS_COLL_SCATTER,
    HS_COLL_TYPES
};
const char *hs_collective_word(enum hs_collective_type t);
/* Of an args' "Collective name" ("_allgather_base"), an annotation ("nccl:all_reduce") or a kernel's name. */
enum hs_collective_type hs_collective_type_of(struct hs_str name);
bool hs_collective_is_p2p(enum hs_collective_type t);
/* Every rank needs something of every other, so none ends before the last has come. */
bool hs_collective_is_full(enum hs_collective_type t);
/* nccl-tests, doc/PERFORMANCE.md: bus bandwidth = factor * bytes / time, for n ranks; 0 where it has none. */
double hs_collective_bus_factor(enum hs_collective_type t, int64_t n);
int64_t hs_dtype_bytes(struct hs_str dtype); /* 0 unknown */

struct hs_collective_kind {
    enum hs_collective_type type;
    uint32_t group, dtype; /* texts in hs_collectives.texts; 0 unknown */
    int64_t bytes;         /* the S of nccl-tests: the whole message; -1 unknown */
    int64_t group_size;    /* as the trace tells it; -1 unknown */
};

struct hs_collective_call {
    int64_t start, end; /* on the run's clock, shifted */
    int64_t seq;        /* Seq, or the step's number; HS_NO_VALUE */
    uint32_t key;       /* (type, group, whether by Seq): number of a text */
    uint32_t nth;       /* under (rank, key, seq) */
    uint32_t kind;
    uint32_t rank; /* place in the run */
};

struct hs_collective { /* calls [first, first + n), one a rank, ascending by rank */
    size_t first;
    uint32_t n;
};

struct hs_rank_clock {
    int64_t shift_ns, residual_ns; /* residual: median of what is left, without sign; HS_NO_VALUE: not aligned */
    int64_t shared;                /* collectives it rests on */
    bool aligned;
};

struct hs_collectives {
    size_t nranks;
    struct hs_intern texts; /* groups, types of data, keys */
    struct {
        HS_VEC(struct hs_collective_kind);
    } kinds;
    struct hs_intern kind_bytes; /* a kind as bytes: 1 + its place in `kinds` */
    struct {
        HS_VEC(struct hs_collective_call);
    } calls; /* by key, seq, nth, rank */
    struct {
        HS_VEC(struct hs_collective);
    } list;                      /* matched: at least two ranks; in order of their first start */
    struct hs_rank_clock *clock; /* by place in the run */
};

/* Of all ranks of the run, in the window and steps of the common parameters. Notes ranks without collectives and kinds whose
 * counts differ between ranks. Free it in any case. */
int hs_collectives_open(struct hs_collectives *c, const struct hs_run *run, const struct hs_params *p,
                        struct hs_table *out, struct hs_err *err);
void hs_collectives_free(struct hs_collectives *c);

#endif
