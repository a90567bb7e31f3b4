/* arg_cursor: walks through the events of a view in ascending order and gives each one whole, with its arguments. */
#ifndef HS_STORE_ARG_CURSOR_H
#define HS_STORE_ARG_CURSOR_H

#include "store/view_file.h"

/* The values of one argument column in one segment of events, and how many of them are behind. */
struct hs_arg_values {
    int64_t *v;
    size_t n, at; /* read so far */
    bool loaded;
};
int hs_arg_values_load(struct hs_view_file *f, uint32_t column, uint64_t segment, struct hs_arg_values *s,
                       struct hs_err *err);

static inline bool hs_field_has_values(const struct hs_field *fd)
{
    return fd->type <= HS_V_RAW;
}

/* Each user has a cursor of its own; its functions take the view's lock while they read from the file. Moving forward
 * within a segment costs a few ns an event, moving back starts the segment again. */
struct hs_arg_cursor *hs_arg_cursor_new(struct hs_view_file *f);
void hs_arg_cursor_free(struct hs_arg_cursor *c);
/* Appends the event as JSON; with `args` only the object of its args, nothing at all if it has none. */
int hs_arg_cursor_json(struct hs_arg_cursor *c, uint32_t event, bool args, struct hs_buf *out, struct hs_err *err);
/* The same for who holds the lock. */
int hs_arg_cursor_json_locked(struct hs_arg_cursor *c, uint32_t event, bool args, struct hs_buf *out,
                              struct hs_err *err);

#endif
