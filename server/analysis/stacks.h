/* Distinct call stacks of a trace as a tree of names, each with a weight: what a flame graph is drawn from. */
#ifndef HS_ANALYSIS_STACKS_H
#define HS_ANALYSIS_STACKS_H

#include "analysis/cpu_side.h"
#include "analysis/hta_map.h"

#define HS_NO_STACK UINT32_MAX

struct hs_stack {
    uint32_t parent; /* HS_NO_STACK at the root */
    uint32_t frame;  /* symbol; at the root the lane, HS_NO_SYM for work without a launch */
    uint64_t hash;   /* of the names down from the root: an order that does not depend on the file's */
    int64_t weight, count;
};

struct hs_stacks {
    const struct hs_cpu *cpu; /* opened with HS_EV_LANE */
    bool python;              /* python frames count */
    struct hta_map by_key;    /* parent and frame */
    struct {
        HS_VEC(struct hs_stack);
    } list;
    uint32_t *of; /* by event: its stack, HS_NO_STACK while not known */
    struct {
        HS_VEC(uint32_t);
    } path;
};
void hs_stacks_open(struct hs_stacks *s, const struct hs_cpu *cpu, bool python);
void hs_stacks_close(struct hs_stacks *s);

/* The stack of a CPU event, itself included; HS_NO_EVENT: that of work without a launch. HS_NO_STACK over the ceiling. */
uint32_t hs_stack_of(struct hs_stacks *s, uint32_t event);
uint32_t hs_stack_child(struct hs_stacks *s, uint32_t stack, uint32_t symbol);
bool hs_stack_add(struct hs_stacks *s, uint32_t stack, int64_t weight); /* false for HS_NO_STACK */

/* Those with a weight, the heaviest first; free() it. */
uint32_t *hs_stacks_sorted(const struct hs_stacks *s, size_t *n);

/* Appends "thread 12 (name);frame;frame". Semicolons in names become commas, control characters blanks; of a very deep stack
 * the innermost frames stay, after "...". */
void hs_stack_text(const struct hs_stacks *s, uint32_t stack, struct hs_buf *out);

#endif
