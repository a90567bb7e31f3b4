/* chrome_trace: one rank given back as Chrome trace JSON, as the profiler wrote it, which Perfetto, chrome://tracing and this
 * program read: the members of its header, every event whole (types and digits as they were), then what was asked for on
 * top. Made a part at a time, so that memory does not grow with the trace.
 *
 * On top (parameter overlay, after HTA's generate_trace_with_counters and its pattern overlay):
 *   queue-length, memory-bandwidth  counter events (chrome_counters.h)
 *   kernel-sequences                args.Patterns = {"<pattern_id>": count} on each call of one of the top_k sequences of
 *                                   operator_name, on what nests in it and on the device work it launched. The id stands
 *                                   for the sequence, whose text is told once, at the end of the file. With
 *                                   compress_other_kernels other spans have no args, as in HTA's overlay: a small file.
 *   critical-path                   args.critical and arrows (chrome_critical.h)
 * from, to: a window of it as a small trace (chrome_window.h); counters are cut at the window, calls begin in it.
 *
 * With any of them a last member "holoscope" tells what was done: {"rank","from_us","to_us","overlays","sequences","notes"};
 * without, the document is the original one, value for value (but not byte for byte: the original bytes are the store's). */
#ifndef HS_RENDER_CHROME_TRACE_H
#define HS_RENDER_CHROME_TRACE_H

#include "analysis/registry.h"

/* Of hs_params_new; of the common ones, rank, from and to apply. */
extern const struct hs_param_spec hs_chrome_params[];
extern const size_t hs_chrome_nparams;

/* What `p` says is possible: overlays that there are, an operator's name where one is needed, from before to. HS_EUSAGE. */
int hs_chrome_check(const struct hs_params *p, struct hs_err *err);

/* The one trace of the run that `p` means: by rank, by trace (id) where several have it. HS_EUSAGE with what to give,
 * HS_ENOTFOUND. */
int hs_chrome_rank(const struct hs_run *run, const struct hs_params *p, const struct hs_run_rank **out,
                   struct hs_err *err);

struct hs_chrome_trace;
/* `r` is copied, its view and `p` must outlive it. All that has to be computed is computed here. */
int hs_chrome_open(struct hs_chrome_trace **out, const struct hs_run_rank *r, const struct hs_params *p,
                   struct hs_err *err);
void hs_chrome_close(struct hs_chrome_trace *t);

/* Appends the next part of the file, about HS_CHROME_PART bytes or one event more (before compression); *done with the last.
 * HS_ELIMIT: an event does not fit under the buffer's ceiling. From one thread at a time. */
#define HS_CHROME_PART (256u * 1024)
#define HS_CHROME_CEILING ((size_t)512 << 20) /* for the buffer: an event may be large */
int hs_chrome_next(struct hs_chrome_trace *t, struct hs_buf *out, bool *done, struct hs_err *err);

/* All of it, part by part. A status of the sink other than 0 ends it. */
typedef int hs_chrome_sink(void *ctx, const char *p, size_t n, struct hs_err *err);
int hs_chrome_write(struct hs_chrome_trace *t, hs_chrome_sink *sink, void *ctx, struct hs_err *err);

#endif
