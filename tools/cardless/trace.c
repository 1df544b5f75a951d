// SPDX-License-Identifier: MIT
// `cardless trace`: shows a recorded run.
#include "trace.h"

#include <getopt.h>

#include "commands.h"
#include "option.h"
#include "trace_html.h"

static const char usage[] =
    "usage: cardless trace [options] FILE\n"
    "       cardless trace --compare FIRST SECOND\n"
    "\n"
    "Shows a run that `cardless run --trace FILE.cardless -- program` has recorded: each call "
    "with\n"
    "its arguments, result, outputs, time and caller, and the commands that it has submitted.\n"
    "\n"
    "  --filter LIST        only calls and commands that match all of these, with commas between\n"
    "                       them: name=PATTERN, stream=PATTERN, result=PATTERN, thread=N,\n"
    "                       depth=N, address=A or A-B, time=A-B in microseconds; * and ? stand\n"
    "                       for any letters\n"
    "  --compare            where two runs differ first; addresses may differ\n"
    "  --perfetto OUT.json  write the run for ui.perfetto.dev and chrome://tracing\n"
    "  --html OUT.html      write a page for a browser: timeline, address space and arrays\n"
    "  --summary            counts and times by call and by kind of command\n"
    "\n"
    "Exit status: 0; 1 if two runs differ; 2 if the arguments are wrong; 3 if a file cannot be\n"
    "read or written, or if parts of the compared runs are missing.\n";

enum { UNREADABLE = 3 };

static int compare(const struct trace_model *model, char *const paths[2])
{
    struct trace_model other;
    if (!trace_open(&other, paths[1]))
        return UNREADABLE;
    trace_find_places(&other);
    printf("first:  %s\nsecond: %s\n", paths[0], paths[1]);
    const int status = trace_compare(model, &other, stdout);
    trace_close(&other);
    return status;
}

int cmd_trace(int argc, char **argv)
{
    static const struct option options[] = {
        {"filter", required_argument, NULL, 'f'},
        {"compare", no_argument, NULL, 'c'},
        {"perfetto", required_argument, NULL, 'p'},
        {"summary", no_argument, NULL, 's'},
        {"html", required_argument, NULL, 'w'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    struct trace_filter filter = {.any = false};
    struct trace_model model;
    bool summary = false, compares = false, filters = false;
    const char *perfetto = NULL, *html = NULL;
    int c;
    while ((c = getopt_long(argc, argv, "h", options, NULL)) != -1) {
        if (c == 'h') {
            fputs(usage, stdout);
            return 0;
        }
        summary |= c == 's';
        compares |= c == 'c';
        filters |= c == 'f';
        if (c == 'p')
            perfetto = optarg;
        if (c == 'w')
            html = optarg;
        if (c == '?' || (c == 'f' && !trace_filter_read(&filter, optarg)))
            return 2;
    }
    if (optind + 1 + compares != argc) {
        fputs(usage, stderr);
        return 2;
    }
    if (summary + compares + filters + (perfetto != NULL) + (html != NULL) > 1) {
        fprintf(stderr, "cardless trace: only one of --compare, --filter, --html, --perfetto and "
                        "--summary can be given\n");
        return 2;
    }
    if ((html && option_is_file("html", html, argv[optind])) ||
        (perfetto && option_is_file("perfetto", perfetto, argv[optind])))
        return 2;
    if (!trace_open(&model, argv[optind]))
        return UNREADABLE;
    trace_find_places(&model);
    int status = 0;
    if (compares)
        status = compare(&model, argv + optind);
    else if (perfetto)
        status = trace_write_perfetto(&model, perfetto) ? 0 : UNREADABLE;
    else if (html)
        status = trace_write_html(&model, html) ? 0 : UNREADABLE;
    else if (summary)
        trace_print_summary(&model, stdout);
    else
        trace_print(&model, &filter, stdout);
    trace_close(&model);
    return fflush(stdout) || ferror(stdout) ? UNREADABLE : status; // main prints the reason
}
