/* adopt: a catalogue row for a trace file that the catalogue does not name, made from what the file says of itself. */
#ifndef HS_STORE_ADOPT_H
#define HS_STORE_ADOPT_H

#include "store/store.h"

/* Reads <path>, the trace file of this id, as a view does, with every check a view makes. HS_EINPUT: it is damaged, is of
 * another trace, or was written by a newer program. The row is the caller's: hs_trace_row_clear. */
int hs_adopt_row(const char *path, const char *id, struct hs_trace_row *row, struct hs_err *err);

#endif
