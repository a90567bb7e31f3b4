/* writer: one trace into one SQLite file of column segments, or into memory (`analyze`, `report`, uploads that are not
 * kept): the same bytes either way, so that reading back has one path only.
 *
 * The file is written under the name given, without a journal, and is complete and synced when hs_writer_finish
 * returns 0; the caller renames it into place. Until then it is worth nothing and is removed by hs_writer_free.
 * One thread at a time; hs_writer_segment may run on another thread than the one that fills the trace, because a
 * segment refers to the dictionaries only by number. */
#ifndef HS_STORE_WRITER_H
#define HS_STORE_WRITER_H

#include "trace/links.h"
#include "trace/model.h"
#include "trace/view.h"

struct hs_writer;

struct hs_trace_info {
    char id[33];      /* 32 hex digits, "" when not known yet or not kept */
    const char *name; /* file name as given */
    int64_t rank;     /* resolved */
    const char *run;  /* it is imported to; NULL: to none. Only for a catalogue that was lost (store/store.h) */
};

int hs_writer_new(struct hs_writer **out, const char *path /* NULL: in memory */, struct hs_err *err);
int hs_writer_segment(struct hs_writer *w, const struct hs_segment *s, struct hs_err *err);
int hs_writer_finish(struct hs_writer *w, const struct hs_trace *t, const struct hs_links *l,
                     const struct hs_trace_info *info, struct hs_err *err);
/* A view of what was finished in memory; the writer's database goes over to the view. Close with hs_view_close. */
int hs_writer_view(struct hs_writer *w, struct hs_view **out, struct hs_err *err);
void hs_writer_free(struct hs_writer *w); /* an unfinished file is removed */

/* A view of a trace file (read only). A file that a newer program wrote is refused with a sentence. */
int hs_view_open(const char *path, struct hs_view **out, struct hs_err *err);
void hs_view_close(struct hs_view *v);
size_t hs_view_bytes(const struct hs_view *v); /* memory its names and decoded columns take now */

#endif
