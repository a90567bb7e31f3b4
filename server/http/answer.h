/* answer: one question to the registry, from text to text: parameters, the run, the table, its rendering. The HTTP routes
 * and the command line both ask here, so they cannot differ. */
#ifndef HS_HTTP_ANSWER_H
#define HS_HTTP_ANSWER_H

#include "analysis/registry.h"
#include "http/uri.h"
#include "render/render.h"

/* Parameters of `a` from n pairs; those named in `skip` (NULL-terminated) are not the analysis' business. */
int hs_answer_params(const struct hs_analysis *a, const struct hs_pair *kv, size_t n, const char *const *skip,
                     struct hs_params **out, struct hs_err *err);

/* "records" (also "json"), "columns", "csv", "md"; NULL is records. */
int hs_answer_format(const char *name, enum hs_format *out, struct hs_err *err);

/* Runs it and renders the table into `out`. */
int hs_answer(const struct hs_analysis *a, struct hs_run *run, const struct hs_params *p, enum hs_format f,
              struct hs_buf *out, struct hs_err *err);

/* Renders an SQL answer under the same envelope. */
struct hs_sql_limits;
int hs_answer_sql(struct hs_view *v, const char *query, const struct hs_sql_limits *limits, enum hs_format f,
                  struct hs_buf *out, struct hs_err *err);

/* The same of an execution trace joined with a rank of the run (rank NULL: its only one). */
struct hs_et;
int hs_answer_execution_trace(const struct hs_et *et, struct hs_run *run, const int64_t *rank, enum hs_format f,
                              struct hs_buf *out, struct hs_err *err);

#endif
