/* A user's regular expression over event names: PCRE2 with JIT, and with limits, as the pattern comes from a stranger. */
#ifndef HS_ANALYSIS_NAME_FILTER_H
#define HS_ANALYSIS_NAME_FILTER_H

#include "base/mem.h"

struct hs_name_filter;

/* `pattern` NULL: *out = NULL, which matches everything. HS_EUSAGE with the place of the fault for a bad pattern. */
int hs_name_filter_new(struct hs_name_filter **out, const char *pattern, struct hs_err *err);
void hs_name_filter_free(struct hs_name_filter *f);

/* True if the pattern is found anywhere in the name. A match that runs into the limits counts as none, and is counted. */
bool hs_name_matches(struct hs_name_filter *f, struct hs_str name);
size_t hs_name_filter_gave_up(const struct hs_name_filter *f);

#endif
