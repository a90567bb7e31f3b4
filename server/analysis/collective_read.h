/* The calls of one rank, unmatched: the first half of collective.h, apart because it alone reads arguments. */
#ifndef HS_ANALYSIS_COLLECTIVE_READ_H
#define HS_ANALYSIS_COLLECTIVE_READ_H

#include "analysis/collective.h"

/* Appends the calls of rank `place` to c->calls, in its own clock plus the run's offset. */
int hs_collective_read(struct hs_collectives *c, const struct hs_run *run, size_t place, bool stepped,
                       const struct hs_params *p, struct hs_table *out, struct hs_err *err);

/* The hs_collective_type of each device row of `s`, which is open with its device table; HS_COLL_UNKNOWN where it is no communication.
 * HS_COLL_SENDRECV: the kernel's name says so and nothing else tells, so it may as well be an all-to-all. free() it. */
int hs_collective_types(const struct hs_select *s, uint8_t **out, struct hs_err *err);

#endif
