#include "analysis/collective_read.h"

#include <stdio.h>
#include <string.h>

/* Arguments of all events; NULL where the trace does not know the key at all. */
struct args {
    const uint32_t *name, *dtype, *group, *ranks;
    const int64_t *in, *out, *size, *seq;
};

static int get_sym(struct hs_view *v, const char *key, const uint32_t **out, struct hs_err *err)
{
    *out = NULL;
    return hs_view_sym(v, key) == HS_NO_SYM ? HS_OK : v->ops->arg_sym(v, key, 1, out, err);
}

static int get_i64(struct hs_view *v, const char *key, const int64_t **out, struct hs_err *err)
{
    *out = NULL;
    return hs_view_sym(v, key) == HS_NO_SYM ? HS_OK : v->ops->arg_i64(v, key, 1, out, err);
}

static int get_args(struct hs_view *v, struct args *a, struct hs_err *err)
{
    int rc = get_sym(v, "Collective name", &a->name, err);
    rc = rc ? rc : get_sym(v, "dtype", &a->dtype, err);
    rc = rc ? rc : get_sym(v, "Process Group Name", &a->group, err);
    rc = rc ? rc : get_sym(v, "Process Group Ranks", &a->ranks, err);
    rc = rc ? rc : get_i64(v, "In msg nelems", &a->in, err);
    rc = rc ? rc : get_i64(v, "Out msg nelems", &a->out, err);
    rc = rc ? rc : get_i64(v, "Group size", &a->size, err);
    return rc ? rc : get_i64(v, "Seq", &a->seq, err);
}

static struct hs_str text_at(const struct hs_view *v, const uint32_t *column, uint32_t e)
{
    return column && column[e] != HS_NO_SYM ? hs_view_str(v, column[e]) : hs_str("", 0);
}

static int64_t number_at(const int64_t *column, uint32_t e)
{
    return column ? column[e] : HS_NO_VALUE;
}

struct reader {
    struct hs_collectives *c;
    struct hs_select s;
    struct args a;
    struct hs_events ev; /* name and parent, where the rows themselves do not tell the collective */
};

/* ncclDevKernel_SendRecv is an alltoall as often as a send: the annotation around the launch ("nccl:all_to_all") tells. */
static enum hs_collective_type type_by_launch(const struct reader *r, size_t row)
{
    enum { FAR = 32 };
    uint32_t e = r->s.gpu.launch[row];
    for (int i = 0; i < FAR && e < r->ev.n; i++) {
        struct hs_str name = hs_view_str(r->s.view, r->ev.name[e]);
        if ((name.n > 5 && !memcmp(name.p, "nccl:", 5)) || (name.n > 6 && !memcmp(name.p, "c10d::", 6)))
            return hs_collective_type_of(name);
        e = r->ev.parent[e];
    }
    return HS_COLL_UNKNOWN;
}

static enum hs_collective_type type_of(const struct reader *r, size_t row)
{
    struct hs_str told = text_at(r->s.view, r->a.name, r->s.gpu.event[row]);
    enum hs_collective_type t = hs_collective_type_of(told);
    if (t == HS_COLL_UNKNOWN)
        t = hs_collective_type_of(hs_view_str(r->s.view, r->s.gpu.name[row]));
    if (!told.n && (t == HS_COLL_UNKNOWN || t == HS_COLL_SENDRECV)) {
        enum hs_collective_type by_launch = type_by_launch(r, row);
        t = by_launch != HS_COLL_UNKNOWN ? by_launch : t;
    }
    return t;
}

/* S of nccl-tests: what one rank sends, but for allgather what one rank has in the end. */
static int64_t bytes_of(const struct reader *r, enum hs_collective_type t, uint32_t e)
{
    int64_t in = number_at(r->a.in, e), out = number_at(r->a.out, e), n = t == HS_COLL_ALLGATHER ? out : in, bytes;
    int64_t each = hs_dtype_bytes(text_at(r->s.view, r->a.dtype, e));
    if (t == HS_COLL_RECV || t == HS_COLL_BROADCAST)
        n = hs_max_i64(in, out);
    return each && n >= 0 && !__builtin_mul_overflow(n, each, &bytes) ? bytes : -1;
}

