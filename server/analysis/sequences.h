/* The sequences of kernels that calls of an operator launch, in one rank: what kernel-sequences tells in rows and what the
 * overlay of an exported trace marks on the events.
 *
 * A call is an event of the CPU side whose name contains operator_name and that nests in no other such event. Its sequence
 * is all device work launched by anything within it, by start. Calls of one name with one sequence are one entry. */
#ifndef HS_ANALYSIS_SEQUENCES_H
#define HS_ANALYSIS_SEQUENCES_H

#include "analysis/cpu_side.h"
#include "analysis/launched_by.h"
#include "analysis/patterns.h"

struct hs_sequence {
    int64_t count, gpu_ns, cpu_ns; /* calls; summed durations of what they launched; of the calls */
    uint32_t pattern;              /* of hs_sequences.patterns */
    uint32_t first_event;          /* the first of the calls */
    uint64_t hash;                 /* of the pattern */
};

struct hs_sequence_call {
    uint32_t event, pattern;
};

struct hs_sequences {
    struct hs_select sel;
    struct hs_cpu cpu;
    struct hs_patterns patterns;
    struct {
        HS_VEC(struct hs_sequence);
    } list;     /* the most frequent first, then the longest */
    size_t top; /* how many of them top_k asks for */
    int64_t all_gpu_ns, too_short;
    bool named;      /* the trace has such a name */
    size_t nwork;    /* device activities under calls */
    int64_t orphans; /* device activities without a launch in the trace */
    struct hs_pick pick;
    uint8_t *names;  /* by symbol: contains operator_name */
    uint32_t *place; /* in `list`, by pattern */
    struct {
        HS_VEC(struct hs_sequence_call);
    } calls; /* by event */
    struct {
        HS_VEC(uint32_t);
    } symbols; /* of the call being read */
};

/* operator_name (must be there), min_pattern_len and top_k of `p` as kernel-sequences declares them, and the common ones.
 * A rank without device events has an empty list, and a note in `out`. hs_sequences_close, also after a failure. */
int hs_sequences_open(struct hs_sequences *s, const struct hs_run_rank *r, const struct hs_params *p,
                      struct hs_table *out, struct hs_err *err);
void hs_sequences_close(struct hs_sequences *s);
void hs_sequences_note(const struct hs_sequences *s, const struct hs_params *p, struct hs_table *out);

/* The place in `list` of the sequence whose call the event is, nests in, or was launched by; SIZE_MAX for none, and for
 * those beyond `top`. */
size_t hs_sequences_of(struct hs_sequences *s, uint32_t event);

/* Three entries of a list of hs_param_spec. */
#define HS_PARAM_SEQUENCES                                                                                            \
    {"operator_name",                                                                                                 \
     HS_P_TEXT,                                                                                                       \
     "",                                                                                                              \
     NULL,                                                                                                            \
     0,                                                                                                               \
     0,                                                                                                               \
     NULL,                                                                                                            \
     "a part of the operator's name, as it is written (operator, annotation, python frame or call)"},                 \
        {"min_pattern_len", HS_P_INT, "1", "3", 1, 1e9, NULL, "leave out calls that launch fewer device activities"}, \
    {                                                                                                                 \
        "top_k", HS_P_INT, "1", "5", 0, 1e9, NULL,                                                                    \
            "give at most so many sequences of a rank, the most frequent; 0: all"                                     \
    }

#endif
