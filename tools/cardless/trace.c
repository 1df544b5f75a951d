// SPDX-License-Identifier: MIT
// `cardless trace`: shows a recorded run.
#include "trace.h"

#include <getopt.h>

#include "cardless.h"

static const char usage[] =
    "usage: cardless trace [options] FILE\n"
    "\n"
    "Shows a run that `cardless run --trace FILE.cardless -- program` has recorded: each call "
    "with\n"
    "its arguments, result, outputs, time and caller, and the commands that it has submitted.\n"
    "\n"
    "  --filter LIST        only calls and commands that match all of these, with commas between\n"
    "                       them: name=PATTERN, stream=PATTERN, result=PATTERN, thread=N,\n"
    "                       address=A or A-B, time=A-B in microseconds; * and ? stand for any\n"
    "                       letters\n"
    "  --summary            counts and times by call and by kind of command\n"
    "\n"
    "Exit status: 0; 2 if the arguments are wrong; 3 if a file cannot be read.\n";

enum { UNREADABLE = 3 };

int cmd_trace(int argc, char **argv)
{
    static const struct option options[] = {
        {"filter", required_argument, NULL, 'f'},
        {"summary", no_argument, NULL, 's'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    struct trace_filter filter = {.any = false};
    struct trace_model model;
    bool summary = false;
    int c;
    while ((c = getopt_long(argc, argv, "h", options, NULL)) != -1) {
        if (c == 'h') {
            fputs(usage, stdout);
            return 0;
        }
        summary |= c == 's';
        if (c == '?' || (c == 'f' && !trace_filter_read(&filter, optarg)))
            return 2;
    }
    if (optind + 1 != argc) {
        fputs(usage, stderr);
        return 2;
    }
    if (!trace_open(&model, argv[optind]))
        return UNREADABLE;
    if (summary)
        trace_print_summary(&model, stdout);
    else
        trace_print(&model, &filter, stdout);
    trace_close(&model);
    return 0;
}
