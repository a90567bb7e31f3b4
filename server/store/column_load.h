/* column_load: decodes whole columns of a trace file, on two threads. A cold answer spends most of its time here, unpacking
 * and taking the page faults of fresh memory, and nothing else has work while it lasts: with the second core, call-stack on
 * 4 M events decodes in half the time.
 *
 * The caller holds the view's lock for as long as a call takes; the file is read by one thread at a time. */
#ifndef HS_STORE_COLUMN_LOAD_H
#define HS_STORE_COLUMN_LOAD_H

#include "store/view_file.h"

/* How the numbers of a column are kept in memory. */
enum hs_form { HS_FORM_I64, HS_FORM_U32, HS_FORM_U16, HS_FORM_U8, HS_FORM_I32 };

struct hs_column_load {
    enum hs_tbl tbl;
    uint32_t col;
    size_t n; /* rows */
    enum hs_form form;
    bool distance;        /* numbers are distances back to an event, 0 none; kept as its number (HS_FORM_U32) */
    const uint32_t *from; /* of a distance: the event that it counts from; NULL: the row itself */
    int64_t least, most;  /* inclusive; of an event's number with `distance`. Anything else is damage */
    const uint32_t *pick; /* only these rows, ascending (no `distance`); NULL: all */
    size_t npick;
    void *out; /* the result: fresh memory of n numbers (npick of those picked), the caller's */
};

/* All or nothing: on failure every `out` is NULL. HS_EINPUT for a damaged file, HS_ELIMIT for want of memory. */
int hs_load_columns(struct hs_view_file *f, struct hs_column_load *loads, size_t n, struct hs_err *err);

#endif
