// SPDX-License-Identifier: MIT
// The picture of an order: calls of the host on the left, and a column for each stream and for
// graphics.
//
//   the schedule's log                       the trace
//   call 7, submit, hold, run, decide …      call 7: cuMemsetD8Async(…) = CUDA_SUCCESS
//             └────────────┬───────────────────────┘
//                          ▼
//   host                       CUstream #1               one line for each call, and one for each
//   cuMemsetD8Async(p, 7, 16)  memset 1 is postponed *   further thing that happens in it
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "explore.h"

enum {
    MOST_STREAMS = 12,
    NAME_B = 40,
    CELL_B = 64,
    HOST_COLUMNS = 40, // of the text of a call
    GAP_COLUMNS = 2,
    LINE_B = 4096,
    SHOWN_BEFORE = 6, // calls before the first departure
    OUTPUT_LINES = 8
};

struct cell {
    char call[NAME_B]; // "call 7"
    char text[CELL_B];
    char name[NAME_B]; // of the call
    int column;        // of a stream
    bool printed;
};

struct command {
    char number[24], what[NAME_B];
    int column;
};

struct picture {
    char stream[MOST_STREAMS][NAME_B];
    int streams, width[MOST_STREAMS];
    char program[NAME_B];
    char call_name[NAME_B]; // of the call that the log is at
    struct cell *cells;
    size_t cell_count;
    struct command *commands;
    size_t command_count;
};

// ---- reading the log of the schedule ----

static bool grow(void **list, size_t count, size_t size)
{
    if (count & (count - 1)) // it grows when the count is a power of two
        return true;
    void *more = realloc(*list, (count ? 2 * count : 1) * size);
    if (more)
        *list = more;
    return more;
}

static int column_of(struct picture *p, const char *stream)
{
    for (int i = 0; i < p->streams; i++)
        if (!strcmp(p->stream[i], stream))
            return i;
    if (p->streams == MOST_STREAMS)
        return MOST_STREAMS - 1;
    snprintf(p->stream[p->streams], NAME_B, "%s", stream);
    p->width[p->streams] = (int)strlen(p->stream[p->streams]);
    return p->streams++;
}

static const struct command *find_command(const struct picture *p, const char *number)
{
    for (size_t i = p->command_count; i--;)
        if (!strcmp(p->commands[i].number, number))
            return &p->commands[i];
    return NULL;
}

static void add_cell(struct picture *p, const char *call, const struct command *c, const char *verb)
{
    if (!grow((void **)&p->cells, p->cell_count, sizeof *p->cells))
        return;
    struct cell *cell = &p->cells[p->cell_count++];
    snprintf(cell->call, sizeof cell->call, "%s", call);
    snprintf(cell->text, sizeof cell->text, "%.30s %.12s %s", c->what, c->number, verb);
    cell->column = c->column;
    cell->printed = false;
    snprintf(cell->name, sizeof cell->name, "%s", p->call_name);
    if ((int)strlen(cell->text) > p->width[c->column])
        p->width[c->column] = (int)strlen(cell->text);
}

// A command that is submitted has a cell of its own only if it neither runs nor is postponed at
// once.
static void drop_cell_of(struct picture *p, const char *call, const struct command *c)
{
    char text[CELL_B];
    snprintf(text, sizeof text, "%.30s %.12s waits", c->what, c->number);
    if (p->cell_count && !strcmp(p->cells[p->cell_count - 1].text, text) &&
        !strcmp(p->cells[p->cell_count - 1].call, call))
        p->cell_count--;
}

static void read_submit(struct picture *p, const char *call, char *const *field)
{
    if (!grow((void **)&p->commands, p->command_count, sizeof *p->commands))
        return;
    struct command *c = &p->commands[p->command_count++];
    snprintf(c->number, sizeof c->number, "%s", field[1]);
    snprintf(c->what, sizeof c->what, "%s", field[3]);
    c->column = column_of(p, field[2]);
    add_cell(p, call, c, "waits");
}

// A command that runs in several steps has one cell for its start.
static bool has_run(const struct picture *p, const struct command *c)
{
    char text[CELL_B];
    size_t size = (size_t)snprintf(text, sizeof text, "%.30s %.12s runs", c->what, c->number);
    for (size_t i = p->cell_count; i--;)
        if (!strncmp(p->cells[i].text, text, size))
            return true;
    return false;
}

