#include "report/overview.h"

#include "cli/cli.h"
#include "cli/config.h"
#include "cli/keep.h"
#include "http/answer.h"

#include <getopt.h>
#include <string.h>

static int list_rules(const struct hs_thresholds *t, const char *format, struct hs_err *err)
{
    struct hs_buf out = HS_BUF_INIT(1u << 20);
    struct hs_envelope e = {.analysis = "rules", .run = "", .params_json = "{}"};
    enum hs_format f = HS_F_MD;
    struct hs_table table;
    int rc = format ? hs_answer_format(format, &f, err) : HS_OK;
    if (rc)
        return rc;
    hs_rules_table(t, &table);
    rc = hs_render_table(&table, &e, f, &out, err);
    if (!rc)
        rc = hs_cli_write(out.p, out.n, err);
    hs_table_free(&table);
    hs_buf_free(&out);
    return rc;
}

/* Thresholds of the settings, then those of the command line, which is nearer. */
static int read_thresholds(struct hs_thresholds *t, const char *const *given, size_t n, struct hs_err *err)
{
    struct hs_config config;
    int rc = hs_config_open(&config, NULL, err);
    if (!rc)
        rc = hs_config_thresholds(&config, t, err);
    hs_config_free(&config);
    for (size_t i = 0; i < n && !rc; i++)
        rc = hs_thresholds_set(t, given[i], err);
    return rc;
}

static int run(int argc, char **argv, struct hs_err *err)
{
    static const struct option options[] = {{"format", required_argument, NULL, 'f'},
                                            {"run", required_argument, NULL, 'r'},
                                            {"data", required_argument, NULL, 'd'},
                                            {"threshold", required_argument, NULL, 't'},
                                            {"cache", optional_argument, NULL, 'c'},
                                            {"rules", no_argument, NULL, 'u'},
                                            {"overview", no_argument, NULL, 'O'},
                                            {"help", no_argument, NULL, 'h'},
                                            {0}};
    const char *format = NULL, *name = NULL, *data = NULL, *choice = NULL;
    bool done = false, rules = false, overview = false, cache = false, keep = false;
    const char *given[4 * HS_RULES];
    size_t ngiven = 0;
    struct hs_thresholds thresholds;
    for (int v; (v = hs_cli_option(argc, argv, options, &hs_cmd_report, &done, err)) != -1;) {
        switch (v) {
        case 'f': format = optarg; break;
        case 'r': name = optarg; break;
        case 'd': data = optarg; break;
        case 't':
            if (ngiven == sizeof given / sizeof given[0])
                return hs_fail(err, HS_EUSAGE, "--threshold is given more than %zu times", ngiven);
            given[ngiven++] = optarg;
            break;
        case 'c':
            cache = true;
            choice = optarg;
            break;
        case 'u': rules = true; break;
        case 'O': overview = true; break;
        default: return HS_EUSAGE;
        }
    }
    int rc = done ? HS_OK : read_thresholds(&thresholds, given, ngiven, err);
    if (done || rc)
        return rc;
    if (rules)
        return list_rules(&thresholds, format, err);
    int f = hs_report_format_parse(format ? format : "md");
    if (f < 0)
        return hs_fail(err, HS_EUSAGE, "there is no format '%.40s' of the report; there are md, json and html", format);
    struct hs_subject s;
    struct hs_buf out = HS_BUF_INIT(256u << 20);
    if (cache)
        rc = hs_cli_ask_cache(choice, argv + optind, argc - optind, &keep, err);
    if (!rc)
        rc = keep ? hs_subject_keep(&s, argv + optind, argc - optind, name, data, err)
                  : hs_subject_open(&s, argv + optind, argc - optind, cache ? NULL : name, cache ? NULL : data, err);
    if (rc)
        return rc;
    rc = overview
             ? hs_report_overview(s.run, (enum hs_report_format)f, &out, err)
             : hs_report(s.run, &(struct hs_report_options){(enum hs_report_format)f, &thresholds, false}, &out, err);
    if (!rc)
        rc = hs_buf_check(&out, "the report", err);
    if (!rc)
        rc = hs_cli_write(out.p, out.n, err);
    hs_buf_free(&out);
    hs_subject_close(&s);
    return rc;
}

const struct hs_command hs_cmd_report = {
    .name = "report",
    .summary = "summary, top kernels and the bottleneck of a run",
    .help =
        "usage: holoscope report PATH... [--format md|json|html]\n"
        "       holoscope report --run NAME [--data DIR] [--format md|json|html]\n\n"
        "Reads traces, keeps nothing on disk, and writes what took the time and what to do about it.\n"
        "PATH is a trace (.json, .json.gz, .zip, .tar, .zst), a folder whose traces are the ranks of one\n"
        "run, or - for stdin.\n\n"
        "  --format FORMAT    md (Markdown, default), json or html\n"
        "  --threshold RULE=N judge a rule by another threshold; may be given several times\n"
        "  --overview         only what was counted while reading, and the longest kernels (md, json)\n"
        "  --rules            list the rules with their thresholds and sources instead (--format md, csv, …)\n"
        "  --cache[=yes|no]   keep the traces in the store as well; by itself it asks, and refuses without a terminal\n"
        "  --run NAME         a run of the store instead of a PATH\n"
        "  --data DIR         the store (default: $HOLOSCOPE_DATA, else ~/.local/share/holoscope)\n\n"
        "examples:\n"
        "  holoscope report trace.json.gz\n"
        "  holoscope report ranks/ --format json | jq .summary\n"
        "  curl -s https://example.org/trace.json.gz | holoscope report -\n",
    .run = run,
};
