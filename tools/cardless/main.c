// SPDX-License-Identifier: MIT
// cardless: finds the sub-command and hands over.
#include "cardless.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const struct command {
    const char *name; // behind "cardless "
    int (*run)(int argc, char **argv);
    const char *summary;
} commands[] = {
    {"cardless run", cmd_run, "run a CUDA program on the software card"},
    {"cardless info", cmd_info, "the cards that such a program finds"},
    {"cardless layout", cmd_layout, "where the elements of an array lie in memory"},
    {"cardless doctor", cmd_doctor, "what this machine has for interop, and what follows"},
};

enum { COMMAND_COUNT = sizeof commands / sizeof *commands, PREFIX = sizeof "cardless " - 1 };

static void usage(FILE *to)
{
    fprintf(to, "usage: cardless COMMAND [ARGUMENT...]\n\n");
    for (unsigned i = 0; i < COMMAND_COUNT; i++)
        fprintf(to, "  %-10s %s\n", commands[i].name + PREFIX, commands[i].summary);
    fprintf(to, "\n`cardless COMMAND --help` tells more.\n");
}

// `status`, or 1 where not all of the output could be written.
static int written(int status)
{
    if (!fflush(stdout) && !ferror(stdout))
        return status;
    fprintf(stderr, "cardless: the output could not be written: %s\n", strerror(errno));
    return status ? status : 1;
}

int main(int argc, char **argv)
{
    if (argc < 2 || !strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") ||
        !strcmp(argv[1], "help")) {
        usage(argc < 2 ? stderr : stdout);
        return argc < 2 ? 2 : written(0);
    }
    if (!strcmp(argv[1], "--version")) {
        puts("cardless " CARDLESS_VERSION);
        return written(0);
    }
    for (unsigned i = 0; i < COMMAND_COUNT; i++)
        if (!strcmp(argv[1], commands[i].name + PREFIX)) {
            argv[1] = (char *)commands[i].name; // what getopt's messages begin with
            return written(commands[i].run(argc - 1, argv + 1));
        }
    fprintf(stderr, "cardless: there is no command '%s'\n\n", argv[1]);
    usage(stderr);
    return 2;
}