// Returns whether it made a cell.
static bool read_happening(struct picture *p, const char *call, char *const *field, bool departs)
{
    const char *star = departs ? " *" : "";
    char verb[32];
    const struct command *c = find_command(p, field[1]);
    if (!c || (!strcmp(field[0], "run") && has_run(p, c)))
        return false;
    drop_cell_of(p, call, c);
    snprintf(verb, sizeof verb, "%s%s",
             !strcmp(field[0], "hold")   ? "is postponed"
             : !strcmp(field[0], "late") ? "runs late"
                                         : "runs",
             star);
    add_cell(p, call, c, verb);
    return true;
}

static void read_step(struct picture *p, const char *call, char *const *field, bool departs)
{
    const struct command *launch = find_command(p, field[1]);
    struct command step;
    if (!launch)
        return;
    step = *launch;
    snprintf(step.what, sizeof step.what, "  %.30s of", field[2]);
    add_cell(p, call, &step, departs ? "runs *" : "runs");
}

static unsigned split(char *line, char **field, unsigned most)
{
    unsigned count = 0;
    line[strcspn(line, "\n")] = 0;
    for (char *rest = line, *next; count < most && (next = strsep(&rest, "\t"));)
        field[count++] = next;
    return count;
}

static void read_schedule(const struct explore *x, pid_t process, struct picture *p)
{
    char path[128], line[512], call[NAME_B] = "", *field[4];
    bool departs = false;
    explore_process_path(x, 0, "schedule", process, path, sizeof path);
    FILE *f = fopen(path, "r");
    while (f && fgets(line, sizeof line, f)) {
        unsigned fields = split(line, field, 4);
        if (fields == 3 && !strcmp(field[0], "call")) {
            snprintf(call, sizeof call, "%s", field[1]);
            snprintf(p->call_name, sizeof p->call_name, "%s", field[2]);
        } else if (fields == 2 && !strcmp(field[0], "program")) {
            snprintf(p->program, sizeof p->program, "%s", field[1]);
        } else if (fields == 4 && !strcmp(field[0], "submit")) {
            read_submit(p, call, field);
        } else if (fields == 4 && !strcmp(field[0], "decide")) {
            departs = strcmp(field[3], "0") != 0;
        } else if (fields == 3 && !strcmp(field[0], "step")) {
            read_step(p, call, field, departs);
            departs = false;
        } else if (fields == 2 && read_happening(p, call, field, departs)) {
            departs = false;
        }
    }
    if (f)
        fclose(f);
}

// ---- calls ----

// The text of a call without the names of its arguments, and without its stream, which is a column,
// unless there is no other argument: "f(a=1, b={c=2}, hStream=CUstream #1)" becomes "f(1, {2})".
static void shorten(const char *call, char *out, size_t size)
{
    size_t used = 0, argument = 0;
    const char *open = strchr(call, '(');
    for (const char *c = call; *c && used + 1 < size; c++) {
        if (open && c > open && *c == '=' && c[1] != ' ' && c[-1] != ' ') {
            bool stream = used >= 6 && !strncasecmp(out + used - 6, "stream", 6);
            while (used && (isalnum((unsigned char)out[used - 1]) || out[used - 1] == '_'))
                used--;
            if (stream && (argument || c[strcspn(c, ",)")] == ',')) {
                c += strcspn(c, ",)");
                used = argument ? argument - 1 : used;
                if (!argument && *c == ',')
                    c += strspn(c, ", ");
                c--;
            }
            continue;
        }
        if (*c == ',')
            argument = used + 1;
        if (!strncmp(c, "_v2(", 4) || !strncmp(c, "_v3(", 4))
            c += 3;
        out[used++] = *c;
    }
    out[used] = 0;
}

static bool concerns_order(const char *name)
{
    static const char *const parts[] = {"Synchronize",  "Query", "Record",       "Wait",
                                        "Signal",       "Map",   "Launch",       "Memcpy",
                                        "Memset",       "Free",  "cardlessRead", "cardlessFinish",
                                        "cardlessWrite"};
    char head[NAME_B];
    snprintf(head, sizeof head, "%.*s", (int)strcspn(name, "("), name);
    if (strstr(head, "GetMapped"))
        return false;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strstr(head, parts[i]))
            return true;
    return false;
}

