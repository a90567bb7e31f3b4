#include "report/report.h"

#include "cli/cli.h"
#include "cli/load.h"

#include <getopt.h>
#include <string.h>

static int run(int argc, char **argv, struct hs_err *err)
{
    static const struct option options[] = {{"format", required_argument, NULL, 'f'},
                                            {"run", required_argument, NULL, 'r'},
                                            {"data", required_argument, NULL, 'd'},
                                            {"help", no_argument, NULL, 'h'},
                                            {0}};
    const char *format = "md", *name = NULL, *data = NULL;
    bool done = false;
    for (int v; (v = hs_cli_option(argc, argv, options, &hs_cmd_report, &done, err)) != -1;) {
        switch (v) {
        case 'f': format = optarg; break;
        case 'r': name = optarg; break;
        case 'd': data = optarg; break;
        default: return HS_EUSAGE;
        }
    }
    if (done)
        return HS_OK;
    bool json = !strcmp(format, "json");
    if (!json && strcmp(format, "md") != 0)
        return hs_fail(err, HS_EUSAGE, "there is no format '%.40s' of the report; there are md and json", format);
    struct hs_subject s;
    struct hs_buf out = HS_BUF_INIT(256u << 20);
    int rc = hs_subject_open(&s, argv + optind, argc - optind, name, data, err);
    if (rc)
        return rc;
    rc = hs_report(s.run, json ? HS_REPORT_JSON : HS_REPORT_MD, &out, err);
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
    .help = "usage: holoscope report PATH... [--format md|json]\n"
            "       holoscope report --run NAME [--data DIR] [--format md|json]\n\n"
            "Reads traces, keeps nothing on disk, and writes what took the time and what to do about it.\n"
            "PATH is a trace (.json, .json.gz, .zip, .tar, .zst), a folder whose traces are the ranks of one\n"
            "run, or - for stdin.\n\n"
            "  --format md|json   Markdown (default) or JSON\n"
            "  --run NAME         a run of the store instead of a PATH\n"
            "  --data DIR         the store (default: $HOLOSCOPE_DATA, else ~/.local/share/holoscope)\n\n"
            "examples:\n"
            "  holoscope report trace.json.gz\n"
            "  holoscope report ranks/ --format json | jq .summary\n"
            "  curl -s https://example.org/trace.json.gz | holoscope report -\n",
    .run = run,
};
