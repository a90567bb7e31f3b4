/* Patterns: an operator and the kernels it launched, in order; equal ones are one. Shared by op-launch-delays and
 * kernel-sequences.
 *
 * A pattern may be thousands of kernels long, so it is known by a number here and by an id of 16 hex digits outside: a hash
 * (XXH3, each name with the hash of those before it as the seed) of the names, so that a pattern has the same id in every rank, run and program. Its text is cut. */
#ifndef HS_ANALYSIS_PATTERNS_H
#define HS_ANALYSIS_PATTERNS_H

#include "base/intern.h"
#include "trace/table.h"
#include "trace/view.h"

struct hs_patterns {
    const struct hs_view *view;
    struct hs_intern set; /* the symbols of each pattern as bytes; number 0 is the empty one and no pattern */
};

void hs_patterns_init(struct hs_patterns *p, const struct hs_view *view);
void hs_patterns_free(struct hs_patterns *p);

/* symbols[0] is the operator, the others its kernels. HS_NO_SYM when there are more patterns than fit. */
uint32_t hs_pattern_add(struct hs_patterns *p, const uint32_t *symbols, size_t n);

size_t hs_pattern_kernels(const struct hs_patterns *p, uint32_t pattern);
uint32_t hs_pattern_operator(const struct hs_patterns *p, uint32_t pattern); /* symbol */
uint64_t hs_pattern_hash(const struct hs_patterns *p, uint32_t pattern);

/* Four cells: id, operator, number of kernels, their short names joined by " -> ", runs of one name as "name (x3)", cut after
 * about HS_PATTERN_TEXT bytes with "... (n more)". */
#define HS_PATTERN_TEXT 2000
void hs_pattern_cells(const struct hs_patterns *p, uint32_t pattern, struct hs_buf *scratch, struct hs_table *out);
#define HS_PATTERN_COLUMNS                                                                                             \
    {"pattern_id", HS_T_TEXT, "", "16 hex digits: the same for the same operator and kernels, in every rank and run"}, \
        {"operator", HS_T_TEXT, "", "name of the operator"},                                                           \
        {"kernels", HS_T_INT, "1", "device activities in the sequence"},                                               \
    {                                                                                                                  \
        "sequence", HS_T_TEXT, "", "their short names in order, repeats as (xN), cut when very long"                   \
    }

#endif
