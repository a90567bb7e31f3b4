/* The registry of analyses. One file and one line here make an analysis: the REST route, its OpenAPI text, the
 * command-line form, its documentation and the web form all come from its entry.
 *
 * An analysis is a pure function from a run (the views of its ranks) and parameters to a table. It keeps no state,
 * writes nothing, and may run on any thread. No answer is not an error: it then returns 0 rows and a note that says
 * why. It must never print NaN, divide by zero or trust a trace. */
#ifndef HS_ANALYSIS_REGISTRY_H
#define HS_ANALYSIS_REGISTRY_H

#include "base/err.h"
#include "trace/table.h"
#include "trace/view.h"

enum hs_param_type {
    HS_P_INT, /* decimal integer within [min, max] */
    HS_P_REAL,
    HS_P_BOOL, /* true false 1 0 yes no */
    HS_P_TEXT,
    HS_P_CHOICE,   /* one of `choices`, separated by | */
    HS_P_INT_LIST, /* integers joined by commas */
    HS_P_TIME      /* µs, decimal, exact to the nanosecond; inside: ns */
};

struct hs_param_spec {
    const char *name;
    enum hs_param_type type;
    const char *unit;
    const char *def; /* as text; NULL: no default, absent means "all" or "not asked" */
    double min, max; /* for INT and REAL; both 0: no range */
    const char *choices;
    const char *doc;
};

/* Parameters every analysis takes, checked and applied by the registry (hs_common_params): rank (list), step (list),
 * from, to (µs on the run's clock), compat ("" or "hta"). An analysis that cannot apply one says so in a note. */
extern const struct hs_param_spec hs_common_params[];
extern const size_t hs_common_nparams;

struct hs_params;
/* Takes the parameters of an analysis and, always, the common ones; both stay the caller's and must outlive it. */
int hs_params_new(struct hs_params **out, const struct hs_param_spec *specs, size_t n, struct hs_err *err);
void hs_params_free(struct hs_params *p);
/* Sets one from text; HS_EUSAGE with the allowed values in the message for an unknown name or a bad value. An empty
 * value takes the setting back (web forms send those). Lists also take ranges (0,4-7). */
int hs_params_set(struct hs_params *p, const char *name, const char *value, struct hs_err *err);
bool hs_param_declared(const struct hs_params *p,
                       const char *name); /* there is such a parameter; the others ask only for those */
bool hs_param_given(const struct hs_params *p, const char *name);  /* set by the caller (not a default) */
bool hs_param_has(const struct hs_params *p, const char *name);    /* set or has a default */
int64_t hs_param_i64(const struct hs_params *p, const char *name); /* INT, TIME (ns), BOOL */
double hs_param_f64(const struct hs_params *p, const char *name);
bool hs_param_bool(const struct hs_params *p, const char *name);
const char *hs_param_text(const struct hs_params *p, const char *name); /* NULL if absent */
const int64_t *hs_param_list(const struct hs_params *p, const char *name, size_t *n);
/* Canonical "name=value&…" of all that is set or has a default, sorted by name: for ETags, caches and the envelope. */
void hs_params_canonical(const struct hs_params *p, struct hs_buf *out);
/* The same as a JSON object, for the envelope's "params". */
struct hs_json;
void hs_params_json(const struct hs_params *p, struct hs_json *j);

struct hs_analysis {
    const char *name;    /* stable, lower-case with dashes */
    const char *summary; /* one line */
    const char *doc;     /* how it is computed, formula and source, what it cannot tell; Markdown */
    int version;         /* raised when its answers change: part of the ETag */
    const struct hs_param_spec *params;
    size_t nparams;
    const struct hs_column_spec *columns;
    size_t ncolumns;
    /* `out` is initialised with the columns above; the function may set other ones first (compat forms). */
    int (*run)(struct hs_run *run, const struct hs_params *params, struct hs_table *out, struct hs_err *err);
    /* The same as HolisticTraceAnalysis 0.6 answers (compat=hta); NULL: there is no such form. */
    int (*run_hta)(struct hs_run *run, const struct hs_params *params, struct hs_table *out, struct hs_err *err);
    /* It answers for memory timelines (trace/view.h) too; the others see only the traces beside them, if there are any. */
    bool memory_timelines;
    bool two_runs; /* compares run (the base) with run->other; hs_analysis_run refuses a call without the second */
};

extern const struct hs_analysis *const hs_analyses[]; /* in order of documentation, NULL at the end */
const struct hs_analysis *hs_analysis_find(const char *name);

/* Selects the ranks and runs it. *out is initialised here (hs_table_free it); on failure there is nothing to free.
 * HS_EUSAGE: a parameter that does not fit (from after to, compat=hta where there is no such form). */
int hs_analysis_run(const struct hs_analysis *a, struct hs_run *run, const struct hs_params *params,
                    struct hs_table *out, struct hs_err *err);

/* The registry entry as JSON (for --describe, /api/v1/analyses and OpenAPI): {"name","summary","doc","version","compat",
 * "params":[{"name","type","unit","default","min","max","choices","doc","common"}],"columns":[{"name","type","unit","doc"}]}. */
void hs_analysis_describe(const struct hs_analysis *a, struct hs_json *j);

#endif
