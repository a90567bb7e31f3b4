#include "analysis/cpu_side.h"

#include <stdlib.h>
#include <string.h>

int hs_cpu_open(struct hs_cpu *c, struct hs_view *view, unsigned columns, struct hs_err *err)
{
    *c = (struct hs_cpu){.view = view};
    int rc = hs_view_events(view, columns | HS_EV_NAME | HS_EV_CAT | HS_EV_PARENT, &c->ev, err);
    if (rc)
        return rc;
    c->kind = hs_calloc(view->nsyms, 1);
    for (size_t i = 0; i < view->ncats; i++)
        if (view->cats[i].cat < view->nsyms)
            c->kind[view->cats[i].cat] = (uint8_t)hs_cat_kind(hs_view_str(view, view->cats[i].cat));
    return HS_OK;
}

void hs_cpu_close(struct hs_cpu *c)
{
    free(c->kind);
    c->kind = NULL;
}

bool hs_view_has_kind(const struct hs_view *v, enum hs_cat_kind kind)
{
    for (size_t i = 0; i < v->ncats; i++)
        if (v->cats[i].count && hs_cat_kind(hs_view_str(v, v->cats[i].cat)) == kind)
            return true;
    return false;
}

/* Adds each event to its parent once all of its own children were added to it: no order of the events is needed, and
 * however deep a tree is, each edge is walked once. */
static void add_up(const struct hs_cpu *c, struct hs_beneath *b)
{
    size_t n = c->ev.n;
    const uint32_t *parent = c->ev.parent;
    uint32_t *waiting = hs_calloc(n, sizeof *waiting); /* children that are not added yet */
    for (size_t i = 0; i < n; i++)
        if (parent[i] < n)
            waiting[parent[i]]++;
    for (size_t i = 0; i < n; i++) {
        if (waiting[i])
            continue;
        uint32_t x = (uint32_t)i;
        waiting[x] = UINT32_MAX; /* done: not to be started again when the loop comes here after a walk */
        for (uint32_t p = parent[x]; p < n; x = p, p = parent[p]) {
            b->count[p] += b->count[x];
            b->ns[p] = hs_add_sat(b->ns[p], b->ns[x]);
            if (b->height && hs_cpu_is_span(c, x) && b->height[p] <= b->height[x] && b->height[x] < UINT16_MAX)
                b->height[p] = (uint16_t)(b->height[x] + 1);
            if (--waiting[p])
                break;
            waiting[p] = UINT32_MAX;
        }
    }
    free(waiting);
}

void hs_cpu_beneath(const struct hs_cpu *c, const struct hs_select *s, struct hs_beneath *out)
{
    size_t n = c->ev.n;
    *out = (struct hs_beneath){hs_calloc(n, sizeof *out->count), hs_calloc(n, sizeof *out->ns),
                               c->ev.ph ? hs_malloc((n + 1) * sizeof *out->height) : NULL};
    for (size_t i = 0; i < n && out->height; i++)
        out->height[i] = 1;
    for (size_t i = 0; i < s->gpu.n; i++) {
        uint32_t launch = s->gpu.launch[i];
        if (launch >= n || !hs_select_starts(s, i))
            continue;
        out->count[launch]++;
        out->ns[launch] = hs_add_sat(out->ns[launch], s->gpu.dur[i]);
    }
    add_up(c, out);
}

void hs_beneath_free(struct hs_beneath *b)
{
    free(b->count);
    free(b->ns);
    free(b->height);
    *b = (struct hs_beneath){0};
}

/* ---- picking ancestors ---- */

#define UNKNOWN (UINT32_MAX - 1) /* beyond every event number */

void hs_pick_open(struct hs_pick *p, const struct hs_cpu *c, unsigned kinds, const uint8_t *names, bool topmost)
{
    *p =
        (struct hs_pick){.cpu = c, .kinds = kinds, .names = names, .topmost = topmost, .path = HS_VEC_INIT(UINT32_MAX)};
    p->memo = hs_realloc_array(NULL, c->ev.n ? c->ev.n : 1, sizeof *p->memo);
    for (size_t i = 0; i < c->ev.n; i++)
        p->memo[i] = UNKNOWN;
}

void hs_pick_close(struct hs_pick *p)
{
    free(p->memo);
    p->memo = NULL;
    hs_vec_free(&p->path);
}

static bool is_pick(const struct hs_pick *p, uint32_t event)
{
    const struct hs_cpu *c = p->cpu;
    if (!(p->kinds >> hs_cpu_kind(c, event) & 1))
        return false;
    return !p->names || (c->ev.name[event] < c->view->nsyms && p->names[c->ev.name[event]]);
}

uint32_t hs_pick(struct hs_pick *p, uint32_t event)
{
    const struct hs_events *ev = &p->cpu->ev;
    uint32_t found = HS_NO_EVENT;
    p->path.n = 0;
    for (uint32_t x = event; x < ev->n; x = ev->parent[x]) {
        if (p->memo[x] != UNKNOWN) {
            found = p->memo[x];
            break;
        }
        p->memo[x] = HS_NO_EVENT; /* a ring, should there ever be one, ends here */
        if (!hs_vec_push(&p->path, x))
            break;
    }
    for (size_t i = p->path.n; i-- > 0;) {
        uint32_t x = p->path.p[i];
        if ((!p->topmost || found == HS_NO_EVENT) && is_pick(p, x))
            found = x;
        p->memo[x] = found;
    }
    return found;
}
