/* compat=hta: the answers of HolisticTraceAnalysis (HTA) 0.6, with its rows, its column names and its quirks.
 *
 * Each function is the compat form of the analysis of its name: it gives `out` (initialised by the caller) HTA's columns
 * and fills it. Times are µs as HTA rounds them (hta_rows.h). Where HTA raises, the answer is what its method comes to
 * without the check that stopped it, or no rows, and a note says so; a trace is never an error.
 *
 * `rank` is HTA's `ranks`: numbers as HTA reads them out of the files; absent, HTA's default (in hta_entries). Other
 * parameters have HTA's names and defaults. The common parameters step, from and to are not HTA's and are not applied. */
#ifndef HS_ANALYSIS_HTA_H
#define HS_ANALYSIS_HTA_H

#include "analysis/registry.h"

typedef int hta_run(struct hs_run *run, const struct hs_params *params, struct hs_table *out, struct hs_err *err);

hta_run hta_temporal, hta_overlap, hta_kernel_types, hta_kernels;
hta_run hta_idle, hta_idle_intervals;
hta_run hta_steps, hta_stragglers;
hta_run hta_launches, hta_queue_length, hta_queue_length_series, hta_queue_full;
hta_run hta_memory_bandwidth, hta_memory_bandwidth_series;
hta_run hta_annotations, hta_kernel_annotations;
hta_run hta_call_stack, hta_kernel_sequences, hta_counters, hta_op_launch_delays;
hta_run hta_memory_timeline;
hta_run hta_critical_path, hta_critical_path_summary;
hta_run hta_diff, hta_diff_ops; /* run->other is the second run */

/* Registry name, function and HTA's own parameters of each. */
struct hta_entry {
    const char *name;
    hta_run *run;
    const struct hs_param_spec *params;
    size_t nparams;
};
extern const struct hta_entry hta_entries[]; /* NULL name at the end */
const struct hta_entry *hta_entry_find(const char *name);

#endif
