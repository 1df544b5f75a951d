// SPDX-License-Identifier: MIT
// `cardless step`: runs a program, and shows the instructions of one warp of a kernel, or
// (step_calls.h) its calls.
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "commands.h"
#include "lib.h"
#include "number.h"
#include "option.h"
#include "step_calls.h"
#include "vulkan_layer.h"

static const char usage[] =
    "usage: cardless step [options] [--] program [argument …]\n"
    "\n"
    "Runs a program, and stops before each call of the driver and each command of a stream: shows\n"
    "its arguments, what it changes, where memory is and what is queued. Reads commands from the\n"
    "standard input, which the program finds empty; help lists them.\n"
    "\n"
    "  --do 'A; B'          the commands, instead of the standard input\n"
    "  --commands FILE      read the commands from a file\n"
    "  --output FILE        print to a file instead of the standard output\n"
    "\n"
    "With one of the following options, prints each instruction that one warp of a kernel in PTX\n"
    "runs: its line, the lanes that take part, and the registers that it writes.\n"
    "\n"
    "  --kernel NAME        the kernel; * and ? stand for any letters (*)\n"
    "  --launch N           the N-th launch of such kernels (1)\n"
    "  --block X,Y,Z        the block (0,0,0)\n"
    "  --warp N             the warp of the block (0)\n"
    "  --lines A-B          only the instructions in these lines of the PTX text\n"
    "  --interactive        stop before each instruction, and read commands from the standard\n"
    "                       input (help lists them); the program reads an empty one\n"
    "\n"
    "Exit status: that of the program, 130 after the command quit, 2 if the arguments are wrong,\n"
    "3 if the program ends well, but made no call or ended before an until, or if no such warp\n"
    "has run, 126 if the program cannot be run, 127 if it is not found.\n";

enum { NOT_STEPPED = 3, FIRST_FD = 200 };

struct step {
    char kernel[256];
    uint32_t launch, block[3], warp, lines[2];
    const char *output;
    bool interactive;
    bool warp_wanted; // an option that is only for warps was given
    struct step_calls calls;
};

static bool wrong(const char *option, const char *value, const char *takes)
{
    fprintf(stderr, "cardless step: --%s takes %s, not %s\n", option, takes, value);
    return false;
}

// Reads up to `count` whole numbers with `separator` between them. Returns how many, or 0 if the
// text has anything else.
static unsigned read_numbers(const char *text, char separator, uint32_t *out, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        if (!dm_parse_u32(&text, &out[i]))
            return 0;
        if (!*text)
            return i + 1;
        if (*text++ != separator)
            return 0;
    }
    return 0;
}

static bool apply_option(int option, struct step *s)
{
    unsigned n;
    switch (option) {
    case 'k':
        if (strlen(optarg) < sizeof s->kernel && !strchr(optarg, ',')) {
            snprintf(s->kernel, sizeof s->kernel, "%s", optarg);
            return true;
        }
        return wrong("kernel", optarg, "the name of a kernel, of less than 256 bytes");
    case 'n':
        return (read_numbers(optarg, 0, &s->launch, 1) && s->launch) ||
               wrong("launch", optarg, "a number from 1");
    case 'b':
        s->block[1] = s->block[2] = 0;
        return read_numbers(optarg, ',', s->block, 3) ||
               wrong("block", optarg, "the block's index, X,Y,Z");
    case 'w':
        return read_numbers(optarg, 0, &s->warp, 1) ||
               wrong("warp", optarg, "the warp's number in its block");
    case 'l':
        n = read_numbers(optarg, '-', s->lines, 2);
        if (n == 1)
            s->lines[1] = s->lines[0];
        return (n && s->lines[0] <= s->lines[1]) ||
               wrong("lines", optarg, "a line of the PTX text, or the first and the last one, A-B");
    case 'o':
        s->output = optarg;
        return true;
    case 'i':
        s->interactive = true;
        return true;
    case 'd':
        s->calls.script = optarg;
        return true;
    case 'c':
        s->calls.file = optarg;
        return true;
    default:
        return false;
    }
}

// A copy of a descriptor that the program inherits, with a number that programs rarely use.
static int pass_on(int fd)
{
    const int copy = fcntl(fd, F_DUPFD, FIRST_FD);
    if (copy < 0)
        fprintf(stderr, "cardless step: cannot pass a file on to the program: %s\n",
                strerror(errno));
    return copy;
}

static int open_output(const char *path)
{
    const int fd =
        path ? open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666) : STDOUT_FILENO;
    if (fd < 0)
        fprintf(stderr, "cardless step: %s: %s\n", path, strerror(errno));
    return fd;
}

static bool fail(const char *action)
{
    fprintf(stderr, "cardless step: cannot %s: %s\n", action, strerror(errno));
    return false;
}

