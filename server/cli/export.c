#include "cli/cli.h"
#include "cli/load.h"
#include "http/answer.h"
#include "ingest/trace_name.h"
#include "render/chrome_trace.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- where it goes ---- */

/* A file is written beside its place and moved there when it is whole; a pipe or a device is written as it is. */
struct output {
    FILE *f;
    const char *path;
    char *temp; /* NULL: written in place */
};

static int open_output(struct output *o, const char *path, bool gzip, struct hs_err *err)
{
    struct stat st;
    *o = (struct output){.f = stdout, .path = path};
    if (!path || !strcmp(path, "-")) {
        o->path = NULL;
        return gzip && isatty(STDOUT_FILENO)
                   ? hs_fail(err, HS_EUSAGE, "compressed bytes do not belong on a terminal: give -o FILE or --plain")
                   : HS_OK;
    }
    bool there = !stat(path, &st);
    if (there && S_ISDIR(st.st_mode))
        return hs_fail(err, HS_EUSAGE, "'%s' is a folder: -o takes a file", path);
    if (!there || S_ISREG(st.st_mode))
        o->temp = hs_asprintf("%s.%ld.tmp", path, (long)getpid());
    o->f = fopen(o->temp ? o->temp : path, "we");
    if (o->f)
        return HS_OK;
    int rc = hs_fail_errno(err, HS_EINPUT, "'%s' cannot be written", path);
    free(o->temp);
    o->temp = NULL;
    return rc;
}

static int sink(void *ctx, const char *p, size_t n, struct hs_err *err)
{
    const struct output *o = ctx;
    if (fwrite(p, 1, n, o->f) == n)
        return HS_OK;
    if (errno == EPIPE && !o->path) /* the reader has seen enough, as with `| head` */
        return HS_ECANCELLED;
    return hs_fail_errno(err, HS_EINTERNAL, "'%s' could not be written", o->path ? o->path : "stdout");
}

static int close_output(struct output *o, int rc, struct hs_err *err)
{
    if (!o->path)
        return rc == HS_ECANCELLED && !err->text[0] ? HS_OK : rc;
    if (fclose(o->f) && !rc)
        rc = hs_fail_errno(err, HS_EINTERNAL, "'%s' could not be written", o->path);
    if (o->temp && !rc && rename(o->temp, o->path))
        rc = hs_fail_errno(err, HS_EINTERNAL, "'%s' could not be written", o->path);
    if (o->temp && rc)
        unlink(o->temp);
    free(o->temp);
    return rc;
}

/* ---- what is asked for ---- */

enum { PARAMETER = 256 }; /* options from here on are parameters, in the order of their names below */
static const char *const parameter_names[] = {"rank",
                                              "overlay",
                                              "operator_name",
                                              "min_pattern_len",
                                              "top_k",
                                              "from",
                                              "to",
                                              "trace",
                                              "annotation",
                                              "instance_id",
                                              "data_load_events",
                                              "only_show_critical_events",
                                              "show_all_edges",
                                              "compress_other_kernels"};
#define NPARAMETERS (sizeof parameter_names / sizeof parameter_names[0])

struct call {
    const char *run, *data, *output;
    int plain; /* -1: by the name of the output */
    struct hs_params *p;
};

static int read_options(int argc, char **argv, struct call *c, bool *done, struct hs_err *err)
{
    static const struct option options[] = {{"rank", required_argument, NULL, PARAMETER},
                                            {"overlay", required_argument, NULL, PARAMETER + 1},
                                            {"operator", required_argument, NULL, PARAMETER + 2},
                                            {"min-pattern-len", required_argument, NULL, PARAMETER + 3},
                                            {"top-k", required_argument, NULL, PARAMETER + 4},
                                            {"from", required_argument, NULL, PARAMETER + 5},
                                            {"to", required_argument, NULL, PARAMETER + 6},
                                            {"trace", required_argument, NULL, PARAMETER + 7},
                                            {"annotation", required_argument, NULL, PARAMETER + 8},
                                            {"instance", required_argument, NULL, PARAMETER + 9},
                                            {"data-load-events", required_argument, NULL, PARAMETER + 10},
                                            {"only-critical", required_argument, NULL, PARAMETER + 11},
                                            {"all-edges", required_argument, NULL, PARAMETER + 12},
                                            {"compress-others", required_argument, NULL, PARAMETER + 13},
                                            {"output", required_argument, NULL, 'o'},
                                            {"plain", no_argument, NULL, 'p'},
                                            {"gzip", no_argument, NULL, 'z'},
                                            {"run", required_argument, NULL, 'r'},
                                            {"data", required_argument, NULL, 'd'},
                                            {"help", no_argument, NULL, 'h'},
                                            {0}};
    int rc = HS_OK;
    for (int v; !rc && (v = hs_cli_option(argc, argv, options, &hs_cmd_export, done, err)) != -1;) {
        switch (v) {
        case 'o': c->output = optarg; break;
        case 'p': c->plain = 1; break;
        case 'z': c->plain = 0; break;
        case 'r': c->run = optarg; break;
        case 'd': c->data = optarg; break;
        default:
            if (v < PARAMETER || (size_t)(v - PARAMETER) >= NPARAMETERS)
                return HS_EUSAGE;
            rc = hs_params_set(c->p, parameter_names[v - PARAMETER], optarg, err);
        }
    }
    return rc;
}