// The number of columns that a text takes in a terminal.
static int columns_of(const char *text)
{
    int columns = 0;
    for (; *text; text++)
        columns += ((unsigned char)*text & 0xc0) != 0x80;
    return columns;
}

static void pad(FILE *to, const char *text, int columns)
{
    int gap = columns - columns_of(text);
    fprintf(to, "%s%*s", text, gap > 0 ? gap : 0, "");
}

// ---- printing ----

static void print_row(const struct picture *p, const char *host, const struct cell *cell, FILE *to)
{
    fputs("  ", to);
    if (!cell) {
        fprintf(to, "%s\n", host);
        return;
    }
    pad(to, host, HOST_COLUMNS);
    for (int i = 0; i < cell->column; i++)
        fprintf(to, "%*s", GAP_COLUMNS + p->width[i], "");
    fprintf(to, "%*s%s\n", GAP_COLUMNS, "", cell->text);
}

static void print_head(const struct picture *p, FILE *to)
{
    fputs("  ", to);
    pad(to, "host", HOST_COLUMNS);
    for (int i = 0; i < p->streams; i++) {
        fprintf(to, "%*s", GAP_COLUMNS, "");
        pad(to, p->stream[i], i + 1 < p->streams ? p->width[i] : 0);
    }
    fputs("\n  ", to);
    for (int i = -1; i < p->streams; i++) {
        fprintf(to, "%*s", i < 0 ? 0 : GAP_COLUMNS, "");
        for (int j = 0; j < (i < 0 ? HOST_COLUMNS : p->width[i]); j++)
            fputs("─", to);
    }
    fputc('\n', to);
}

static void host_text(const char *text, char *out, size_t size)
{
    char line[512], *end = strstr(text, ") = ");
    char code[64] = "";
    snprintf(line, sizeof line, "%.*s", end ? (int)(end + 1 - text) : 400, text);
    if (end && strncmp(end + 4, "CUDA_SUCCESS", 12))
        snprintf(code, sizeof code, " = %.*s", (int)strcspn(end + 4, ";\n"), end + 4);
    char brief[512];
    shorten(line, brief, sizeof brief);
    int room = HOST_COLUMNS - columns_of(code);
    if (columns_of(brief) > room && room > 2)
        snprintf(brief + room - 2, sizeof brief - (size_t)room + 2, "…)");
    snprintf(out, size, "%s%s", brief, code);
}

// The next cell of the call from `from` on that has not been printed, or cell_count.
static size_t find_cell(const struct picture *p, size_t from, const char *call)
{
    while (from < p->cell_count && (p->cells[from].printed || strcmp(p->cells[from].call, call)))
        from++;
    return from;
}

// Whether a call has a row of its own: something happens in it, or it concerns the order of work
// that has been submitted.
static bool has_row(const struct picture *p, const char *call, const char *text, bool begun)
{
    return find_cell(p, 0, call) < p->cell_count || (begun && concerns_order(text));
}

// Prints a call with everything that happened in it.
static void print_call(struct picture *p, const char *call, const char *text, FILE *to)
{
    char host[600];
    size_t at = find_cell(p, 0, call);
    host_text(text, host, sizeof host);
    if (at == p->cell_count)
        print_row(p, host, NULL, to);
    for (bool first = true; at < p->cell_count; at = find_cell(p, at, call)) {
        print_row(p, first ? host : "", &p->cells[at], to);
        p->cells[at].printed = true;
        first = false;
    }
}

// Reads the next line of the trace: "call 7" and the text of the call.
static bool next_call(FILE *trace, char *line, int size, char **text)
{
    while (trace && fgets(line, size, trace)) {
        char *colon = strstr(line, ": ");
        if (!colon)
            continue;
        *colon = 0;
        *text = colon + 2;
        return true;
    }
    return false;
}

static bool departs(const struct picture *p, const char *call)
{
    for (size_t i = 0; i < p->cell_count; i++)
        if (!strcmp(p->cells[i].call, call) && strchr(p->cells[i].text, '*'))
            return true;
    return false;
}

