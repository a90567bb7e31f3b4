#include "analysis/diff_parts.h"
#include "analysis/compare.h"
#include "analysis/device_time.h"

const char *hs_part_word(size_t part)
{
    static const char *const words[HS_PARTS] = {"compute", "communication not hidden", "copies not hidden", "idle"};
    return words[part];
}

int hs_diff_parts(struct hs_run *run, const struct hs_params *p, int side, struct hs_parts *parts, struct hs_table *out,
                  struct hs_err *err)
{
    int rc = HS_OK;
    *parts = (struct hs_parts){{0}};
    for (size_t i = 0; i < run->n && !rc; i++) {
        struct hs_select s;
        struct hs_rank_time t;
        if (!hs_compare_rank_on(p, side, run, i))
            continue;
        rc = hs_select_open(&s, &run->ranks[i], p, out, err);
        if (rc)
            break;
        hs_select_close(&s);
        s.step_on = hs_compare_steps_on(p, side, s.view);
        rc = hs_rank_time(&s, &t, err);
        hs_select_close(&s);
        if (rc)
            break;
        int64_t compute = hs_time_of(t.ns, HS_SET_COMPUTE);
        int64_t comm = hs_sub_sat(hs_time_of(t.ns, HS_SET_COMPUTE | HS_SET_COMM), compute);
        parts->ns[HS_PART_COMPUTE] = hs_add_sat(parts->ns[HS_PART_COMPUTE], compute);
        parts->ns[HS_PART_COMM] = hs_add_sat(parts->ns[HS_PART_COMM], comm);
        parts->ns[HS_PART_MEMORY] = hs_add_sat(parts->ns[HS_PART_MEMORY], t.ns[HS_SET_MEMORY]);
        parts->ns[HS_PART_IDLE] = hs_add_sat(parts->ns[HS_PART_IDLE], t.idle_ns);
    }
    return rc;
}