/* Names of groups are unique in a job, but jobs that split meshes reuse them: the list of ranks is part of the group. */
static uint32_t group_of(const struct reader *r, uint32_t e)
{
    struct hs_str name = text_at(r->s.view, r->a.group, e), ranks = text_at(r->s.view, r->a.ranks, e);
    struct hs_buf b = HS_BUF_INIT(1u << 20);
    if (!name.n && !ranks.n)
        return 0;
    hs_buf_put(&b, name.p, name.n);
    hs_buf_putc(&b, ' ');
    hs_buf_put(&b, ranks.p, ranks.n);
    uint32_t id = hs_intern_add(&r->c->texts, b.p, b.n);
    hs_buf_free(&b);
    return id;
}

static uint32_t kind_of(struct reader *r, size_t row)
{
    uint32_t e = r->s.gpu.event[row];
    struct hs_str dtype = text_at(r->s.view, r->a.dtype, e);
    struct hs_collective_kind k;
    memset(&k, 0, sizeof k); /* padding, too: its bytes are compared */
    k.type = type_of(r, row);
    k.group = group_of(r, e);
    k.dtype = hs_intern_add(&r->c->texts, dtype.p, dtype.n);
    k.bytes = bytes_of(r, k.type, e);
    k.group_size = hs_max_i64(-1, number_at(r->a.size, e));
    uint32_t id = hs_intern_add(&r->c->kind_bytes, (const char *)&k, sizeof k);
    if (id != HS_NO_SYM && id > r->c->kinds.n)
        hs_vec_push(&r->c->kinds, k);
    return id == HS_NO_SYM ? 0 : id - 1;
}

/* What calls of one operation have in common on all ranks, but for their order. */
static uint32_t key_of(struct reader *r, const struct hs_collective_kind *k, bool by_seq)
{
    char text[64];
    int n = snprintf(text, sizeof text, "key %d %u %d", (int)k->type, k->group, by_seq);
    return hs_intern_add(&r->c->texts, text, (size_t)n);
}

static bool add_call(struct reader *r, size_t place, size_t row, bool stepped)
{
    const struct hs_gpu *g = &r->s.gpu;
    int64_t seq = number_at(r->a.seq, g->event[row]);
    uint32_t kind = kind_of(r, row);
    bool by_seq = seq != HS_NO_VALUE;
    if (!by_seq && stepped && g->step[row] >= 0)
        seq = r->s.view->steps[g->step[row]].number;
    struct hs_collective_call call = {.start = hs_add_sat(g->ts[row], r->s.offset),
                                      .end = hs_add_sat(hs_end_ns(g->ts[row], g->dur[row]), r->s.offset),
                                      .seq = seq,
                                      .key = key_of(r, &r->c->kinds.p[kind], by_seq),
                                      .kind = kind,
                                      .rank = (uint32_t)place};
    return hs_vec_push(&r->c->calls, call);
}

int hs_collective_read(struct hs_collectives *c, const struct hs_run *run, size_t place, bool stepped,
                       const struct hs_params *p, struct hs_table *out, struct hs_err *err)
{
    struct reader r = {.c = c};
    int rc = hs_select_open(&r.s, &run->ranks[place], p, out, err);
    if (rc)
        return rc;
    rc = get_args(r.s.view, &r.a, err);
    if (!rc)
        rc = hs_view_events(r.s.view, HS_EV_NAME | HS_EV_PARENT, &r.ev, err);
    for (size_t i = 0; !rc && i < r.s.gpu.n; i++)
        if (r.s.gpu.cls[i] == HS_CLASS_COMM && hs_select_starts(&r.s, i) && !add_call(&r, place, i, stepped))
            rc = hs_fail(err, HS_ELIMIT, "the run has too many collectives to match");
    hs_select_close(&r.s);
    return rc;
}

int hs_collective_types(const struct hs_select *s, uint8_t **out, struct hs_err *err)
{
    struct reader r = {.s = *s};
    *out = NULL;
    int rc = get_sym(s->view, "Collective name", &r.a.name, err);
    if (!rc)
        rc = hs_view_events(s->view, HS_EV_NAME | HS_EV_PARENT, &r.ev, err);
    if (rc)
        return rc;
    *out = hs_calloc(s->gpu.n + 1, 1);
    for (size_t i = 0; i < s->gpu.n; i++)
        if (s->gpu.cls[i] == HS_CLASS_COMM)
            (*out)[i] = (uint8_t)type_of(&r, i);
    return HS_OK;
}
