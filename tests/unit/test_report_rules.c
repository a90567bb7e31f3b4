/* The report's rules: what applies, what is well, what cannot be judged; thresholds; the page. */
#include "tests/unit/asked.h"
#include "tests/unit/fake_view.h"
#include "tests/unit/test.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static struct json_trace t;

/* CPU      |launch A 0-1|item 2-31 (sync 3-30)|op 31-48|launch B 49-50|
 * stream 7   |A 10 ----- 30|                                  |B 60 -- 110|     us; span 100, idle 30, all of it after the hidden sync:
 * 30-31 item, 31-48 op and 48-49 nothing, 49-60 launch */
static void story(void)
{
    json_trace_begin(&t, 0);
    trace_launch(&t, "cudaLaunchKernel", 1, 100, 900, 1);
    trace_cpu(&t, "cpu_op", "aten::item", 1, 2000, 29000);
    trace_launch(&t, "cudaStreamSynchronize", 1, 3000, 27000, 2);
    trace_cpu(&t, "cpu_op", "aten::view", 1, 31000, 17000);
    trace_launch(&t, "cudaLaunchKernel", 1, 49000, 1000, 3);
    trace_kernel(&t, "A", 0, 7, 10000, 20000, 1);
    trace_kernel(&t, "B", 0, 7, 60000, 50000, 3);
}

START_TEST(three_states)
{
    story();
    json_t *j = report_json(&t, NULL), *sync = report_entry(j, "recommendations", "hidden-syncs");
    ck_assert_ptr_nonnull(sync);
    ck_assert_double_eq(json_number_value(json_object_get(sync, "gain_us")), 30);
    ck_assert_double_eq(json_number_value(json_object_get(sync, "gain_pct")), 30);
    ck_assert_str_eq(json_string_value(json_object_get(json_object_get(sync, "evidence"), "analysis")), "syncs");
    ck_assert_ptr_nonnull(strstr(json_string_value(json_object_get(sync, "detail")), "aten::item"));
    json_t *shown = json_array_get(json_object_get(sync, "events"), 0);
    ck_assert_uint_eq(json_array_size(json_object_get(sync, "events")), 1);
    ck_assert_int_eq(json_integer_value(json_object_get(shown, "event")), 3); /* origin, launch, item, the sync in it */
    ck_assert_str_eq(json_string_value(json_object_get(shown, "name")), "cudaStreamSynchronize");
    ck_assert_str_eq(rule_state(j, "late-launches"), "applies");
    ck_assert_str_eq(rule_state(j, "exposed-communication"), "ok");
    ck_assert_double_eq(json_number_value(json_object_get(report_entry(j, "rules", "exposed-communication"), "value")),
                        0);
    ck_assert_str_eq(rule_state(j, "slow-rank"), "cannot_answer"); /* one rank */
    ck_assert(json_is_null(json_object_get(report_entry(j, "rules", "slow-rank"), "value")));
    ck_assert_ptr_nonnull(strstr(json_string_value(json_object_get(j, "main_finding")), "hidden in operators (30.0 %"));
    ck_assert_uint_eq(json_array_size(json_object_get(j, "rules")), HS_RULES);
    json_decref(j);
    json_trace_end(&t, 1);
}
END_TEST

/* Problems, then hints, then what is about the recording; of each what could be gained most stands first. */
START_TEST(ordered_by_what_can_be_gained)
{
    story();
    json_t *j = report_json(&t, NULL), *list = json_object_get(j, "recommendations"), *r;
    double last = 0;
    int group = -1;
    size_t i;
    json_array_foreach(list, i, r)
    {
        const char *severity = json_string_value(json_object_get(r, "severity"));
        int g = !strcmp(severity, "problem") ? 0 : !strcmp(severity, "hint") ? 1 : 2;
        ck_assert_int_ge(g, group);
        if (g > group)
            last = 1e18;
        group = g;
        ck_assert_double_le(json_number_value(json_object_get(r, "gain_us")), last);
        last = json_number_value(json_object_get(r, "gain_us"));
    }
    ck_assert_uint_gt(json_array_size(list), 1);
    ck_assert_str_eq(json_string_value(json_object_get(json_array_get(list, json_array_size(list) - 1), "id")),
                     "no-steps");
    json_decref(j);
    json_trace_end(&t, 1);
}
END_TEST

