#include "cli/cli.h"
#include "cli/load.h"
#include "http/answer.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SET = 64 };

struct call {
    const char *format, *run, *other, *data, *describe;
    bool list;
    struct hs_pair set[MAX_SET];
    char *owned[MAX_SET]; /* the texts of `set` */
    size_t nset;
};

static int add_setting(struct call *c, const char *name, size_t n, const char *value, struct hs_err *err)
{
    if (c->nset == MAX_SET)
        return hs_fail(err, HS_EUSAGE, "there are more than %d settings", MAX_SET);
    c->owned[c->nset] = hs_strndup(name, n);
    c->set[c->nset] = (struct hs_pair){c->owned[c->nset], value};
    c->nset++;
    return HS_OK;
}

static int read_options(int argc, char **argv, struct call *c, bool *done, struct hs_err *err)
{
    static const struct option options[] = {
        {"set", required_argument, NULL, 's'},    {"format", required_argument, NULL, 'f'},
        {"compat", required_argument, NULL, 'c'}, {"run", required_argument, NULL, 'r'},
        {"other", required_argument, NULL, 'O'},  {"data", required_argument, NULL, 'd'},
        {"list", no_argument, NULL, 'l'},         {"describe", required_argument, NULL, 'D'},
        {"help", no_argument, NULL, 'h'},         {0}};
    int rc = HS_OK;
    for (int v; !rc && (v = hs_cli_option(argc, argv, options, &hs_cmd_analyze, done, err)) != -1;) {
        const char *eq = v == 's' ? strchr(optarg, '=') : NULL;
        switch (v) {
        case 's':
            rc = eq && eq > optarg ? add_setting(c, optarg, (size_t)(eq - optarg), eq + 1, err)
                                   : hs_fail(err, HS_EUSAGE, "--set takes key=value, not '%.60s'", optarg);
            break;
        case 'c': rc = add_setting(c, "compat", 6, optarg, err); break;
        case 'f': c->format = optarg; break;
        case 'r': c->run = optarg; break;
        case 'O': c->other = optarg; break;
        case 'd': c->data = optarg; break;
        case 'l': c->list = true; break;
        case 'D': c->describe = optarg; break;
        default: rc = HS_EUSAGE;
        }
    }
    return rc;
}

/* ---- --list and --describe ---- */

static bool wants_json(const struct call *c)
{
    return c->format && (!strcmp(c->format, "json") || !strcmp(c->format, "records"));
}

static int list(const struct call *c, struct hs_err *err)
{
    struct hs_buf b = HS_BUF_INIT(16u << 20);
    struct hs_json j = HS_JSON_INIT(&b);
    if (wants_json(c)) {
        hs_json_arr(&j);
        for (size_t i = 0; hs_analyses[i]; i++)
            hs_analysis_describe(hs_analyses[i], &j);
        hs_json_end(&j);
        hs_buf_putc(&b, '\n');
    } else {
        for (size_t i = 0; hs_analyses[i]; i++)
            hs_buf_printf(&b, "%-16s %s\n", hs_analyses[i]->name, hs_analyses[i]->summary);
    }
    int rc = hs_cli_write(b.p, b.n, err);
    hs_buf_free(&b);
    return rc;
}

static void describe_params(struct hs_buf *b, const struct hs_param_spec *p, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        hs_buf_printf(b, "  --set %s=…", p[i].name);
        if (p[i].choices)
            hs_buf_printf(b, "  (%s)", p[i].choices);
        if (p[i].unit && *p[i].unit)
            hs_buf_printf(b, "  [%s]", p[i].unit);
        if (p[i].def && *p[i].def)
            hs_buf_printf(b, "  default %s", p[i].def);
        hs_buf_printf(b, "\n      %s\n", p[i].doc);
    }
}

static int describe(const struct call *c, struct hs_err *err)
{
    const struct hs_analysis *a = hs_analysis_find(c->describe);
    if (!a)
        return hs_fail(err, HS_EUSAGE, "there is no analysis '%.60s'; holoscope analyze --list lists them",
                       c->describe);
    struct hs_buf b = HS_BUF_INIT(16u << 20);
    struct hs_json j = HS_JSON_INIT(&b);
    if (wants_json(c)) {
        hs_analysis_describe(a, &j);
        hs_buf_putc(&b, '\n');
    } else {
        hs_buf_printf(&b, "%s: %s\n\n%s\n\nparameters:\n", a->name, a->summary, a->doc);
        describe_params(&b, a->params, a->nparams);
        describe_params(&b, hs_common_params, hs_common_nparams);
        hs_buf_puts(&b, "\ncolumns:\n");
        for (size_t i = 0; i < a->ncolumns; i++)
            hs_buf_printf(&b, "  %-20s %s\n", a->columns[i].name, a->columns[i].doc);
    }
    int rc = hs_cli_write(b.p, b.n, err);
    hs_buf_free(&b);
    return rc;
}

