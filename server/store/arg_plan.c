#include "store/arg_plan.h"

#include "store/view_args.h"

#include <stdlib.h>

void hs_arg_plan_free(struct hs_arg_plan *p)
{
    for (size_t i = 0; i < p->nstreams; i++)
        free(p->streams[i].v);
    free(p->first);
    free((void *)p->fields);
    free(p->slot);
    free(p->streams);
    free(p->columns);
}

static uint32_t plan_slot(struct hs_arg_plan *p, uint32_t column, uint32_t count)
{
    for (size_t i = 0; i < p->nstreams; i++)
        if (p->columns[i] == column)
            return (uint32_t)i;
    p->columns = hs_realloc_array(p->columns, p->nstreams + 2, sizeof *p->columns);
    for (uint32_t i = 0; i < count; i++)
        p->columns[p->nstreams + i] = column + i;
    p->nstreams += count;
    return (uint32_t)(p->nstreams - count);
}

void hs_arg_plan_make(struct hs_arg_plan *p, const struct hs_view_file *f, uint32_t key, int level)
{
    size_t n = 0;
    p->first = hs_calloc(f->nshapes + 1, sizeof *p->first);
    p->fields = hs_calloc(f->nfields, sizeof *p->fields);
    p->slot = hs_calloc(f->nfields, sizeof *p->slot);
    for (size_t s = 0; s < f->nshapes; s++) {
        p->first[s] = (uint32_t)n;
        for (uint32_t i = 0; i < f->shapes[s].count; i++) {
            const struct hs_field *fd = &f->fields[f->shapes[s].first + i];
            if (fd->key != key || fd->level != level || fd->type == HS_V_CORE)
                continue;
            p->slot[n] = hs_field_has_values(fd) ? plan_slot(p, fd->column, fd->type == HS_V_DEC ? 2 : 1) : UINT32_MAX;
            p->fields[n++] = fd;
        }
    }
    p->first[f->nshapes] = (uint32_t)n;
    p->streams = hs_calloc(p->nstreams, sizeof *p->streams);
}

bool hs_arg_plan_next(struct hs_arg_plan *p, uint32_t shape, struct hs_arg_value *out)
{
    *out = (struct hs_arg_value){HS_V_NULL, 0, 0};
    for (uint32_t i = p->first[shape]; i < p->first[shape + 1]; i++) {
        out->type = p->fields[i]->type;
        if (p->slot[i] == UINT32_MAX)
            continue;
        struct hs_arg_values *s = &p->streams[p->slot[i]];
        if (s[0].at == s[0].n || (out->type == HS_V_DEC && s[1].at == s[1].n))
            return false;
        out->v = s[0].v[s[0].at++];
        out->digits = out->type == HS_V_DEC ? s[1].v[s[1].at++] : 0;
    }
    return true;
}

int64_t hs_arg_as_i64(const struct hs_view *v, const struct hs_arg_value *x)
{
    int64_t i;
    if (x->type == HS_V_INT)
        return x->v;
    if (x->type == HS_V_STR && hs_parse_i64(hs_view_str(v, (uint32_t)x->v), &i))
        return i;
    return HS_NO_VALUE;
}

int hs_arg_plan_load(struct hs_view_file *f, struct hs_arg_plan *p, uint64_t segment, struct hs_err *err)
{
    int rc = HS_OK;
    for (size_t i = 0; i < p->nstreams && !rc; i++) {
        rc = hs_arg_values_load(f, p->columns[i], segment, &p->streams[i], err);
        p->streams[i].at = 0;
    }
    return rc;
}

struct hs_arg_values *hs_arg_plan_plain(const struct hs_view_file *f, const struct hs_arg_plan *p)
{
    uint32_t slot = UINT32_MAX;
    for (size_t s = 0; s < f->nshapes; s++) {
        uint32_t first = p->first[s];
        if (p->first[s + 1] == first)
            continue;
        if (p->first[s + 1] != first + 1 || p->fields[first]->type != HS_V_INT ||
            (slot != UINT32_MAX && p->slot[first] != slot))
            return NULL;
        slot = p->slot[first];
    }
    return slot == UINT32_MAX ? NULL : &p->streams[slot];
}
