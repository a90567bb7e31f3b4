#include "cli/cli.h"

#include "base/mem.h"
#include "http/server.h"

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct hs_command *const commands[] = {
    &hs_cmd_serve, &hs_cmd_report, &hs_cmd_analyze, &hs_cmd_diff,
    &hs_cmd_sql,   &hs_cmd_export, &hs_cmd_import,  &hs_cmd_execution_trace};
#define NCOMMANDS (sizeof commands / sizeof commands[0])

static void print_usage(FILE *out)
{
    fprintf(out, "holoscope " HS_VERSION ": tells why GPUs are slow, from PyTorch (Kineto) traces\n\n"
                 "usage: holoscope COMMAND [ARGUMENT]...\n\n");
    for (size_t i = 0; i < NCOMMANDS; i++)
        fprintf(out, "  %-9s %s\n", commands[i]->name, commands[i]->summary);
    fprintf(out, "  %-9s %s\n\n", "version", "print the version");
    fprintf(out, "holoscope COMMAND --help tells more. For example:\n"
                 "  holoscope report trace.json.gz\n"
                 "  holoscope analyze kernels ranks/ --set rank=0 --format md\n"
                 "  holoscope serve\n\n"
                 "Exit status: 0 answered, 1 bad input, 2 wrong usage, 3 internal error.\n"
                 "diff --fail-over: 1 slower, 4 it cannot tell.\n");
}

static const struct hs_command *find(const char *name)
{
    for (size_t i = 0; i < NCOMMANDS; i++)
        if (!strcmp(commands[i]->name, name))
            return commands[i];
    return NULL;
}

/* One line, whatever the text holds. */
static void print_error(const struct hs_err *err)
{
    struct hs_buf b = HS_BUF_INIT(2048);
    hs_buf_puts(&b, "holoscope: ");
    hs_buf_puts(&b, err->text[0] ? err->text : "failed without a message");
    if (err->offset >= 0 && !strstr(err->text, "byte "))
        hs_buf_printf(&b, " (byte %lld)", (long long)err->offset);
    for (size_t i = 0; i < b.n; i++)
        if ((unsigned char)b.p[i] < 0x20 || b.p[i] == 0x7f)
            b.p[i] = ' ';
    fprintf(stderr, "%s\n", b.p);
    hs_buf_free(&b);
}

static int dispatch(int argc, char **argv, struct hs_err *err)
{
    const char *name = argv[1];
    if (!strcmp(name, "--help") || !strcmp(name, "-h") || !strcmp(name, "help")) {
        const struct hs_command *c = argc > 2 ? find(argv[2]) : NULL;
        if (c)
            fputs(c->help, stdout);
        else
            print_usage(stdout);
        return HS_OK;
    }
    if (!strcmp(name, "--version") || !strcmp(name, "-V") || !strcmp(name, "version")) {
        puts("holoscope " HS_VERSION);
        return HS_OK;
    }
    const struct hs_command *c = find(name);
    if (!c)
        return hs_fail(err, HS_EUSAGE, "there is no command '%.60s'; holoscope --help lists them", name);
    return c->run(argc - 1, argv + 1, err);
}

int hs_cli_main(int argc, char **argv)
{
    struct hs_err err = HS_ERR_INIT;
    signal(SIGPIPE, SIG_IGN); /* `| head` ends us by a failed write, not by a signal */
    if (argc < 2) {
        print_usage(stderr);
        return HS_EUSAGE;
    }
    int rc = dispatch(argc, argv, &err);
    if (rc)
        print_error(&err);
    else if (fflush(stdout) && errno != EPIPE) {
        rc = hs_fail_errno(&err, HS_EINTERNAL, "the answer could not be written");
        print_error(&err);
    }
    return hs_exit_status(rc);
}

/* -o FILE is the one short option besides -h, and only few commands write files. */
static bool takes_output(const struct option *options)
{
    for (; options->name; options++)
        if (options->val == 'o')
            return true;
    return false;
}

int hs_cli_option(int argc, char **argv, const struct option *options, const struct hs_command *c, bool *done,
                  struct hs_err *err)
{
    opterr = 0;
    int before = optind ? optind : 1;
    int v = getopt_long(argc, argv, ":ho:", options, NULL);
    if (v == 'h') {
        fputs(c->help, stdout);
        *done = true;
        return -1;
    }
    bool no_output = v == 'o' && !takes_output(options);
    if (v != '?' && v != ':' && !no_output)
        return v;
    const char *word = before < argc ? argv[before] : "";
    if (no_output)
        word = "-o";
    else if (optind > 1 && optind <= argc && argv[optind - 1][0] == '-')
        word = argv[optind - 1];
    hs_fail(err, HS_EUSAGE,
            v == ':' ? "option %.60s needs a value; holoscope %s --help tells"
                     : "there is no option %.60s; holoscope %s --help lists them",
            word, c->name);
    return -2;
}

int hs_cli_write(const char *p, unsigned long n, struct hs_err *err)
{
    if (fwrite(p, 1, n, stdout) != n && errno != EPIPE)
        return hs_fail_errno(err, HS_EINTERNAL, "the answer could not be written");
    return HS_OK;
}
