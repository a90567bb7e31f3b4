/* view_dict: what a view reads of its file when it is opened: what the trace is, its names, shapes, lanes, steps, categories
 * and header. Every number is checked against what it counts or points into. */
#ifndef HS_STORE_VIEW_DICT_H
#define HS_STORE_VIEW_DICT_H

#include "store/view_file.h"

int hs_view_read_dict(struct hs_view_file *f,
                      struct hs_err *err); /* on failure what was read stays for hs_view_free_dict */
void hs_view_free_dict(struct hs_view_file *f);

#endif
