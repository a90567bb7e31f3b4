#include "ingest/import.h"

#include "cli/cli.h"
#include "cli/load.h"
#include "http/uri.h"

#include <getopt.h>
#include <stdlib.h>

static int print(const struct hs_loaded *l, struct hs_err *err)
{
    struct hs_buf b = HS_BUF_INIT(64u << 20);
    for (size_t i = 0; i < l->n; i++) {
        const struct hs_trace_row *t = &l->traces[i].row;
        hs_buf_printf(&b, "%s  rank %lld  %lld events  %s%s\n", t->id, (long long)t->rank, (long long)t->events,
                      t->name, l->traces[i].existed ? "  (was there already)" : "");
    }
    if (l->n)
        hs_buf_printf(&b, "run %s\n", l->traces[0].row.run);
    int rc = hs_cli_write(b.p, b.n, err);
    hs_buf_free(&b);
    return rc;
}

static int import(char *const *args, int n, const char *run_name, const char *data, struct hs_err *err)
{
    struct hs_loaded l = {0};
    char *name = run_name ? hs_strdup(run_name) : n ? hs_run_name_of(args[0]) : hs_strdup("");
    int rc = hs_load_into_store(args, n, name, data, &l, err);
    if (!rc)
        rc = print(&l, err);
    hs_loaded_free(&l);
    free(name);
    return rc;
}

static int run(int argc, char **argv, struct hs_err *err)
{
    static const struct option options[] = {{"run", required_argument, NULL, 'r'},
                                            {"data", required_argument, NULL, 'd'},
                                            {"help", no_argument, NULL, 'h'},
                                            {0}};
    const char *name = NULL, *data = NULL;
    bool done = false;
    for (int v; (v = hs_cli_option(argc, argv, options, &hs_cmd_import, &done, err)) != -1;) {
        switch (v) {
        case 'r': name = optarg; break;
        case 'd': data = optarg; break;
        default: return HS_EUSAGE;
        }
    }
    return done ? HS_OK : import(argv + optind, argc - optind, name, data, err);
}

const struct hs_command hs_cmd_import = {
    .name = "import",
    .summary = "keep traces in the store",
    .help = "usage: holoscope import PATH... [--data DIR] [--run NAME]\n\n"
            "Reads traces into the event store, where `serve`, `analyze --run` and `sql --trace` find them. The same\n"
            "file twice is kept once; the files themselves are not copied.\n\n"
            "  --run NAME   the run they belong to (default: named after the first PATH)\n"
            "  --data DIR   the store (default: $HOLOSCOPE_DATA, else ~/.local/share/holoscope)\n\n"
            "examples:\n"
            "  holoscope import ranks/ --run monday\n"
            "  holoscope import trace.json.gz && holoscope analyze kernels --run trace\n",
    .run = run,
};
