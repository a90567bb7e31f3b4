/* cli: the command line. One file a subcommand, one table of them here; main.c only calls hs_cli_main.
 *
 * Results go to stdout, everything else to stderr. Exit status: 0 answered, 1 bad input (or a
 * judgement that says no), 2 wrong usage, 3 internal, 4 a judgement that the data do not allow. An
 * error is one line: what, where, what to do. */
#ifndef HS_CLI_CLI_H
#define HS_CLI_CLI_H

#include "base/err.h"

#include <stdbool.h>

struct hs_command {
    const char *name;
    const char *summary; /* one line for the list */
    const char *help;    /* all of --help */
    /* argv[0] is the subcommand's name; returns an hs_status with the sentence in err. */
    int (*run)(int argc, char **argv, struct hs_err *err);
};

extern const struct hs_command hs_cmd_serve, hs_cmd_report, hs_cmd_analyze, hs_cmd_diff, hs_cmd_sql, hs_cmd_export,
    hs_cmd_import, hs_cmd_execution_trace;

int hs_cli_main(int argc, char **argv);

/* getopt_long with our habits: no message of its own; -h and --help print the command's help and set *done; -o is the
 * option whose value is 'o', where there is one; an unknown or incomplete option is HS_EUSAGE. Returns the option's value,
 * -1 at the end, -2 on error. */
struct option;
int hs_cli_option(int argc, char **argv, const struct option *options, const struct hs_command *c, bool *done,
                  struct hs_err *err);

/* Writes all of it to stdout; HS_EINTERNAL when that fails (a full disk; a closed pipe is no error). */
int hs_cli_write(const char *p, unsigned long n, struct hs_err *err);

#endif
