#include "report/report.h"

#include "analysis/analyses.h"
#include "analysis/select.h"
#include "report/write.h"

#include <stdlib.h>
#include <string.h>

const struct hs_cell *hs_report_cell(const struct hs_table *t, size_t row, const char *column)
{
    for (size_t c = 0; c < t->ncolumns; c++)
        if (!strcmp(t->columns[c].name, column))
            return hs_table_cell(t, row, c);
    return NULL;
}

static int ask_quality(struct hs_run *run, struct hs_table *out, struct hs_err *err)
{
    struct hs_params *p = NULL;
    int rc = hs_params_new(&p, hs_analysis_quality.params, hs_analysis_quality.nparams, err);
    if (!rc)
        rc = hs_analysis_run(&hs_analysis_quality, run, p, out, err);
    hs_params_free(p);
    return rc;
}

int hs_report(struct hs_run *run, enum hs_report_format format, struct hs_buf *out, struct hs_err *err)
{
    struct hs_facts facts = {0};
    struct hs_judgement judgement;
    struct hs_table quality;
    struct hs_run traces = hs_run_traces(run, NULL);
    int rc = hs_facts_take(&facts, &traces, err);
    if (rc)
        goto out;
    facts.whole = run;
    rc = ask_quality(run, &quality, err);
    if (rc)
        goto out;
    hs_judge(&facts, &judgement);
    if (format == HS_REPORT_JSON)
        hs_report_json(&facts, &judgement, &quality, out);
    else
        hs_report_md(&facts, &judgement, &quality, out);
    hs_table_free(&quality);
    rc = hs_buf_check(out, "the report", err);
out:
    hs_facts_free(&facts);
    free(traces.ranks);
    return rc;
}
