/* Random call trees with launches and kernels, for property tests: the tree is known from how it was made, not from times. */
#ifndef HS_TESTS_SIM_TREE_H
#define HS_TESTS_SIM_TREE_H

#include "tests/unit/json_trace.h"

struct sim_node {
    int parent; /* index, -1 at the top */
    int tid, corr;
    int64_t ts, dur;
    const char *name, *cat; /* a cuda_runtime node is a launch */
    uint32_t event;         /* in the unshuffled file */
};
struct sim_kernel {
    int launch; /* node */
    int stream;
    int64_t ts, dur;
    const char *name;
};
struct sim_tree {
    struct sim_node node[600];
    struct sim_kernel kernel[600];
    int nodes, kernels;
};

/* Two threads of operators, annotations and python frames; launches with none to three kernels. */
void sim_tree_fill(struct sim_tree *s, struct json_trace *t, uint32_t seed);

/* Is node b a or above a? (a < 0: no) */
bool sim_above(const struct sim_tree *s, int a, int b);

#endif
