#include "trace/links.h"

#include <stdlib.h>
#include <string.h>

void hs_links_init(struct hs_links *l)
{
    memset(l, 0, sizeof *l);
    l->gpu.max = l->launches.max = l->steps.max = l->cats.max = l->ended.max = HS_MAX_EVENTS;
    l->sum.gpu_first_ts = l->sum.gpu_last_end = HS_NO_VALUE;
}

void hs_links_free(struct hs_links *l)
{
    free(l->parent);
    free(l->depth);
    free(l->step);
    hs_vec_free(&l->gpu);
    hs_vec_free(&l->launches);
    hs_vec_free(&l->steps);
    hs_vec_free(&l->cats);
    hs_vec_free(&l->ended);
    hs_links_init(l);
}
