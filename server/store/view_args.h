/* view_args: the arguments of events out of their dense columns. Event e owns, of each argument column that its shape
 * names, the next value after those of the events before it in its segment; to find it is to count.
 *
 * Here: one argument of all events as an array, and one event whole. These are operations of a view (trace/view.h); they
 * take the view's lock. Many events whole: store/arg_cursor.h. */
#ifndef HS_STORE_VIEW_ARGS_H
#define HS_STORE_VIEW_ARGS_H

#include "store/view_file.h"

int hs_file_arg_i64(struct hs_view *v, const char *key, int level, const int64_t **out, struct hs_err *err);
int hs_file_arg_f64(struct hs_view *v, const char *key, int level, const double **out, struct hs_err *err);
int hs_file_arg_sym(struct hs_view *v, const char *key, int level, const uint32_t **out, struct hs_err *err);
int hs_file_arg_json(struct hs_view *v, const char *key, int level, const uint32_t **out, struct hs_err *err);
int hs_file_arg_sparse(struct hs_view *v, const char *key, int level, struct hs_sparse *out, struct hs_err *err);
int hs_file_event_json(struct hs_view *v, uint32_t event, struct hs_buf *out, struct hs_err *err);
struct hs_event_reader *hs_file_reader_new(struct hs_view *v);
int hs_file_reader_json(struct hs_event_reader *r, uint32_t event, struct hs_buf *out, struct hs_err *err);
void hs_file_reader_free(struct hs_event_reader *r);
void hs_file_free_args(struct hs_view_file *f);

/* A decimal number as text, all of it, blanks around it allowed; false for anything else (hexadecimal, inf, nan, "7 MB"). */
bool hs_parse_f64(struct hs_str s, double *out);
bool hs_parse_i64(struct hs_str s, int64_t *out);

#endif