static int export(struct call *c, char *const *paths, int n, struct hs_err *err)
{
    struct hs_subject s;
    struct output o;
    const struct hs_run_rank *r;
    struct hs_chrome_trace *t = NULL;
    bool plain = c->plain >= 0 ? c->plain : c->output && hs_name_is_json(c->output);
    int rc = hs_params_set(c->p, "gzip", plain ? "false" : "true", err);
    if (!rc)
        rc = hs_chrome_check(c->p, err);
    if (!rc)
        rc = hs_subject_open(&s, paths, n, c->run, c->data, err);
    if (rc)
        return rc;
    rc = hs_chrome_rank(s.run, c->p, &r, err);
    if (!rc)
        rc = hs_chrome_open(&t, r, c->p, err);
    if (!rc)
        rc = open_output(&o, c->output, !plain, err);
    if (!rc)
        rc = close_output(&o, hs_chrome_write(t, sink, &o, err), err);
    hs_chrome_close(t);
    hs_subject_close(&s);
    return rc;
}

static int run(int argc, char **argv, struct hs_err *err)
{
    struct call c = {.plain = -1};
    bool done = false;
    int rc = hs_params_new(&c.p, hs_chrome_params, hs_chrome_nparams, err);
    if (!rc)
        rc = read_options(argc, argv, &c, &done, err);
    if (!rc && !done)
        rc = export(&c, argv + optind, argc - optind, err);
    hs_params_free(c.p);
    return rc;
}

const struct hs_command hs_cmd_export = {
    .name = "export",
    .summary = "a trace given back, with counter tracks, marks, or a window of it",
    .help =
        "usage: holoscope export PATH... [--rank N] [--overlay NAME,...] [--from US] [--to US] [-o FILE]\n"
        "       holoscope export --run NAME [--data DIR] [...]\n\n"
        "Writes the trace of one rank as Chrome trace JSON, every event whole, for Perfetto and chrome://tracing.\n"
        "PATH is a trace (.json, .json.gz, .zip, .tar, .zst), a folder whose traces are the ranks of one run, or -\n"
        "for stdin. Compressed, unless FILE ends in .json.\n\n"
        "  --rank N              which rank, where there are several\n"
        "  --trace ID            which trace, by its id, where several have the rank\n"
        "  --overlay NAME,...    what to add: queue-length and memory-bandwidth, as counter tracks;\n"
        "                        kernel-sequences, as args.Patterns on calls of --operator and their kernels\n"
        "                        critical-path, as args.critical on what is on it and arrows between threads and "
        "streams\n"
        "  --operator TEXT       of kernel-sequences: a part of the operator's name\n"
        "  --min-pattern-len N   of kernel-sequences: leave out calls that launch fewer kernels (3)\n"
        "  --top-k N             of kernel-sequences: the N most frequent sequences (5; 0: all)\n"
        "  --compress-others BOOL  of kernel-sequences: leave out the args of spans that are in none of them (false)\n"
        "  --annotation TEXT     of critical-path: only while the first annotation with this in its name lasts;\n"
        "                        --instance N,M: from the Nth to the Mth of them\n"
        "  --data-load-events RE of critical-path: names of CPU events that load data\n"
        "  --only-critical BOOL  of critical-path: leave out spans that are not on it (true)\n"
        "  --all-edges BOOL      of critical-path, with --only-critical false: every edge of its graph (false)\n"
        "  --from US, --to US    a window on the run's clock, in microseconds: a small trace of what is in it\n"
        "  -o, --output FILE     where to (default: stdout)\n"
        "  --plain, --gzip       without or with compression, whatever FILE is called\n"
        "  --run NAME            a run of the store instead of a PATH\n"
        "  --data DIR            the store (default: $HOLOSCOPE_DATA, else ~/.local/share/holoscope)\n\n"
        "examples:\n"
        "  holoscope export trace.json.gz --overlay queue-length,memory-bandwidth -o with_counters.json.gz\n"
        "  holoscope export ranks/ --rank 3 --from 250000 --to 260000 -o ten_ms.json\n",
    .run = run,
};
