/* chrome_critical: the critical path of one rank drawn into its trace, as HTA's overlay_critical_path_analysis does: events on
 * the path get args.critical = 1, and each shown edge is a pair of flow events (ph s and f, bp "e", category and name
 * critical_path, args weight (us), critical, type), so that Perfetto draws the path as arrows.
 *
 * Shown are the edges of the path that lead from one thread or stream to another; with all_edges those of the whole graph, the
 * path's with critical 1; of a window, those whose two events are in it. Flow ids begin above those of the trace, so that
 * readers that know a flow by its id alone, without category and name, tell them apart too. */
#ifndef HS_RENDER_CHROME_CRITICAL_H
#define HS_RENDER_CHROME_CRITICAL_H

#include "analysis/crit_graph.h"
#include "analysis/crit_window.h"

#define HS_CRITICAL_CATEGORY "critical_path"

struct hs_chrome_critical {
    bool asked; /* the overlay is wanted */
    bool only;  /* leave out spans that are not on the path, but for annotations and python frames */
    bool all_edges;
    const uint8_t *window; /* bits, by event: what is exported; NULL: everything; the caller's */
    struct hs_name_filter *loading;
    struct hs_crit_rank rank;
    struct hs_crit_graph graph;
    struct hs_crit_way way;
    uint8_t *on_path; /* bits, by event */
    uint8_t *on_way;  /* bits, by edge of the graph */
    int64_t id;       /* the next flow's */
    size_t next;      /* edge */
    uint32_t point;   /* that it leads to */
    bool finish;      /* its s is written, its f is not */
};

/* `notes` gets what there is to say; an annotation that is not there makes an overlay without a path. */
int hs_chrome_critical_open(struct hs_chrome_critical *c, const struct hs_run_rank *r, const struct hs_params *p,
                            const uint8_t *window, struct hs_table *notes, struct hs_err *err);
void hs_chrome_critical_close(struct hs_chrome_critical *c);

bool hs_chrome_critical_has(const struct hs_chrome_critical *c, uint32_t event);   /* on the path */
bool hs_chrome_critical_keeps(const struct hs_chrome_critical *c, uint32_t event); /* shown at all */

/* Appends the next flow event; false: there is no more, nothing appended. */
bool hs_chrome_critical_next(struct hs_chrome_critical *c, struct hs_buf *out);

#define HS_PARAM_CRITICAL_OVERLAY                                                                                    \
    HS_PARAM_CRIT_WINDOW,                                                                                            \
        {"only_show_critical_events",                                                                                \
         HS_P_BOOL,                                                                                                  \
         "",                                                                                                         \
         "true",                                                                                                     \
         0,                                                                                                          \
         0,                                                                                                          \
         NULL,                                                                                                       \
         "of the overlay critical-path: leave out spans that are not on the path, but for annotations and python "   \
         "frames; it keeps show_all_edges off"},                                                                     \
    {                                                                                                                \
        "show_all_edges", HS_P_BOOL, "", "false", 0, 0, NULL,                                                        \
            "of the overlay critical-path: every edge of the graph, not only the path's between threads and streams" \
    }

#endif
