/* What to try: a table of rules, each with its gate, its threshold and the numbers that let it speak. */
#ifndef HS_REPORT_ADVICE_H
#define HS_REPORT_ADVICE_H

#include "report/facts.h"

/* Calls `say` for each rule that applies, the most time at stake first. `id` is stable; `text` is one or two sentences. */
typedef void hs_say(void *ctx, const char *id, const char *text);
void hs_advise(const struct hs_facts *f, hs_say *say, void *ctx);

#endif
