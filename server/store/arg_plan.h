/* arg_plan: where the values of one argument stand, of events of every shape. The columns of arguments are dense: a value
 * is found by walking through its segment from the start, taking the next one for each event that has the argument.
 *
 * The view's lock is held by the caller throughout. */
#ifndef HS_STORE_ARG_PLAN_H
#define HS_STORE_ARG_PLAN_H

#include "store/arg_cursor.h"

/* What each shape says about one (key, level): the fields that match, in their order. Several only where an event has
 * the key twice; the last one counts. */
struct hs_arg_plan {
    uint32_t *first; /* [nshapes + 1] into fields */
    const struct hs_field **fields;
    uint32_t *slot;                /* of each field: index into streams; UINT32_MAX for those without values */
    struct hs_arg_values *streams; /* mantissas at slot, digits at slot + 1 */
    uint32_t *columns;             /* of each stream */
    size_t nstreams;
};
void hs_arg_plan_make(struct hs_arg_plan *p, const struct hs_view_file *f, uint32_t key, int level);
void hs_arg_plan_free(struct hs_arg_plan *p);

/* Reads the values of a segment; the next of each column is its first. */
int hs_arg_plan_load(struct hs_view_file *f, struct hs_arg_plan *p, uint64_t segment, struct hs_err *err);

/* One value, of any type, with what is needed to read it. */
struct hs_arg_value {
    uint8_t type; /* enum hs_value_type; HS_V_NULL where the event lacks the argument */
    int64_t v, digits;
};
/* Of the next event, which is of this shape; false where a column is too short, which is damage. */
bool hs_arg_plan_next(struct hs_arg_plan *p, uint32_t shape, struct hs_arg_value *out);

/* Where every shape that has the argument has it once, as an integer, in one column: the column's numbers are the values, one
 * an event, and need no looking at shapes (a third off memory-timeline). NULL: not so. */
struct hs_arg_values *hs_arg_plan_plain(const struct hs_view_file *f, const struct hs_arg_plan *p);

/* An integer, also one that is written as text; HS_NO_VALUE for anything else. */
int64_t hs_arg_as_i64(const struct hs_view *v, const struct hs_arg_value *x);

#endif