/* ---- an analysis ---- */

/* What is asked about: one run, or for an analysis that compares, two: each a PATH, or each a run of the store. */
static int open_subjects(const struct call *c, const struct hs_analysis *a, char *const *paths, int n,
                         struct hs_subject s[2], struct hs_err *err)
{
    bool two = a->two_runs;
    if (two && !c->run && n != 2)
        return hs_fail(err, HS_EUSAGE, "%s compares two runs: name two PATHs, the base and then the test", a->name);
    if (two && c->run && !c->other)
        return hs_fail(err, HS_EUSAGE, "%s compares two runs: name the second one with --other", a->name);
    if (c->other && (!two || !c->run))
        return hs_fail(err, HS_EUSAGE, "--other goes with --run, for analyses that compare two runs");
    int rc = hs_subject_open(&s[0], paths, two && n ? 1 : n, c->run, c->data, err);
    if (!rc && two)
        rc = hs_subject_open(&s[1], paths + (n ? 1 : 0), n ? 1 : 0, c->other, c->data, err);
    if (!rc && two)
        s[0].run->other = s[1].run;
    return rc;
}

static int analyze(const struct call *c, const char *name, char *const *paths, int n, struct hs_err *err)
{
    const struct hs_analysis *a = hs_analysis_find(name);
    struct hs_params *p = NULL;
    struct hs_subject s[2];
    memset(s, 0, sizeof s);
    struct hs_buf out = HS_BUF_INIT(1u << 30);
    enum hs_format f = HS_F_RECORDS;
    if (!a)
        return hs_fail(err, HS_EUSAGE, "there is no analysis '%.60s'; holoscope analyze --list lists them", name);
    int rc = hs_answer_format(c->format, &f, err); /* what is wrong with the call is told before a trace is read */
    if (!rc)
        rc = hs_answer_params(a, c->set, c->nset, NULL, &p, err);
    if (!rc)
        rc = open_subjects(c, a, paths, n, s, err);
    if (!rc)
        rc = hs_answer(a, s[0].run, p, f, &out, err);
    if (!rc)
        rc = hs_cli_write(out.p, out.n, err);
    hs_buf_free(&out);
    hs_subject_close(&s[1]);
    hs_subject_close(&s[0]);
    hs_params_free(p);
    return rc;
}

static int run(int argc, char **argv, struct hs_err *err)
{
    struct call c = {0};
    bool done = false;
    int rc = read_options(argc, argv, &c, &done, err);
    if (!rc && !done) {
        if (c.list)
            rc = list(&c, err);
        else if (c.describe)
            rc = describe(&c, err);
        else if (optind == argc)
            rc = hs_fail(err, HS_EUSAGE,
                         "an analysis and a PATH are missing; holoscope analyze --list lists what there is");
        else
            rc = analyze(&c, argv[optind], argv + optind + 1, argc - optind - 1, err);
    }
    for (size_t i = 0; i < c.nset; i++)
        free(c.owned[i]);
    return rc;
}

const struct hs_command hs_cmd_analyze = {
    .name = "analyze",
    .summary = "one analysis of a run, as JSON, CSV or Markdown",
    .help =
        "usage: holoscope analyze NAME PATH... [--set key=value]... [--format records|columns|csv|md] [--compat hta]\n"
        "       holoscope analyze NAME BASE TEST [...]                   (diff, diff-ops)\n"
        "       holoscope analyze NAME --run NAME [--other NAME] [--data DIR] [...]\n"
        "       holoscope analyze --list | --describe NAME [--format json]\n\n"
        "Reads traces, keeps nothing on disk, and answers one question. PATH is a trace (.json, .json.gz,\n"
        ".zip, .tar, .zst), a folder whose traces are the ranks of one run, or - for stdin.\n\n"
        "  --list             what can be asked\n"
        "  --describe NAME    one analysis: parameters, columns, how it is computed\n"
        "  --set key=value    a parameter; may be repeated\n"
        "  --format FORMAT    records (JSON, default), columns (JSON by column), csv, md;\n"
        "                     flame also as folded (flamegraph.pl) and speedscope\n"
        "  --compat hta       the figures of HolisticTraceAnalysis 0.6\n"
        "  --run NAME         a run of the store instead of a PATH\n"
        "  --other NAME       the second run, for analyses that compare two\n"
        "  --data DIR         the store (default: $HOLOSCOPE_DATA, else ~/.local/share/holoscope)\n\n"
        "examples:\n"
        "  holoscope analyze kernels trace.json.gz --format md\n"
        "  holoscope analyze idle ranks/ --set rank=0,1 --format csv\n"
        "  holoscope analyze --describe temporal\n",
    .run = run,
};
