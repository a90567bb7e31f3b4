/* The part of a rank that a critical path is asked of: parameters, and the window that they mean. */
#ifndef HS_ANALYSIS_CRIT_WINDOW_H
#define HS_ANALYSIS_CRIT_WINDOW_H

#include "analysis/crit_index.h"
#include "analysis/name_filter.h"

#define HS_PARAM_CRIT_WINDOW                                                                                          \
    {"annotation",                                                                                                    \
     HS_P_TEXT,                                                                                                       \
     "",                                                                                                              \
     NULL,                                                                                                            \
     0,                                                                                                               \
     0,                                                                                                               \
     NULL,                                                                                                            \
     "part of the name of the annotations whose time is looked at; absent: the window of from, to and step, or all"}, \
        {"instance_id",                                                                                               \
         HS_P_INT_LIST,                                                                                               \
         "",                                                                                                          \
         NULL,                                                                                                        \
         0,                                                                                                           \
         0,                                                                                                           \
         NULL,                                                                                                        \
         "which of them, counted from 0 in order of time; several: from the least to the greatest; absent: the "      \
         "first"},                                                                                                    \
        {"data_load_events",                                                                                          \
         HS_P_TEXT,                                                                                                   \
         "",                                                                                                          \
         NULL,                                                                                                        \
         0,                                                                                                           \
         0,                                                                                                           \
         NULL,                                                                                                        \
         "regular expression (PCRE2): names of CPU events that load data; absent: (?i)data_?loader|data_?load"},      \
    {                                                                                                                 \
        "zero_weight_launch_edges", HS_P_BOOL, "", "false", 0, 0, NULL,                                               \
            "compat=hta: launches that do not delay are edges"                                                        \
    }

/* A rank opened for it. `out` gets notes: no such instance, and how waits are known. */
struct hs_crit_rank {
    struct hs_select sel; /* with its device rows */
    struct hs_cpu cpu;
    struct hs_crit_index index;
    struct hs_span window;
    bool asked; /* false: there is nothing to ask (no such annotation); index and window are not set */
};
int hs_crit_rank_open(struct hs_crit_rank *c, const struct hs_run_rank *r, const struct hs_params *p,
                      struct hs_name_filter *loading, struct hs_table *out, struct hs_err *err);
void hs_crit_rank_close(struct hs_crit_rank *c);

/* What loads data: the parameter data_load_events, or its default. */
int hs_crit_loading(struct hs_name_filter **out, const struct hs_params *p, struct hs_err *err);

#endif
