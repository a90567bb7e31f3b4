/* What the compat analyses share: HTA's rows of the ranks asked for, HTA's statistics, HTA's interval merge. */
#ifndef HS_ANALYSIS_HTA_QUERY_H
#define HS_ANALYSIS_HTA_QUERY_H

#include "analysis/hta.h"
#include "analysis/hta_rows.h"

#define HTA_COUNT(a) (sizeof(a) / sizeof *(a))

/* Columns that many tables have. */
#define HTA_RANK_COLUMN                                                \
    {                                                                  \
        "rank", HS_T_INT, "1", "rank, as HTA reads it out of the file" \
    }

enum hta_default_ranks { HTA_RANK_0, HTA_ALL_RANKS };

struct hta_query {
    struct hta_trace *t;
    const struct hta_rank **ranks; /* those asked for, in the order asked for */
    size_t n;
};

/* Gives `out` its columns, loads the run and finds the ranks of the parameter `rank`; missing ones become notes. */
int hta_query_open(struct hta_query *q, struct hs_run *run, const struct hs_params *params, enum hta_default_ranks def,
                   const struct hs_column_spec *columns, size_t ncolumns, struct hs_table *out, struct hs_err *err);
void hta_query_close(struct hta_query *q);
void hta_table(struct hs_table *out, const struct hs_column_spec *columns, size_t ncolumns);

/* ---- parameters, with HTA's default where the analysis does not declare one or it is not set ---- */
int64_t hta_int(const struct hs_params *p, const char *name, int64_t def);
double hta_real(const struct hs_params *p, const char *name, double def);
bool hta_flag(const struct hs_params *p, const char *name, bool def);
const char *hta_string(const struct hs_params *p, const char *name, const char *def);
const int64_t *hta_list(const struct hs_params *p, const char *name, size_t *n); /* NULL: not given */
bool hta_in_list(int64_t v, const int64_t *list, size_t n);

/* ---- cells ---- */
void hta_cell_id(struct hs_table *out, const struct hs_view *v, struct hs_id id); /* pid, tid: integer or text */
void hta_cell_pid(struct hs_table *out, const struct hta_rank *r, const struct hta_row *x);
void hta_cell_tid(struct hs_table *out, const struct hta_rank *r, const struct hta_row *x);
/* A text that occurs in many rows is copied into the table once. `memo` is zeroed before the first use of each text. */
void hta_cell_shared(struct hs_table *out, struct hs_cell *memo, struct hs_str text);

/* ---- samples ---- */
struct hta_samples {
    HS_VEC(double);
};
#define HTA_SAMPLES_MAX ((size_t)1 << 31)
#define HTA_SAMPLES_INIT HS_VEC_INIT(HTA_SAMPLES_MAX)

double hta_sum(const double *v, size_t n);
double hta_std(const double *v, size_t n); /* sample; NaN below two */
double hta_quantile(const double *v, size_t n,
                    double q);            /* of samples in any order; linear interpolation; NaN of none */
double hta_round(double v, int decimals); /* numpy's: scale, nearest even, scale back */
struct hta_describe {
    double count, mean, std, min, p25, p50, p75, max;
};
struct hta_describe hta_describe(double *v, size_t n); /* sorts v */
void hta_cell_describe(struct hs_table *out, const struct hta_describe *d,
                       int decimals); /* eight cells; -1: unrounded */

/* ---- intervals ---- */
struct hta_iv {
    long double a, b; /* whole numbers of 64 bits are exact */
};
struct hta_ivs {
    HS_VEC(struct hta_iv);
};
#define HTA_IVS_INIT HS_VEC_INIT(HS_MAX_EVENTS)

/* HTA's union: sorted by start, a new group where the start lies behind all ends so far; touching ones join, a negative
 * duration that stands alone stays negative. Rows on a stream, of the class, or of all (HTA_ANY_CLASS). */
#define HTA_ANY_CLASS UINT32_MAX
void hta_merge(const struct hta_trace *t, const struct hta_rank *r, uint32_t cls, struct hta_ivs *out);
long double hta_ivs_length(const struct hta_ivs *v);

#endif
