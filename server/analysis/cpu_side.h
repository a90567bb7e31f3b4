/* The CPU side of a trace as analyses of operators, annotations and calls need it: the kind of every event, its place in
 * the call tree of its thread, and the GPU time launched beneath it. */
#ifndef HS_ANALYSIS_CPU_SIDE_H
#define HS_ANALYSIS_CPU_SIDE_H

#include "analysis/select.h"
#include "trace/classes.h"

struct hs_cpu {
    struct hs_view *view;
    struct hs_events ev;
    uint8_t *kind; /* hs_cat_kind by symbol of the category [nsyms] */
};

/* With the columns asked for (HS_EV_*), which cost time, and always category, name and parent. */
int hs_cpu_open(struct hs_cpu *c, struct hs_view *view, unsigned columns, struct hs_err *err);
void hs_cpu_close(struct hs_cpu *c);

/* Does a trace have events of this kind? Reads no column. */
bool hs_view_has_kind(const struct hs_view *v, enum hs_cat_kind kind);

static inline enum hs_cat_kind hs_cpu_kind(const struct hs_cpu *c, uint32_t event)
{
    uint32_t cat = c->ev.cat[event];
    return cat < c->view->nsyms ? (enum hs_cat_kind)c->kind[cat] : HS_CAT_OTHER;
}

/* The event's step, an index into view->steps; -1 where it has none or HS_EV_STEP was not asked for. */
static inline int32_t hs_cpu_step(const struct hs_cpu *c, uint32_t event)
{
    return c->ev.step ? c->ev.step[event] : -1;
}

/* A span of a CPU thread: operator, annotation, python frame, call of an API; no device row, instant, flow or counter.
 * Needs HS_EV_PH. */
static inline bool hs_cpu_is_span(const struct hs_cpu *c, uint32_t event)
{
    enum hs_cat_kind k = hs_cpu_kind(c, event);
    uint8_t ph = c->ev.ph[event];
    return (ph == 'X' || ph == 'B') && (k <= HS_CAT_RUNTIME || k == HS_CAT_OVERHEAD);
}

/* ---- device work beneath CPU events ---- */

struct hs_beneath {
    uint32_t *count;  /* device rows launched by the event or by what nests in it [events] */
    int64_t *ns;      /* their summed durations */
    uint16_t *height; /* 1: nothing nests in it; else 1 + the highest child; saturates. NULL without HS_EV_PH */
};
#define HS_BENEATH_COLUMNS (HS_DEV_TS | HS_DEV_DUR | HS_DEV_LAUNCH | HS_DEV_STEP) /* of `s`'s device table */
/* Counts the device rows of `s` that start in its window and are of its steps. Linear in the number of events. */
void hs_cpu_beneath(const struct hs_cpu *c, const struct hs_select *s, struct hs_beneath *out);
void hs_beneath_free(struct hs_beneath *b);

/* ---- the nearest or the topmost ancestor of a kind ---- */

struct hs_pick {
    const struct hs_cpu *cpu;
    unsigned kinds;       /* bit k: events of hs_cat_kind k can be picked */
    const uint8_t *names; /* by symbol [nsyms]: those that can be; NULL: all */
    bool topmost;         /* the outermost of them instead of the innermost */
    uint32_t *memo;       /* [events] */
    struct {
        HS_VEC(uint32_t);
    } path;
};
void hs_pick_open(struct hs_pick *p, const struct hs_cpu *c, unsigned kinds, const uint8_t *names, bool topmost);
void hs_pick_close(struct hs_pick *p);
/* The picked event among `event`, a span, and its ancestors, HS_NO_EVENT where there is none. Each event is walked once in all. */
uint32_t hs_pick(struct hs_pick *p, uint32_t event);

#endif
