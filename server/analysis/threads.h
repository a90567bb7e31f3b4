/* Threads of a trace: chosen by the parameter `thread`, in an order that does not depend on the file's, with their names. */
#ifndef HS_ANALYSIS_THREADS_H
#define HS_ANALYSIS_THREADS_H

#include "analysis/registry.h"

#define HS_PARAM_THREAD                                                                                               \
    {                                                                                                                 \
        "thread", HS_P_TEXT, "", NULL, 0, 0, NULL, "only this thread: its id (tid), or process and thread as pid/tid" \
    }

struct hs_threads {
    const struct hs_view *view;
    int64_t *place; /* by lane: its place when lanes are sorted by process and thread, numbers before texts */
    uint8_t *on;    /* by lane: the parameter fits */
    size_t chosen;  /* lanes that are on */
};
void hs_threads_open(struct hs_threads *t, const struct hs_view *view, const char *thread);
void hs_threads_close(struct hs_threads *t);

/* A process or thread id as text: decimal, or the text it is. */
void hs_put_id(struct hs_buf *out, const struct hs_view *v, struct hs_id id);
void hs_cell_id(struct hs_table *out, const struct hs_view *v, struct hs_id id);

#endif
