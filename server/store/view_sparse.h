/* view_sparse: one argument of the few events that have it. Arguments come in families (size, address and device of an
 * allocation) that stand in the same shapes: the events of a family are looked for once, and its arguments share the list of
 * their numbers, so that callers can tell lists that run in step by their `event` pointers being the same.
 *
 * The view's lock is held by the caller. */
#ifndef HS_STORE_VIEW_SPARSE_H
#define HS_STORE_VIEW_SPARSE_H

#include "store/view_file.h"

/* *out begins with a struct hs_sparse and is freed with hs_sparse_free, before the view's shape events. */
int hs_make_sparse(struct hs_view_file *f, const char *key, int level, void **out, struct hs_err *err);
void hs_sparse_free(void *sparse);
void hs_shape_events_free(struct hs_shape_events *list);

#endif
