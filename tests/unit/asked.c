#include "tests/unit/asked.h"

#include "tests/unit/fake_view.h"
#include "tests/unit/test.h"

#include <stdlib.h>
#include <string.h>

struct hs_table asked(struct json_trace *t, const char *analysis, const char *params)
{
    return fake_analyze(json_trace_load(t, 1), analysis, params);
}

void path_piece(const struct hs_table *x, size_t i, int64_t ts, int64_t dur, const char *cause, const char *name)
{
    ck_assert_uint_lt(i, x->rows);
    ck_assert_int_eq(table_i64(x, i, "ts_us"), ts);
    ck_assert_int_eq(table_i64(x, i, "dur_us"), dur);
    ck_assert_str_eq(table_text(x, i, "bound_by"), cause);
    ck_assert_str_eq(table_text(x, i, "name"), name);
}

char *report_text(struct hs_run *run, struct hs_report_options o)
{
    struct hs_buf out = HS_BUF_INIT(1 << 20);
    struct hs_err err = HS_ERR_INIT;
    ck_assert_msg(!hs_report(run, &o, &out, &err), "%s", err.text);
    return out.p;
}

json_t *report_json(struct json_trace *t, const struct hs_thresholds *limits)
{
    char *text = report_text(json_trace_load(t, 1), (struct hs_report_options){HS_REPORT_JSON, limits, false});
    json_t *j = json_loads(text, 0, NULL);
    ck_assert_ptr_nonnull(j);
    free(text);
    return j;
}

json_t *report_entry(json_t *report, const char *list, const char *id)
{
    json_t *x;
    size_t i;
    json_array_foreach(json_object_get(report, list), i, x)
    {
        if (!strcmp(json_string_value(json_object_get(x, "id")), id))
            return x;
    }
    return NULL;
}

const char *rule_state(json_t *report, const char *id)
{
    return json_string_value(json_object_get(report_entry(report, "rules", id), "state"));
}
