#include "analysis/hta.h"

#include <string.h>

/* HTA's parameters with HTA's defaults. Registry entries that have an exact form, too, declare their own. */

#define FLAG(name, def, doc)                      \
    {                                             \
        name, HS_P_BOOL, "", def, 0, 0, NULL, doc \
    }
#define COUNT(name, def, min, doc)                    \
    {                                                 \
        name, HS_P_INT, "1", def, min, 1e9, NULL, doc \
    }
#define TEXT(name, def, doc)                      \
    {                                             \
        name, HS_P_TEXT, "", def, 0, 0, NULL, doc \
    }
#define LIST(name, doc)                                \
    {                                                  \
        name, HS_P_INT_LIST, "", NULL, 0, 0, NULL, doc \
    }
#define RATIO                                                                                                   \
    {                                                                                                           \
        "duration_ratio", HS_P_REAL, "1", "0.8", 0, 1, NULL,                                                    \
            "names beyond this quantile of the cumulated sums are others, once there are more than num_kernels" \
    }

static const struct hs_param_spec memory_kernels[] = {
    FLAG("include_memory_kernels", "true", "whether copies and memsets are a class")};
static const struct hs_param_spec kernels[] = {
    RATIO,
    COUNT("num_kernels", "10", 1, "names kept per rank and class"),
    FLAG("include_memory_kernels", "true", "whether copies and memsets are a class"),
};
static const struct hs_param_spec idle[] = {
    LIST("streams", "stream numbers; absent: all"),
    {"consecutive_kernel_delay", HS_P_TIME, "us", "30", 0, 0, NULL, "gaps shorter than this are kernel_wait"},
};
static const struct hs_param_spec stragglers[] = {
    TEXT("profiler_steps", NULL, "numbers of steps joined by commas, or first; absent: all"),
    COUNT("num_candidates", "2", -1e9, "ranks to name"),
};
static const struct hs_param_spec launches[] = {
    FLAG("include_memory_events", "true", "whether cudaMemcpyAsync and cudaMemsetAsync count")};
static const struct hs_param_spec queue_full[] = {
    COUNT("max_queue_length", "1024", 0, "the queue is full from this length on")};
static const struct hs_param_spec annotations[] = {
    FLAG("use_gpu_annotation", "true", "gpu_user_annotation, else user_annotation"),
    RATIO,
    COUNT("num_kernels", "1000", 1, "names kept per rank"),
    TEXT("allowlist_patterns", NULL, "texts joined by commas: names that contain one are never others"),
};
static const struct hs_param_spec kernel_annotations[] = {FLAG("shorten_names", "true", "whether s_name is cut")};
static const struct hs_param_spec sequences[] = {
    TEXT("operator_name", NULL, "part of the operators' names"),
    COUNT("min_pattern_len", "3", 0, "fewest kernels of a sequence"),
};
static const struct hs_param_spec op_delays[] = {
    TEXT("sort_by", "occurrence_count", "columns joined by commas, largest first")};
static const struct hs_param_spec critical_path[] = {
    TEXT("annotation", NULL, "part of the name of the events whose time is looked at; absent: the whole trace"),
    LIST("instance_id", "which of them, counted from 0 in HTA's order of rows; two numbers: from the first to the "
                        "second; absent: the first"),
    TEXT("data_load_events", NULL, "texts joined by commas: parts of the names of data loading events"),
    FLAG("zero_weight_launch_edges", "false", "whether launches that do not delay their kernel are edges"),
};
static const struct hs_param_spec diff[] = {
    {"device_type", HS_P_CHOICE, "", "ALL", 0, 0, "ALL|CPU|GPU", "events compared"},
    FLAG("use_short_name", "false", "whether names are compared without template and arguments"),
    LIST("control_iteration", "step numbers of the first run; absent: its first"),
    LIST("test_iteration", "step numbers of the second run; absent: its first"),
    LIST("control_rank", "ranks of the first run; absent: its first"),
    LIST("test_rank", "ranks of the second run; absent: its first"),
};

#define P(specs) specs, sizeof specs / sizeof specs[0]

const struct hta_entry hta_entries[] = {
    {"temporal", hta_temporal, NULL, 0},
    {"overlap", hta_overlap, NULL, 0},
    {"kernel-types", hta_kernel_types, P(memory_kernels)},
    {"kernels", hta_kernels, P(kernels)},
    {"idle", hta_idle, P(idle)},
    {"idle-intervals", hta_idle_intervals, P(idle)},
    {"steps", hta_steps, NULL, 0},
    {"stragglers", hta_stragglers, P(stragglers)},
    {"launches", hta_launches, P(launches)},
    {"queue-length", hta_queue_length, NULL, 0},
    {"queue-length-series", hta_queue_length_series, NULL, 0},
    {"queue-full", hta_queue_full, P(queue_full)},
    {"memory-bandwidth", hta_memory_bandwidth, NULL, 0},
    {"memory-bandwidth-series", hta_memory_bandwidth_series, NULL, 0},
    {"annotations", hta_annotations, P(annotations)},
    {"kernel-annotations", hta_kernel_annotations, P(kernel_annotations)},
    {"call-stack", hta_call_stack, NULL, 0},
    {"kernel-sequences", hta_kernel_sequences, P(sequences)},
    {"counters", hta_counters, NULL, 0},
    {"memory-timeline", hta_memory_timeline, NULL, 0},
    {"op-launch-delays", hta_op_launch_delays, P(op_delays)},
    {"critical-path", hta_critical_path, P(critical_path)},
    {"critical-path-summary", hta_critical_path_summary, P(critical_path)},
    {"diff", hta_diff, P(diff)},
    {"diff-ops", hta_diff_ops, P(diff)},
    {NULL, NULL, NULL, 0},
};

const struct hta_entry *hta_entry_find(const char *name)
{
    for (const struct hta_entry *e = hta_entries; e->name; e++)
        if (!strcmp(e->name, name))
            return e;
    return NULL;
}
