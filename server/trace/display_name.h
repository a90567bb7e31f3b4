/* Kernel names for people, where many kernels share a short name. A reading aid by pattern, no identity. */
#ifndef HS_TRACE_DISPLAY_NAME_H
#define HS_TRACE_DISPLAY_NAME_H

#include "base/mem.h"

/* Appends the short name (trace/names.h) with what its template works on
 * ("at::native::vectorized_elementwise_kernel<MulFunctor>"), cut in the middle to about `max` bytes. */
void hs_put_display_name(struct hs_buf *out, struct hs_str name, size_t max);

#endif
