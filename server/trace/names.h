/* Short forms of kernel names: templates, arguments and return types cut away. */
#ifndef HS_TRACE_NAMES_H
#define HS_TRACE_NAMES_H

#include "base/mem.h"

/* Exactly HolisticTraceAnalysis 0.6's shorten_name: unchanged for memory work (Memcpy, Memset, hip forms, dma) and for
 * names without "<" and "("; else "->" deleted, balanced <...> and (...) deleted, and the part after the last blank kept
 * ("void at::native::k<int>(float)" -> "at::native::k"). A name that ends in a blank gives "". The result points into
 * `name` or into `scratch`, which is overwritten; valid until either changes. */
struct hs_str hs_shorten_hta(struct hs_str name, struct hs_buf *scratch);

/* The same, but never empty for a name that is not: the full name then. */
struct hs_str hs_short_name(struct hs_str name, struct hs_buf *scratch);

/* Whether HTA takes a name for memory work: ^(hip)?Memcpy, ^(hip)?Memset, ^dma. */
bool hs_name_is_memory_hta(struct hs_str name);

#endif
