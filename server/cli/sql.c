#include "store/sql.h"

#include "cli/cli.h"
#include "cli/load.h"
#include "http/answer.h"

#include <getopt.h>
#include <string.h>

struct call {
    const char *format, *trace, *data;
};

static int ask(struct hs_view *v, const char *query, const struct call *c, struct hs_err *err)
{
    struct hs_buf out = HS_BUF_INIT(1u << 30);
    enum hs_format f = HS_F_RECORDS;
    int rc = hs_answer_format(c->format, &f, err);
    if (!rc)
        rc = hs_answer_sql(v, query, &hs_sql_limits_default, f, &out, err);
    if (!rc)
        rc = hs_cli_write(out.p, out.n, err);
    hs_buf_free(&out);
    return rc;
}

static int ask_stored(const char *query, const struct call *c, struct hs_err *err)
{
    struct hs_config config;
    struct hs_store *s = NULL;
    struct hs_view *v = NULL;
    int rc = hs_config_open(&config, NULL, err);
    if (!rc)
        rc = hs_open_store(c->data, &config, true, &s, err);
    hs_config_free(&config);
    if (rc)
        return rc;
    rc = hs_store_pin_trace(s, c->trace, &v, err);
    if (!rc) {
        rc = ask(v, query, c, err);
        hs_store_unpin_trace(s, v);
    }
    hs_store_close(s);
    return rc;
}

static int ask_file(const char *query, char *const *paths, int n, const struct call *c, struct hs_err *err)
{
    struct hs_subject s;
    int rc = hs_subject_open(&s, paths, n, NULL, NULL, err);
    if (rc)
        return rc;
    if (s.loaded.n == 1)
        rc = ask(s.loaded.traces[0].view, query, c, err);
    else
        rc = hs_fail(err, HS_EUSAGE, "SQL asks one trace, and there are %zu; name one of them", s.loaded.n);
    hs_subject_close(&s);
    return rc;
}

static int run(int argc, char **argv, struct hs_err *err)
{
    static const struct option options[] = {{"format", required_argument, NULL, 'f'},
                                            {"trace", required_argument, NULL, 't'},
                                            {"data", required_argument, NULL, 'd'},
                                            {"help", no_argument, NULL, 'h'},
                                            {0}};
    struct call c = {0};
    bool done = false;
    for (int v; (v = hs_cli_option(argc, argv, options, &hs_cmd_sql, &done, err)) != -1;) {
        switch (v) {
        case 'f': c.format = optarg; break;
        case 't': c.trace = optarg; break;
        case 'd': c.data = optarg; break;
        default: return HS_EUSAGE;
        }
    }
    if (done)
        return HS_OK;
    enum hs_format f;
    int rc = hs_answer_format(c.format, &f, err);
    if (rc)
        return rc;
    int n = argc - optind - 1;
    if (n < 0)
        return hs_fail(err, HS_EUSAGE,
                       "a QUERY is missing, such as \"SELECT name, sum(dur) FROM kernels GROUP BY name\"");
    if ((n > 0) == (c.trace != NULL))
        return hs_fail(err, HS_EUSAGE, "sql needs a PATH or --trace ID, one of them");
    if (c.data && !c.trace)
        return hs_fail(err, HS_EUSAGE, "--data needs --trace ID, a trace of that store");
    return c.trace ? ask_stored(argv[optind], &c, err) : ask_file(argv[optind], argv + optind + 1, n, &c, err);
}

const struct hs_command hs_cmd_sql = {
    .name = "sql",
    .summary = "read-only SQL over one trace",
    .help =
        "usage: holoscope sql QUERY PATH [--format records|columns|csv|md]\n"
        "       holoscope sql QUERY --trace ID [--data DIR] [--format ...]\n\n"
        "Tables: events, kernels, device_work (copies and memsets, too), cpu_ops, launches, memory_events, counters,\n"
        "steps, args (event, key, value, type), and about the trace itself quality, header, categories, threads.\n"
        "Columns ts and dur are microseconds, those in _ns nanoseconds; args is JSON text, of 1 MiB at most.\n"
        "At most 10 000 rows, 10 s and 256 MiB.\n\n"
        "  --trace ID       a trace of the store, by its id or at least six digits of it\n"
        "  --data DIR       the store (default: $HOLOSCOPE_DATA, else ~/.local/share/holoscope)\n"
        "  --format FORMAT  records (JSON, default), columns (JSON by column), csv, md\n\n"
        "examples:\n"
        "  holoscope sql 'SELECT name, count(*), sum(dur) FROM kernels GROUP BY name ORDER BY 3 DESC' trace.json.gz\n"
        "  holoscope sql \"SELECT args ->> '$.Input Dims' FROM cpu_ops LIMIT 5\" trace.json.gz --format md\n",
    .run = run,
};
