/* Forward and backward operators that belong together, by the flow events of category fwdbwd. */
#ifndef HS_ANALYSIS_FWDBWD_H
#define HS_ANALYSIS_FWDBWD_H

#include "analysis/cpu_side.h"

/* *out [events], free() it: of an operator the one at the other end of its flow, HS_NO_EVENT without one; NULL if the trace
 * has no such flows. An end of a flow belongs to the innermost operator of its thread that starts at exactly that time; a
 * start that several ends share belongs to the last of them. `c` was opened with HS_EV_LANE and HS_EV_DEPTH. */
int hs_fwdbwd(const struct hs_cpu *c, uint32_t **out, struct hs_err *err);

#endif
