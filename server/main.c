#include "cli/cli.h"

int main(int argc, char **argv)
{
    return hs_cli_main(argc, argv);
}