// How many rows of calls come before the first one that departs from eager.
static unsigned rows_before(const struct picture *p, FILE *trace)
{
    char line[LINE_B], *text;
    unsigned rows = 0;
    while (next_call(trace, line, sizeof line, &text)) {
        if (departs(p, line))
            return rows;
        rows += has_row(p, line, text, rows);
    }
    return 0;
}

static void hide_cells(struct picture *p, const char *call)
{
    for (size_t at = 0; (at = find_cell(p, at, call)) < p->cell_count;)
        p->cells[at].printed = true;
}

static void not_returned(const char *name, char *out, size_t size)
{
    snprintf(out, size, "%.*s (does not return)", HOST_COLUMNS - 18, name);
}

// Calls that have not returned are in the log of the schedule alone, without their arguments. The
// call that waits in a deadlock may not be there either, if nothing happened in it.
static void print_rest(const struct picture *p, const char *waits, FILE *to)
{
    const char *last = "";
    bool found = !*waits;
    for (size_t i = 0; i < p->cell_count; i++) {
        const struct cell *c = &p->cells[i];
        if (c->printed)
            continue;
        char host[NAME_B + 32];
        not_returned(c->name, host, sizeof host);
        print_row(p, strcmp(last, c->call) ? host : "", c, to);
        last = c->call;
        found |= !strcmp(c->name, waits);
    }
    if (!found) {
        char host[NAME_B + 32];
        not_returned(waits, host, sizeof host);
        print_row(p, host, NULL, to);
    }
}

static void print_calls(const struct explore *x, pid_t process, struct picture *p,
                        const char *waits, FILE *to)
{
    char path[128], line[LINE_B], *text;
    bool begun = false;
    explore_process_path(x, 0, "trace", process, path, sizeof path);
    FILE *trace = fopen(path, "r");
    unsigned rows = rows_before(p, trace),
             hidden = rows > SHOWN_BEFORE + 2 ? rows - SHOWN_BEFORE : 0;
    if (hidden)
        fprintf(to, "  … %u calls before\n", hidden);
    if (trace)
        rewind(trace);
    while (next_call(trace, line, sizeof line, &text)) {
        if (!has_row(p, line, text, begun))
            continue;
        begun = true;
        if (hidden) {
            hidden--;
            hide_cells(p, line);
        } else {
            print_call(p, line, text, to);
        }
    }
    if (trace)
        fclose(trace);
    print_rest(p, waits, to);
}

static void free_picture(struct picture *p)
{
    free(p->cells);
    free(p->commands);
}

// One picture for each process in which work has waited: processes do not share streams, and how
// they overlap in time is not known.
void explore_picture(const struct explore *x, const char *waits, FILE *to)
{
    pid_t processes[EXPLORE_PROCESSES];
    const size_t count = explore_processes(x, 0, processes);
    for (size_t i = 0; i < count; i++) {
        struct picture p = {.streams = 0};
        read_schedule(x, processes[i], &p);
        if (p.streams && count > 1)
            fprintf(to, "  process %zu of %zu, %s:\n\n", i + 1, count, p.program);
        if (p.streams) {
            print_head(&p, to);
            print_calls(x, processes[i], &p, waits, to);
        }
        if (p.streams && i + 1 < count)
            fputc('\n', to);
        free_picture(&p);
    }
}

// Control bytes would move the cursor or change the terminal.
static void replace_controls(char *text)
{
    for (; *text; text++)
        if (((unsigned char)*text < 0x20 && *text != '\t') || *text == 0x7f)
            *text = '?';
}

void explore_output(const struct explore *x, FILE *to)
{
    char path[128], line[OUTPUT_LINES][256];
    unsigned count = 0;
    explore_log_path(x, 0, "output", path, sizeof path);
    FILE *f = fopen(path, "r");
    while (f && fgets(line[count % OUTPUT_LINES], sizeof *line, f))
        count++;
    if (f)
        fclose(f);
    for (unsigned i = count < OUTPUT_LINES ? 0 : count - OUTPUT_LINES; i < count; i++) {
        char *text = line[i % OUTPUT_LINES];
        text[strcspn(text, "\n")] = 0;
        replace_controls(text);
        fprintf(to, "  | %s\n", text);
    }
}
