/* The parameter `reweight` of critical-path-what-if: which work is to take how much of its time.
 *
 *     class:communication=0.5;name:gemm|conv=0.8;event:1234=0
 *
 * Items are joined by semicolons; the factor stands after the last '='. A class is compute, communication, memory, cpu or
 * data_loading (work), or launch, kernel_gap, sync or cpu_idle (delays); a name is a regular expression (PCRE2) found anywhere
 * in the event's name; an event is an event's number. Factors multiply. Empty: nothing. */
#ifndef HS_ANALYSIS_REWEIGHT_H
#define HS_ANALYSIS_REWEIGHT_H

#include "analysis/crit.h"
#include "analysis/name_filter.h"

#define HS_REWEIGHTS 64
#define HS_REWEIGHT_FACTOR_MAX 1000.0

struct hs_reweight {
    enum { HS_REWEIGHT_CLASS, HS_REWEIGHT_NAME, HS_REWEIGHT_EVENT } what;
    enum hs_crit_cause cause;
    struct hs_name_filter *name;
    uint32_t event;
    double factor;
};
struct hs_reweights {
    struct hs_reweight p[HS_REWEIGHTS];
    size_t n;
};
/* HS_EUSAGE: what is wrong with the text. Free it in either case. */
int hs_reweights_parse(struct hs_reweights *out, const char *text, struct hs_err *err);
void hs_reweights_free(struct hs_reweights *r);

#endif