START_TEST(thresholds_can_be_set)
{
    struct hs_thresholds limits;
    struct hs_err err = HS_ERR_INIT;
    hs_thresholds_init(&limits);
    ck_assert_int_eq(hs_thresholds_set(&limits, "hidden-syncs=30.5", &err), HS_OK);
    story();
    json_t *j = report_json(&t, &limits);
    ck_assert_str_eq(rule_state(j, "hidden-syncs"), "ok");
    ck_assert_double_eq(json_number_value(json_object_get(report_entry(j, "rules", "hidden-syncs"), "threshold")),
                        30.5);
    json_decref(j);
    json_trace_end(&t, 1);
    static const char *const bad[] = {"",
                                      "=1",
                                      "nonsense=1",
                                      "hidden-syncs",
                                      "hidden-syncs=",
                                      "hidden-syncs=x",
                                      "hidden-syncs=-1",
                                      "hidden-syncs=nan"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        ck_assert_int_eq(hs_thresholds_set(&limits, bad[i], &err), HS_EUSAGE);
}
END_TEST

/* Two graph launches without their kernels: the gap of 30 us in 100 may have been full of work. */
START_TEST(lost_graphs_forbid_claims)
{
    story();
    trace_launch(&t, "cudaGraphLaunch", 1, 70000, 1000, 8);
    trace_launch(&t, "cudaGraphLaunch", 1, 72000, 1000, 9);
    json_t *j = report_json(&t, NULL);
    ck_assert_str_eq(json_string_value(json_object_get(json_object_get(j, "bottleneck"), "verdict")), "cannot tell");
    ck_assert_ptr_nonnull(
        strstr(json_string_value(json_object_get(j, "main_finding")), "2 launches have no device work"));
    ck_assert_str_eq(rule_state(j, "hidden-syncs"), "cannot_answer");
    ck_assert_str_eq(rule_state(j, "late-launches"), "cannot_answer");
    ck_assert_str_eq(rule_state(j, "exposed-copies"), "ok"); /* says nothing about idle time */
    ck_assert(json_is_null(json_object_get(json_object_get(j, "summary"), "idle_pct")));
    ck_assert(json_is_null(
        json_object_get(json_array_get(json_object_get(json_object_get(j, "bottleneck"), "figures"), 0), "value_pct")));
    json_decref(j);
    char *md = report_text(t.run, (struct hs_report_options){HS_REPORT_MD, NULL, false});
    ck_assert_ptr_null(strstr(md, ", idle "));
    ck_assert_ptr_null(strstr(md, "waiting for the CPU to launch work, of"));
    free(md);
    json_trace_end(&t, 1);
}
END_TEST

START_TEST(cpu_only_says_what_to_record)
{
    json_trace_begin(&t, 0);
    trace_cpu(&t, "cpu_op", "aten::add", 1, 1000, 1000);
    json_t *j = report_json(&t, NULL);
    ck_assert_str_eq(rule_state(j, "data-loading"), "cannot_answer");
    ck_assert_ptr_nonnull(strstr(json_string_value(json_object_get(report_entry(j, "rules", "data-loading"), "reason")),
                                 "ProfilerActivity.CUDA"));
    ck_assert_ptr_nonnull(report_entry(j, "recommendations", "no-gpu-activity"));
    json_decref(j);
    json_trace_end(&t, 1);
}
END_TEST

START_TEST(markdown_and_html)
{
    story();
    trace_kernel(&t, "<script>alert(1)</script>", 0, 7, 110000, 1000, 77);
    struct hs_run *run = json_trace_load(&t, 1);
    char *md = report_text(run, (struct hs_report_options){HS_REPORT_MD, NULL, false}),
         *html = report_text(run, (struct hs_report_options){HS_REPORT_HTML, NULL, false});
    ck_assert_ptr_nonnull(strstr(md, "**Main Finding:**"));
    ck_assert_ptr_nonnull(strstr(md, "| % Time | Calls | Avg (μs) | Kernel |"));
    ck_assert_ptr_nonnull(strstr(md, "### Bottleneck"));
    ck_assert_ptr_nonnull(strstr(md, "### Recommendations\n\n1. **"));
    ck_assert_ptr_nonnull(strstr(md, "### Not judged"));
    ck_assert_ptr_nonnull(strstr(html, "<!doctype html>"));
    ck_assert_ptr_null(strstr(html, "<script"));
    ck_assert_ptr_nonnull(strstr(html, "&lt;script&gt;"));
    ck_assert_ptr_nonnull(strstr(md, "Evidence: `holoscope analyze syncs --set by=site`; events: cudaStreamSynchronize "
                                     "(rank 0, event 3 at 0.003 ms)."));
    ck_assert_ptr_null(strstr(md, "]("));
    ck_assert_ptr_null(strstr(html, "<a "));
    free(md);
    free(html);
    /* where a server has the run, everything is a link to it */
    md = report_text(run, (struct hs_report_options){HS_REPORT_MD, NULL, true});
    html = report_text(run, (struct hs_report_options){HS_REPORT_HTML, NULL, true});
    ck_assert_ptr_nonnull(strstr(md, "/syncs?by=site); events: "));
    ck_assert_ptr_nonnull(strstr(md, "/kernels?name=%5E%5CQB%5CE%24)"));
    ck_assert_ptr_nonnull(strstr(md, "/events/3) (rank 0, event 3"));
    ck_assert_ptr_nonnull(strstr(html, "/syncs?by=site\">"));
    ck_assert_ptr_nonnull(strstr(html, "/events/3\">cudaStreamSynchronize</a>"));
    free(md);
    free(html);
    json_trace_end(&t, 1);
}
END_TEST

/* The table is data: ids are unique, every analysis and parameter of an evidence exists. */
START_TEST(the_table_is_sound)
{
    for (size_t i = 0; i < HS_RULES; i++) {
        const struct hs_rule *r = &hs_rules[i];
        const struct hs_analysis *a = hs_analysis_find(r->analysis);
        ck_assert_msg(a != NULL, "%s: no analysis %s", r->id, r->analysis);
        ck_assert_msg(hs_analysis_find(r->next) != NULL, "%s: no analysis %s", r->id, r->next);
        ck_assert_ptr_nonnull(hs_figure_docs[r->figure].name);
        for (size_t k = 0; k < i; k++)
            ck_assert_str_ne(hs_rules[k].id, r->id);
        const char *eq = strchr(r->params, '=');
        if (eq) {
            struct hs_params *p;
            struct hs_err err = HS_ERR_INIT;
            char name[64];
            snprintf(name, sizeof name, "%.*s", (int)(eq - r->params), r->params);
            ck_assert_int_eq(hs_params_new(&p, a->params, a->nparams, &err), HS_OK);
            ck_assert_msg(!hs_params_set(p, name, eq + 1, &err), "%s: %s", r->id, err.text);
            hs_params_free(p);
        }
    }
}
END_TEST

HS_SUITE(report_rules)
{
    HS_TEST(three_states);
    HS_TEST(ordered_by_what_can_be_gained);
    HS_TEST(thresholds_can_be_set);
    HS_TEST(lost_graphs_forbid_claims);
    HS_TEST(cpu_only_says_what_to_record);
    HS_TEST(markdown_and_html);
    HS_TEST(the_table_is_sound);
}
