/* view_columns: the columns of events and the tables of device work and launches, decoded when first asked for. These are
 * operations of a view (trace/view.h); the view's lock is theirs to take. */
#ifndef HS_STORE_VIEW_COLUMNS_H
#define HS_STORE_VIEW_COLUMNS_H

#include "store/view_file.h"

int hs_file_events(struct hs_view *v, unsigned columns, struct hs_events *out, struct hs_err *err);
int hs_file_events_at(struct hs_view *v, unsigned columns, const uint32_t *event, size_t n, struct hs_events *out,
                      struct hs_err *err);
int hs_file_gpu(struct hs_view *v, unsigned columns, struct hs_gpu *out, struct hs_err *err);
int hs_file_launches(struct hs_view *v, const struct hs_launch_row **rows, size_t *n, struct hs_err *err);
void hs_file_free_columns(struct hs_view_file *f);

/* The same as hs_file_events for who holds the lock already. */
int hs_file_load_events(struct hs_view_file *f, unsigned columns, struct hs_err *err);

#endif
