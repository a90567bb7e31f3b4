/* The entries of the registry, one per file of this room. To add an analysis: a file with its entry, a line here and a
 * line in registry.c. */
#ifndef HS_ANALYSIS_ANALYSES_H
#define HS_ANALYSIS_ANALYSES_H

#include "analysis/registry.h"

extern const struct hs_analysis hs_analysis_overview;
extern const struct hs_analysis hs_analysis_categories;
extern const struct hs_analysis hs_analysis_kernels;
extern const struct hs_analysis hs_analysis_kernel_types;
extern const struct hs_analysis hs_analysis_temporal;
extern const struct hs_analysis hs_analysis_idle;
extern const struct hs_analysis hs_analysis_idle_intervals;
extern const struct hs_analysis hs_analysis_overlap;
extern const struct hs_analysis hs_analysis_steps;
extern const struct hs_analysis hs_analysis_launches;
extern const struct hs_analysis hs_analysis_launch_outliers;
extern const struct hs_analysis hs_analysis_queue_length;
extern const struct hs_analysis hs_analysis_queue_length_series;
extern const struct hs_analysis hs_analysis_queue_full;
extern const struct hs_analysis hs_analysis_memory_bandwidth;
extern const struct hs_analysis hs_analysis_memory_bandwidth_series;
extern const struct hs_analysis hs_analysis_annotations;
extern const struct hs_analysis hs_analysis_kernel_annotations;
extern const struct hs_analysis hs_analysis_op_launch_delays;
extern const struct hs_analysis hs_analysis_kernel_sequences;
extern const struct hs_analysis hs_analysis_roofline;
extern const struct hs_analysis hs_analysis_counters;
extern const struct hs_analysis hs_analysis_call_stack;
extern const struct hs_analysis hs_analysis_flame;
extern const struct hs_analysis hs_analysis_memory_timeline;
extern const struct hs_analysis hs_analysis_symbols;
extern const struct hs_analysis hs_analysis_quality;
extern const struct hs_analysis hs_analysis_timeline;
extern const struct hs_analysis hs_analysis_stragglers;
extern const struct hs_analysis hs_analysis_collectives;
extern const struct hs_analysis hs_analysis_critical_path;
extern const struct hs_analysis hs_analysis_critical_path_summary;
extern const struct hs_analysis hs_analysis_critical_path_what_if;
extern const struct hs_analysis hs_analysis_idle_causes;
extern const struct hs_analysis hs_analysis_syncs;
extern const struct hs_analysis hs_analysis_diff;
extern const struct hs_analysis hs_analysis_diff_ops;

#endif
