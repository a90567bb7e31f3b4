/* diff: two runs compared, and for CI a judgement: slower, not slower, or the steps cannot tell. */
#include "analysis/compare.h"

#include "cli/cli.h"
#include "cli/load.h"
#include "http/answer.h"

#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SET = 64 };

struct call {
    const char *format, *data;
    bool judge;
    double limit; /* share of the base's step time */
    struct hs_pair set[MAX_SET];
    char *owned[MAX_SET];
    size_t nset;
};

static int read_limit(const char *text, struct call *c, struct hs_err *err)
{
    char *end;
    double v = strtod(text, &end);
    if (end == text || (*end && strcmp(end, "%") != 0) || !isfinite(v) || v < 0)
        return hs_fail(err, HS_EUSAGE, "--fail-over takes a share of the step time in percent, as 5%%, not '%.40s'",
                       text);
    c->judge = true;
    c->limit = v / 100;
    return HS_OK;
}

static int read_setting(const char *text, struct call *c, struct hs_err *err)
{
    const char *eq = strchr(text, '=');
    if (!eq || eq == text)
        return hs_fail(err, HS_EUSAGE, "--set takes key=value, not '%.60s'", text);
    if (c->nset == MAX_SET)
        return hs_fail(err, HS_EUSAGE, "there are more than %d settings", MAX_SET);
    c->owned[c->nset] = hs_strndup(text, (size_t)(eq - text));
    c->set[c->nset] = (struct hs_pair){c->owned[c->nset], eq + 1};
    c->nset++;
    return HS_OK;
}

static int read_options(int argc, char **argv, struct call *c, bool *done, struct hs_err *err)
{
    static const struct option options[] = {{"fail-over", required_argument, NULL, 'F'},
                                            {"set", required_argument, NULL, 's'},
                                            {"format", required_argument, NULL, 'f'},
                                            {"data", required_argument, NULL, 'd'},
                                            {"help", no_argument, NULL, 'h'},
                                            {0}};
    int rc = HS_OK;
    for (int v; !rc && (v = hs_cli_option(argc, argv, options, &hs_cmd_diff, done, err)) != -1;) {
        switch (v) {
        case 'F': rc = read_limit(optarg, c, err); break;
        case 's': rc = read_setting(optarg, c, err); break;
        case 'f': c->format = optarg; break;
        case 'd': c->data = optarg; break;
        default: rc = HS_EUSAGE;
        }
    }
    return rc;
}

/* The judgement becomes the exit status; its sentence stands on stderr. */
static int judge(const struct call *c, struct hs_run *run, const struct hs_params *p, struct hs_err *err)
{
    struct hs_step_time t[2];
    int rc = hs_compare_step_time(run, p, 0, &t[0], err);
    if (!rc)
        rc = hs_compare_step_time(run->other, p, 1, &t[1], err);
    if (rc)
        return rc;
    struct hs_judgement j = hs_compare_judge(&t[0], &t[1], c->limit);
    if (j.verdict == HS_WITHIN)
        return HS_OK;
    if (j.verdict == HS_OVER)
        return hs_fail(err, HS_EINPUT, "slower: the step time rose by %.2f %% (95 %% sure of %.2f %%), limit %.2f %%",
                       100 * j.change, 100 * j.low, 100 * c->limit);
    if (t[0].n < 2 || t[1].n < 2)
        return hs_fail(err, HS_EUNDECIDED,
                       "inconclusive: it takes two profiler steps on both sides to judge; there are %zu and %zu",
                       t[0].n, t[1].n);
    return hs_fail(
        err, HS_EUNDECIDED,
        "inconclusive: the step time changed by %.2f %%, but the steps vary so much that it may be %.2f %% to "
        "%.2f %%; record more steps",
        100 * j.change, 100 * j.low, 100 * j.high);
}

static int open_side(struct hs_subject *s, char **what, const char *data, struct hs_err *err)
{
    return data ? hs_subject_open(s, NULL, 0, *what, data, err) : hs_subject_open(s, what, 1, NULL, NULL, err);
}

static int compare(const struct call *c, char **what, struct hs_err *err)
{
    const struct hs_analysis *a = hs_analysis_find("diff");
    struct hs_params *p = NULL;
    struct hs_subject base, test;
    struct hs_buf out = HS_BUF_INIT(1u << 30);
    enum hs_format f = HS_F_MD;
    memset(&base, 0, sizeof base);
    memset(&test, 0, sizeof test);
    int rc = c->format ? hs_answer_format(c->format, &f, err) : HS_OK;
    if (!rc)
        rc = hs_answer_params(a, c->set, c->nset, NULL, &p, err);
    if (!rc)
        rc = open_side(&base, &what[0], c->data, err);
    if (!rc)
        rc = open_side(&test, &what[1], c->data, err);
    if (!rc) {
        base.run->other = test.run;
        rc = hs_answer(a, base.run, p, f, &out, err);
    }
    if (!rc)
        rc = hs_cli_write(out.p, out.n, err);
    if (!rc && c->judge)
        rc = judge(c, base.run, p, err);
    hs_buf_free(&out);
    hs_subject_close(&test);
    hs_subject_close(&base);
    hs_params_free(p);
    return rc;
}

static int run(int argc, char **argv, struct hs_err *err)
{
    struct call c = {0};
    bool done = false;
    int rc = read_options(argc, argv, &c, &done, err);
    if (!rc && !done) {
        if (argc - optind != 2)
            rc =
                hs_fail(err, HS_EUSAGE, "diff takes two runs, the base and then the test; holoscope diff --help tells");
        else
            rc = compare(&c, argv + optind, err);
    }
    for (size_t i = 0; i < c.nset; i++)
        free(c.owned[i]);
    return rc;
}

const struct hs_command hs_cmd_diff = {
    .name = "diff",
    .summary = "two runs compared; --fail-over 5% for CI",
    .help =
        "usage: holoscope diff BASE TEST [--fail-over PERCENT] [--set key=value]... [--format md|csv|records|columns]\n"
        "       holoscope diff BASE TEST --data DIR [...]\n\n"
        "What changed from BASE to TEST: events and time by name, per step and rank, the largest difference\n"
        "first, and the step times with their spread. BASE and TEST are traces or folders whose traces are\n"
        "the ranks of one run; with --data, the names of runs of that store.\n\n"
        "  --fail-over 5%     judge the step time: exit 1 if it rose by more than this, 0 if not, 4 if the\n"
        "                     steps vary too much or are too few to tell (Welch's t test, 95 %)\n"
        "  --set key=value    a parameter of the analysis diff: by=position, by=part, test_iteration=3-5, …\n"
        "                     (holoscope analyze --describe diff)\n"
        "  --format FORMAT    md (default), csv, records, columns\n"
        "  --data DIR         the store\n\n"
        "examples:\n"
        "  holoscope diff before/ after/ --set by=part\n"
        "  holoscope diff main.json.gz branch.json.gz --fail-over 5% >diff.md\n",
    .run = run,
};
