#include "analysis/stacks.h"

#include "analysis/threads.h"

#include <stdlib.h>
#include <xxhash.h>

#define FRAMES_MAX 1024 /* of a stack's text */

void hs_stacks_open(struct hs_stacks *s, const struct hs_cpu *cpu, bool python)
{
    *s = (struct hs_stacks){
        .cpu = cpu, .python = python, .list = HS_VEC_INIT((size_t)1 << 26), .path = HS_VEC_INIT(UINT32_MAX)};
    hta_map_init(&s->by_key);
    s->of = hs_realloc_array(NULL, cpu->ev.n + 1, sizeof *s->of);
    for (size_t i = 0; i < cpu->ev.n; i++)
        s->of[i] = HS_NO_STACK;
}

void hs_stacks_close(struct hs_stacks *s)
{
    hta_map_free(&s->by_key);
    hs_vec_free(&s->list);
    hs_vec_free(&s->path);
    free(s->of);
    s->of = NULL;
}

static void put_frame(struct hs_buf *out, struct hs_str name)
{
    for (size_t i = 0; i < name.n; i++) {
        char c = name.p[i];
        hs_buf_putc(out, c == ';' ? ',' : (unsigned char)c < ' ' ? ' ' : c);
    }
}

static void put_root(const struct hs_stacks *s, uint32_t lane, struct hs_buf *out)
{
    const struct hs_view *v = s->cpu->view;
    if (lane >= v->nlanes) {
        hs_buf_puts(out, "[launch not in the trace]");
        return;
    }
    struct hs_buf text = HS_BUF_INIT(1 << 20);
    struct hs_str name = hs_view_str(v, v->lanes[lane].thread);
    if (hs_str_starts(name, "thread ")) { /* Kineto writes "thread 12 (python3)" */
        hs_buf_put(&text, name.p, name.n);
    } else {
        hs_buf_puts(&text, "thread ");
        hs_put_id(&text, v, v->lanes[lane].tid);
        if (name.n)
            hs_buf_printf(&text, " (%.*s)", (int)(name.n < 200 ? name.n : 200), name.p);
    }
    put_frame(out, hs_str(text.p, text.n));
    hs_buf_free(&text);
}

static uint64_t hash_of(const struct hs_stacks *s, uint32_t parent, uint32_t frame)
{
    if (parent != HS_NO_STACK) {
        struct hs_str name = hs_view_str(s->cpu->view, frame);
        return XXH3_64bits_withSeed(name.p, name.n, s->list.p[parent].hash);
    }
    struct hs_buf text = HS_BUF_INIT(1 << 21);
    put_root(s, frame, &text);
    uint64_t h = XXH3_64bits(text.p, text.n);
    hs_buf_free(&text);
    return h;
}

static uint32_t node(struct hs_stacks *s, uint32_t parent, uint32_t frame)
{
    uint32_t *at = hta_map_at(&s->by_key, hta_pair(parent, frame));
    if (*at == HTA_NONE) {
        *at = (uint32_t)s->list.n;
        if (!hs_vec_push(&s->list, ((struct hs_stack){parent, frame, hash_of(s, parent, frame), 0, 0})))
            *at = HS_NO_STACK;
    }
    return *at;
}

uint32_t hs_stack_child(struct hs_stacks *s, uint32_t stack, uint32_t symbol)
{
    return node(s, stack, symbol);
}

uint32_t hs_stack_of(struct hs_stacks *s, uint32_t event)
{
    const struct hs_events *ev = &s->cpu->ev;
    if (event >= ev->n)
        return node(s, HS_NO_STACK, HS_NO_SYM);
    uint32_t stack = HS_NO_STACK, x = event;
    s->path.n = 0;
    for (; x < ev->n && s->of[x] == HS_NO_STACK && s->path.n <= ev->n; x = ev->parent[x])
        if (!hs_vec_push(&s->path, x))
            return HS_NO_STACK;
    stack = x < ev->n ? s->of[x] : node(s, HS_NO_STACK, ev->lane[s->path.p[s->path.n - 1]]);
    for (size_t i = s->path.n; i-- > 0 && stack != HS_NO_STACK;) {
        x = s->path.p[i];
        if (s->python || hs_cpu_kind(s->cpu, x) != HS_CAT_PYTHON)
            stack = node(s, stack, ev->name[x]);
        s->of[x] = stack;
    }
    return stack;
}

bool hs_stack_add(struct hs_stacks *s, uint32_t stack, int64_t weight)
{
    if (stack == HS_NO_STACK)
        return false;
    s->list.p[stack].weight = hs_add_sat(s->list.p[stack].weight, weight);
    s->list.p[stack].count++;
    return true;
}

static int by_weight(const void *a, const void *b, void *stacks)
{
    const struct hs_stacks *s = stacks;
    const struct hs_stack *x = &s->list.p[*(const uint32_t *)a], *y = &s->list.p[*(const uint32_t *)b];
    if (x->weight != y->weight)
        return x->weight < y->weight ? 1 : -1;
    return (x->hash > y->hash) - (x->hash < y->hash);
}

uint32_t *hs_stacks_sorted(const struct hs_stacks *s, size_t *n)
{
    uint32_t *order = hs_realloc_array(NULL, s->list.n + 1, sizeof *order);
    *n = 0;
    for (size_t i = 0; i < s->list.n; i++)
        if (s->list.p[i].weight > 0)
            order[(*n)++] = (uint32_t)i;
    if (*n)
        qsort_r(order, *n, sizeof *order, by_weight, (void *)s);
    return order;
}

void hs_stack_text(const struct hs_stacks *s, uint32_t stack, struct hs_buf *out)
{
    uint32_t frames[FRAMES_MAX];
    size_t n = 0;
    for (; stack != HS_NO_STACK && n < FRAMES_MAX; stack = s->list.p[stack].parent)
        frames[n++] = stack;
    if (stack != HS_NO_STACK)
        hs_buf_puts(out, "...;");
    for (size_t i = n; i > 0; i--) {
        const struct hs_stack *x = &s->list.p[frames[i - 1]];
        if (x->parent == HS_NO_STACK)
            put_root(s, x->frame, out);
        else
            put_frame(out, hs_view_str(s->cpu->view, x->frame));
        if (i > 1)
            hs_buf_putc(out, ';');
    }
}
