/* execution-trace: the nodes of an execution trace beside the events of a Kineto trace of the same run. */
#include "analysis/execution_trace.h"

#include "cli/cli.h"
#include "cli/load.h"
#include "http/answer.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>

struct call {
    const char *format, *run, *data, *rank;
};

static int read_rank(const char *text, int64_t *rank, struct hs_err *err)
{
    char *end;
    errno = 0;
    *rank = strtoll(text, &end, 10);
    if (end == text || *end || errno)
        return hs_fail(err, HS_EUSAGE, "--rank takes a number, not '%.40s'", text);
    return HS_OK;
}

static int read_file(const char *path, struct hs_et *et, struct hs_err *err)
{
    struct hs_input in;
    int rc = hs_input_open_file(&in, path, err);
    if (rc)
        return rc;
    rc = hs_et_read(et, &in, &hs_limits_default, err);
    hs_input_close_file(&in);
    return rc;
}

static int answer(const struct hs_et *et, char *const *paths, int n, const struct call *c, enum hs_format f,
                  const int64_t *rank, struct hs_err *err)
{
    struct hs_subject s;
    struct hs_buf out = HS_BUF_INIT(1u << 30);
    int rc = hs_subject_open(&s, paths, n, c->run, c->data, err);
    if (rc)
        return rc;
    rc = hs_answer_execution_trace(et, s.run, rank, f, &out, err);
    if (!rc)
        rc = hs_cli_write(out.p, out.n, err);
    hs_buf_free(&out);
    hs_subject_close(&s);
    return rc;
}

static int run(int argc, char **argv, struct hs_err *err)
{
    static const struct option options[] = {
        {"format", required_argument, NULL, 'f'}, {"rank", required_argument, NULL, 'k'},
        {"run", required_argument, NULL, 'r'},    {"data", required_argument, NULL, 'd'},
        {"help", no_argument, NULL, 'h'},         {0}};
    struct call c = {0};
    struct hs_et et;
    enum hs_format f;
    int64_t rank;
    bool done = false;
    for (int v; (v = hs_cli_option(argc, argv, options, &hs_cmd_execution_trace, &done, err)) != -1;) {
        switch (v) {
        case 'f': c.format = optarg; break;
        case 'k': c.rank = optarg; break;
        case 'r': c.run = optarg; break;
        case 'd': c.data = optarg; break;
        default: return HS_EUSAGE;
        }
    }
    if (done)
        return HS_OK;
    int rc = hs_answer_format(c.format, &f, err);
    if (!rc && c.rank)
        rc = read_rank(c.rank, &rank, err);
    if (!rc && optind == argc)
        rc = hs_fail(err, HS_EUSAGE, "the execution trace is missing: holoscope execution-trace ET PATH");
    if (!rc)
        rc = read_file(argv[optind], &et, err);
    if (rc)
        return rc;
    rc = answer(&et, argv + optind + 1, argc - optind - 1, &c, f, c.rank ? &rank : NULL, err);
    hs_et_free(&et);
    return rc;
}

const struct hs_command hs_cmd_execution_trace = {
    .name = "execution-trace",
    .summary = "an execution trace (Chakra) joined with a Kineto trace of the same run",
    .help = "usage: holoscope execution-trace ET PATH... [--rank N] [--format records|columns|csv|md]\n"
            "       holoscope execution-trace ET --run NAME [--data DIR] [...]\n\n"
            "Gives each operator and annotation of the Kineto trace its node in ET, what PyTorch's "
            "ExecutionTraceObserver wrote\n"
            "in the same run, by the record function's number (rf_id, External id), with times and the device work "
            "beneath.\n\n"
            "  --rank N         which rank the execution trace is of, where PATH has several\n"
            "  --run NAME       a run of the store instead of files\n"
            "  --data DIR       the store (default: $HOLOSCOPE_DATA, else ~/.local/share/holoscope)\n"
            "  --format FORMAT  records (JSON, default), columns (JSON by column), csv, md\n\n"
            "example:\n"
            "  holoscope execution-trace et.json trace.json.gz --format csv\n",
    .run = run,
};
