// SPDX-License-Identifier: MIT
// The `cardless` program: finds the command and runs it.
#include "commands.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct command {
    const char *name; // after "cardless "
    int (*run)(int argc, char **argv);
    const char *summary;
} commands[] = {
    {"cardless run", cmd_run, "run a CUDA program on the software card"},
    {"cardless explore", cmd_explore, "run a test under many orders of its work"},
    {"cardless trace", cmd_trace, "show a recorded run: its calls, commands and memory"},
    {"cardless replay", cmd_replay, "make the calls of a recorded run again, and compare"},
    {"cardless step", cmd_step, "stop before each call of a program, or follow a warp of a kernel"},
    {"cardless info", cmd_info, "show the cards that programs find"},
    {"cardless layout", cmd_layout, "show the memory layout of an array"},
    {"cardless doctor", cmd_doctor, "check this machine for the parts that interop programs use"},
};

enum { COMMAND_COUNT = sizeof commands / sizeof *commands, PREFIX = sizeof "cardless " - 1 };

static void usage(FILE *to)
{
    fprintf(to, "usage: cardless COMMAND [ARGUMENT...]\n\n");
    for (unsigned i = 0; i < COMMAND_COUNT; i++)
        fprintf(to, "  %-10s %s\n", commands[i].name + PREFIX, commands[i].summary);
    fprintf(to, "\n`cardless COMMAND --help` explains the arguments.\n");
}

// Returns `status`, or 1 if part of the output could not be written.
static int written(int status)
{
    if (!fflush(stdout) && !ferror(stdout))
        return status;
    fprintf(stderr, "cardless: the output could not be written: %s\n", strerror(errno));
    return status ? status : 1;
}

// If a standard descriptor is closed, a file that is opened later would get its number, and
// messages would go there. So it is taken: for a file that cannot be used, because it should not
// seem that the output was written. A program that is started does not get it.
static void take_standard_descriptors(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0)
            open("/dev/null", (fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) | O_CLOEXEC);
}

int main(int argc, char **argv)
{
    take_standard_descriptors();
    if (argc < 2 || !strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") ||
        !strcmp(argv[1], "help")) {
        usage(argc < 2 ? stderr : stdout);
        return argc < 2 ? 2 : written(0);
    }
    if (!strcmp(argv[1], "--version")) {
        puts("cardless " CARDLESS_TOOL_VERSION);
        return written(0);
    }
    for (unsigned i = 0; i < COMMAND_COUNT; i++)
        if (!strcmp(argv[1], commands[i].name + PREFIX)) {
            argv[1] = (char *)commands[i].name; // getopt's messages begin with it
            return written(commands[i].run(argc - 1, argv + 1));
        }
    fprintf(stderr, "cardless: unknown command '%s'\n\n", argv[1]);
    usage(stderr);
    return 2;
}
