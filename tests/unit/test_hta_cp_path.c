/* compat critical path: the longest path of random graphs against every path there is. */
#include "analysis/hta_cp.h"
#include "tests/unit/json_trace.h"
#include "tests/unit/test.h"

#include <stdlib.h>
#include <string.h>

/* What an edge counts: HTA takes weights of -1 and less for 0. */
static double counts(const struct hta_cp_edge *e)
{
    return e->weight <= -1 ? 0 : e->weight;
}

/* The longest of all ways that lead to a node, starting anywhere. */
static double longest_to(const struct hta_cp *c, uint32_t node)
{
    double best = 0;
    for (size_t i = 0; i < c->edges.n; i++)
        if (c->edges.p[i].to == node) {
            double way = longest_to(c, c->edges.p[i].from) + counts(&c->edges.p[i]);
            best = way > best ? way : best;
        }
    return best;
}

/* The weight of the edge between two neighbours of the path; fails the test if there is none. */
static double between(const struct hta_cp *c, uint32_t from, uint32_t to)
{
    for (size_t i = 0; i < c->edges.n; i++)
        if (c->edges.p[i].from == from && c->edges.p[i].to == to)
            return counts(&c->edges.p[i]);
    ck_abort_msg("the path goes where no edge is");
    return 0;
}

START_TEST(longest_of_random_graphs)
{
    enum { NODES = 12 };
    uint32_t seed = 31 + (uint32_t)_i;
    struct hta_row row = {.stream = -1};
    struct hta_rank rank = {.n = 1, .rows = &row};
    struct hta_cp c;
    struct hs_table notes;
    hs_table_init(&notes, NULL, 0);
    hta_cp_init(&c, NULL, &rank);
    for (uint32_t k = 0; k < NODES; k++) /* numbers are no order of the edges: shuffled below */
        ck_assert(hs_vec_push(&c.nodes, ((struct hta_cp_node){0, 0, true})));
    uint32_t name[NODES];
    for (uint32_t k = 0; k < NODES; k++)
        name[k] = k;
    for (uint32_t k = NODES; k-- > 1;) {
        uint32_t j = draw_below(&seed, k + 1), x = name[k];
        name[k] = name[j];
        name[j] = x;
    }
    for (uint32_t from = 0; from < NODES; from++)
        for (uint32_t to = from + 1; to < NODES; to++)
            if (draw_below(&seed, 3) == 0) {
                struct hta_cp_edge e = {name[from], name[to], HTA_NONE, HTA_CP_OPERATOR,
                                        (double)draw_below(&seed, 40) - 8};
                ck_assert(hs_vec_push(&c.edges, e));
            }
    hta_cp_path(&c, &notes);
    ck_assert(c.ok);
    double best = 0, length = 0;
    for (uint32_t k = 0; k < NODES; k++) {
        double to = longest_to(&c, k);
        best = to > best ? to : best;
    }
    for (size_t i = 0; i + 1 < c.path.n; i++)
        length += between(&c, c.path.p[i], c.path.p[i + 1]);
    ck_assert_double_eq(length, best); /* whole numbers: exact */
    hta_cp_free(&c);
    hs_table_free(&notes);
}
END_TEST

HS_SUITE(hta_cp_path)
{
    HS_LOOP_TEST(longest_of_random_graphs, 0, 100);
}