// Gives the program an empty standard input. Returns a copy of ours for the library, or -1 after
// printing a message.
static int take_input(void)
{
    const int in = pass_on(STDIN_FILENO);
    if (in < 0)
        return -1;
    const int empty = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (empty < 0 || dup2(empty, STDIN_FILENO) < 0) {
        fail("give the program an empty standard input");
        return -1;
    }
    close(empty);
    return in;
}

// Sets the library's setting. `note` gets a file that has a byte once a warp was stepped. Returns
// false after printing a message.
static bool prepare(const struct step *s, int *note)
{
    char ours[PATH_MAX], in_text[32] = "", setting[640];
    const int fd = open_output(s->output), out = fd < 0 ? -1 : pass_on(fd);
    if (out < 0)
        return false;
    *note = memfd_create("cardless-step", MFD_CLOEXEC);
    if (*note < 0)
        return fail("make a file in memory");
    const int note_copy = pass_on(*note);
    if (note_copy < 0 || lib_folder(ours, sizeof ours))
        return false;
    if (s->interactive) {
        const int in = take_input();
        if (in < 0)
            return false;
        snprintf(in_text, sizeof in_text, ",in=%d", in);
    }
    snprintf(setting, sizeof setting,
             "kernel=%s,launch=%u,block=%u:%u:%u,warp=%u,lines=%u-%u,out=%d,note=%d%s", s->kernel,
             s->launch, s->block[0], s->block[1], s->block[2], s->warp, s->lines[0], s->lines[1],
             out, note_copy, in_text);
    vulkan_layer_enable();
    if (!setenv("CARDLESS_STEP", setting, 1) && !lib_prepend("LD_LIBRARY_PATH", ours))
        return true;
    fprintf(stderr, "cardless step: out of memory for the environment\n");
    return false;
}

// Waits for the program, and ends as it does.
static int wait_for(pid_t child)
{
    int status;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return 126;
    if (!WIFSIGNALED(status))
        return WEXITSTATUS(status);
    signal(WTERMSIG(status), SIG_DFL);
    raise(WTERMSIG(status));
    return 128 + WTERMSIG(status);
}

static int run_program(char **program, const struct step *s, int note)
{
    char byte;
    fflush(NULL);
    const pid_t child = fork();
    if (child < 0) {
        fprintf(stderr, "cardless step: cannot start a process: %s\n", strerror(errno));
        return 126;
    }
    if (!child) {
        execvp(*program, program);
        const int error = errno;
        fprintf(stderr, "cardless step: cannot run %s: %s\n", *program, strerror(error));
        _exit(error == ENOENT ? 127 : 126);
    }
    // The terminal sends Ctrl-C to both, and the program should decide.
    signal(SIGINT, SIG_IGN);
    signal(SIGQUIT, SIG_IGN);
    const int status = wait_for(child);
    if (status || pread(note, &byte, 1, 0) == 1)
        return status;
    fprintf(stderr,
            "cardless step: no such warp has run: launch %u of the kernel %s, block (%u,%u,%u), "
            "warp %u",
            s->launch, s->kernel, s->block[0], s->block[1], s->block[2], s->warp);
    if (s->lines[1] < UINT32_MAX)
        fprintf(stderr, ", lines %u to %u", s->lines[0], s->lines[1]);
    fputc('\n', stderr);
    return NOT_STEPPED;
}

int cmd_step(int argc, char **argv)
{
    static const struct option options[] = {
        {"kernel", required_argument, NULL, 'k'},
        {"launch", required_argument, NULL, 'n'},
        {"block", required_argument, NULL, 'b'},
        {"warp", required_argument, NULL, 'w'},
        {"lines", required_argument, NULL, 'l'},
        {"output", required_argument, NULL, 'o'},
        {"interactive", no_argument, NULL, 'i'},
        {"do", required_argument, NULL, 'd'},
        {"commands", required_argument, NULL, 'c'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    struct step s = {.kernel = "*", .launch = 1, .lines = {0, UINT32_MAX}};
    int c, note;
    while ((c = getopt_long(argc, argv, "+h", options, NULL)) != -1) {
        if (c == 'h') {
            fputs(usage, stdout);
            return 0;
        }
        if (!apply_option(c, &s))
            return 2;
        s.warp_wanted |= strchr("knbwli", c) != NULL;
    }
    if (optind >= argc) {
        fputs(usage, stderr);
        return 2;
    }
    if (s.output && (option_is_file("output", s.output, argv[optind]) ||
                     (s.calls.file && option_is_file("output", s.output, s.calls.file))))
        return 2;
    if (s.warp_wanted && (s.calls.script || s.calls.file)) {
        fprintf(stderr, "cardless step: --do and --commands are for calls, and the other options "
                        "for a warp of a kernel\n");
        return 2;
    }
    if (!s.warp_wanted) {
        s.calls.output = s.output;
        return step_calls(argv + optind, &s.calls);
    }
    return prepare(&s, &note) ? run_program(argv + optind, &s, note) : 126;
}
