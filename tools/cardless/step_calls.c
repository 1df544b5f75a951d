// SPDX-License-Identifier: MIT
// `cardless step`: stops a program before each call of the driver and before each command of a
// stream, and shows its state.
//
// The program records itself and sleeps at its stops (emulator/core/stop.h). At a stop the
// recording is complete, so it is read anew to show the state.
#include "step_calls.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib.h"
#include "step_page.h"
#include "step_show.h"
#include "temporary.h"
#include "vulkan_layer.h"

enum { NOT_STEPPED = 3, QUIT = 130, CANNOT_RUN = 126, NOT_FOUND = 127, FIRST_FD = 200 };

static const char help[] =
    "  next [N], n       run to the next call, or to the N-th one\n"
    "  step [N], s       run to the next call or command\n"
    "  until NAME, u     run to a call (cuMemAlloc*, cudaMalloc), a kind of command (memcpy), a\n"
    "                    diagnostic (B01); \"diagnostic\" is any of them\n"
    "  continue, c       run to the end\n"
    "  map, m            memory: addresses, sizes, and whose bytes are the same\n"
    "  objects, o        streams, events, arrays and other objects\n"
    "  queues, k         commands that are not complete\n"
    "  quit, q           end the program\n"
    "  an empty line     the last command again\n";

// When the program stops again.
struct goal {
    enum { TO_CALL, TO_ANY, TO_NAME, TO_END } kind;
    unsigned long count;
    char name[96];
};

struct session {
    const struct step_calls *options;
    FILE *commands, *out;
    char *script, *script_copy; // the rest of a copy of options->script, and that copy
    bool echoes, ended;         // `ended`: there are no more commands
    char last[256];
    struct temporary folder; // of the recordings of all processes of the run
    char recording[96];
    struct em_stop_page *page;
    int page_fd;
    pid_t child;
    struct trace_model model; // of the last stop that was shown
    bool has_model;
    struct step_lines before;
    bool *told; // by position in model.calls: its result was printed or passed over
    size_t told_count, shown_call; // `shown_call`: the position of the last call that was shown
    bool in_vain;                  // the last `until` never stopped
};

// ---- the recording

static uint8_t *read_file(const char *path, size_t *size_B)
{
    struct stat s;
    uint8_t *bytes = NULL;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && !fstat(fd, &s) && s.st_size > 0)
        bytes = malloc((size_t)s.st_size);
    *size_B = 0;
    while (bytes && *size_B < (size_t)s.st_size) {
        const ssize_t n = read(fd, bytes + *size_B, (size_t)s.st_size - *size_B);
        if (n <= 0)
            break;
        *size_B += (size_t)n;
    }
    if (fd >= 0)
        close(fd);
    return bytes;
}

static bool read_model(struct session *s)
{
    size_t size_B;
    uint8_t *bytes = read_file(s->recording, &size_B);
    if (s->has_model)
        trace_close(&s->model);
    s->has_model = bytes && trace_open_bytes(&s->model, bytes, size_B);
    if (s->has_model)
        trace_find_places(&s->model);
    else
        fprintf(stderr, "cardless step: cannot read the recording of the program\n");
    return s->has_model;
}

// ---- what a stop shows

// Makes `told` long enough.
static bool keep_told(struct session *s, size_t count)
{
    if (count <= s->told_count)
        return true;
    bool *told = realloc(s->told, 2 * count * sizeof *told);
    if (!told)
        return false;
    memset(told + s->told_count, 0, (2 * count - s->told_count) * sizeof *told);
    s->told = told;
    s->told_count = 2 * count;
    return true;
}

// The results of the call that was shown and of calls that have failed, diagnostics, and all that
// has changed.
static void show_changes(struct session *s, uint64_t next)
{
    const struct trace_model *m = &s->model;
    struct step_lines now = {.lines = NULL};
    for (size_t i = 0; i < m->call_count && keep_told(s, m->call_count); i++) {
        const struct trace_call *c = &m->calls[i];
        if (s->told[i] || c->end == TRACE_NEVER)
            continue;
        s->told[i] = true;
        if (i == s->shown_call || c->result)
            step_show_return(m, c, s->out);
        for (size_t k = 0; k < m->diagnostic_count; k++)
            if (m->diagnostics[k].call == i)
                fprintf(s->out, "  ! [%s] %s\n", m->diagnostics[k].id, m->diagnostics[k].text);
    }
    step_lines_of(&now, m, next);
    step_lines_compare(&s->before, &now, s->out);
    step_lines_finish(&s->before);
    s->before = now;
}

static const struct trace_call *current_call(const struct session *s)
{
    const struct trace_model *m = &s->model;
    for (size_t i = m->call_count; i; i--)
        if (m->calls[i - 1].end == TRACE_NEVER &&
            m->threads[m->calls[i - 1].thread].id == s->page->thread)
            return &m->calls[i - 1];
    return NULL;
}

static void show_stop(struct session *s)
{
    const struct em_stop_page *p = s->page;
    const bool is_command = p->kind == EM_STOP_COMMAND;
    if (!read_model(s))
        return;
    const struct trace_model *m = &s->model;
    show_changes(s, is_command ? p->id : 0);
    if (p->kind == EM_STOP_CALL) {
        const struct trace_call *c = current_call(s);
        if (c) {
            s->shown_call = (size_t)(c - m->calls);
            step_show_call(m, c, s->out);
        }
    }
    for (size_t i = m->command_count; is_command && i; i--)
        if (m->commands[i - 1].id == p->id) {
            step_show_command(m, &m->commands[i - 1], s->out);
            break;
        }
    if (p->kind == EM_STOP_DIAGNOSTIC && m->diagnostic_count) {
        const struct trace_diagnostic *d = &m->diagnostics[m->diagnostic_count - 1];
        fprintf(s->out, "diagnostic [%s] %s\n", d->id, d->text);
    }
}

// ---- commands

// Reads the next command. Returns false after the last one.
static bool read_command(struct session *s, char *line, size_t size)
{
    fprintf(s->out, "(step) ");
    fflush(s->out);
    if (s->script) {
        char *semicolon = strchr(s->script, ';');
        const size_t length = semicolon ? (size_t)(semicolon - s->script) : strlen(s->script);
        snprintf(line, size, "%.*s", (int)length, s->script);
        s->script = semicolon ? semicolon + 1 : NULL;
    } else if (!s->commands || !fgets(line, (int)size, s->commands)) {
        fputc('\n', s->out);
        return false;
    }
    size_t used = strcspn(line, "\n");
    while (used && (line[used - 1] == ' ' || line[used - 1] == '\t'))
        used--;
    line[used] = 0;
    const char *text = line + strspn(line, " \t");
    memmove(line, text, strlen(text) + 1);
    if (s->echoes)
        fprintf(s->out, "%s\n", line);
    return true;
}

static bool is(const char *word, const char *name, const char *letter)
{
    return !strcmp(word, name) || !strcmp(word, letter);
}

static bool read_count(struct session *s, const char *text, unsigned long *count)
{
    char *end;
    *count = *text ? strtoul(text, &end, 10) : 1;
    if (!*text || (!*end && *count && *text >= '0' && *text <= '9'))
        return true;
    fprintf(s->out, "%s is not a number from 1\n", text);
    return false;
}

enum outcome { AGAIN, GO, END };

static enum outcome obey(struct session *s, char *line, struct goal *goal)
{
    char word[32];
    const size_t length = strcspn(line, " ");
    const char *rest = line + length + strspn(line + length, " ");
    snprintf(word, sizeof word, "%.*s", (int)length, line);
    *goal = (struct goal){.kind = TO_CALL, .count = 1};
    if (is(word, "print", "p")) { // print map
        char part[64];
        snprintf(part, sizeof part, "%s", rest);
        return strncmp(part, "print", 5) ? obey(s, part, goal) : AGAIN;
    }
    if (is(word, "quit", "q"))
        return END;
    if (is(word, "next", "n"))
        return read_count(s, rest, &goal->count) ? GO : AGAIN;
    if (is(word, "step", "s")) {
        goal->kind = TO_ANY;
        return read_count(s, rest, &goal->count) ? GO : AGAIN;
    }
    if (is(word, "continue", "c")) {
        goal->kind = TO_END;
        return GO;
    }
    if (is(word, "until", "u") && *rest) {
        goal->kind = TO_NAME;
        snprintf(goal->name, sizeof goal->name, "%s", rest);
        return GO;
    }
    if (is(word, "map", "m"))
        step_lines_print(&s->before, STEP_MAP, s->out);
    else if (is(word, "objects", "o"))
        step_lines_print(&s->before, STEP_OBJECTS, s->out);
    else if (is(word, "queues", "k"))
        step_lines_print(&s->before, STEP_QUEUES, s->out);
    else
        fprintf(s->out, "%s", help);
    return AGAIN;
}

// Obeys commands until one lets the program run. Returns false if it should end.
static bool ask(struct session *s, struct goal *goal)
{
    char line[256];
    for (;;) {
        if (s->ended || !read_command(s, line, sizeof line)) {
            s->ended = true;
            *goal = (struct goal){.kind = TO_END};
            return true;
        }
        if (*line)
            snprintf(s->last, sizeof s->last, "%s", line);
        else
            snprintf(line, sizeof line, "%s", s->last);
        const enum outcome outcome = *line ? obey(s, line, goal) : AGAIN;
        if (outcome != AGAIN)
            return outcome == GO;
    }
}

// Whether the stop is the one that the last command has asked for.
static bool is_reached(const struct session *s, struct goal *goal)
{
    const struct em_stop_page *p = s->page;
    char plain[sizeof p->name];
    switch (goal->kind) {
    case TO_CALL:
        return p->kind == EM_STOP_CALL && !--goal->count;
    case TO_ANY:
        return p->kind != EM_STOP_DIAGNOSTIC && !--goal->count;
    case TO_NAME:
        snprintf(plain, sizeof plain, "%s", p->name);
        char *version = strstr(plain, "_v");
        if (version && p->kind == EM_STOP_CALL)
            *version = 0; // cuMemAlloc is cuMemAlloc_v2
        if (p->kind == EM_STOP_DIAGNOSTIC && !strcmp(goal->name, "diagnostic"))
            return true;
        return !fnmatch(goal->name, p->name, 0) || !fnmatch(goal->name, plain, 0) ||
               (*p->function && !fnmatch(goal->name, p->function, 0));
    default:
        return false;
    }
}

// ---- the program

static bool start_session(struct session *s)
{
    char ours[PATH_MAX], fd_text[16];
    if (!temporary_make(&s->folder, "cardless-step"))
        return false;
    snprintf(s->recording, sizeof s->recording, "%s/run", s->folder.path);
    s->page = step_page_make(&s->page_fd);
    const int passed = s->page ? fcntl(s->page_fd, F_DUPFD, FIRST_FD) : -1;
    if (passed < 0 || lib_folder(ours, sizeof ours))
        return false;
    snprintf(fd_text, sizeof fd_text, "%d", passed);
    vulkan_layer_enable();
    if (!setenv("CARDLESS_STOP", fd_text, 1) && !setenv("CARDLESS_RECORD", s->recording, 1) &&
        !lib_prepend("LD_LIBRARY_PATH", ours))
        return true;
    fprintf(stderr, "cardless step: out of memory for the environment\n");
    return false;
}

// Opens the commands and the output. Returns false after a message.
static bool cannot_open(const char *path)
{
    fprintf(stderr, "cardless step: cannot open %s: %s\n", path, strerror(errno));
    return false;
}

static bool open_files(struct session *s)
{
    const struct step_calls *o = s->options;
    s->out = o->output ? fopen(o->output, "we") : stdout;
    s->commands = NULL;
    if (!s->out)
        return cannot_open(o->output);
    if (o->file)
        s->commands = fopen(o->file, "re");
    else if (!o->script)
        s->commands = fdopen(fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3), "r");
    s->echoes = o->script || !s->commands || !isatty(fileno(s->commands));
    if (!s->commands && !o->script)
        return cannot_open(o->file ? o->file : "the standard input");
    if (o->script) {
        s->script = s->script_copy = strdup(o->script);
        return s->script != NULL;
    }
    return true;
}

static bool start_program(struct session *s, char **program)
{
    fflush(NULL);
    s->child = fork();
    if (s->child < 0) {
        fprintf(stderr, "cardless step: cannot start a process: %s\n", strerror(errno));
        return false;
    }
    if (s->child)
        return true;
    if (!s->options->file && !s->options->script) { // the input has the commands
        const int empty = open("/dev/null", O_RDONLY | O_CLOEXEC);
        if (empty >= 0)
            dup2(empty, STDIN_FILENO);
    }
    execvp(*program, program);
    const int error = errno;
    fprintf(stderr, "cardless step: cannot run %s: %s\n", *program, strerror(error));
    _exit(error == ENOENT ? NOT_FOUND : CANNOT_RUN);
}

static int exit_status(int status)
{
    if (!WIFSIGNALED(status))
        return WEXITSTATUS(status);
    signal(WTERMSIG(status), SIG_DFL);
    raise(WTERMSIG(status));
    return 128 + WTERMSIG(status);
}

// Runs the program to its end. Returns its wait status, or -1 after the command quit.
static int drive(struct session *s)
{
    struct goal goal = {.kind = TO_CALL, .count = 1};
    int status = 0;
    bool all = false; // nothing stops any more
    while (step_page_wait(s->page, s->child, &status)) {
        if (!all && is_reached(s, &goal)) {
            show_stop(s);
            if (!ask(s, &goal)) {
                // The program may be a child of a shell, for example.
                if (s->page->process)
                    kill((pid_t)s->page->process, SIGKILL);
                kill(s->child, SIGKILL);
                waitpid(s->child, &status, 0);
                return -1;
            }
            all = goal.kind == TO_END;
            if (all)
                __atomic_store_n(&s->page->off, 1, __ATOMIC_RELAXED);
        }
        fflush(s->out);
        step_page_go(s->page);
    }
    s->in_vain = goal.kind == TO_NAME;
    if (s->in_vain)
        fprintf(s->out, "the program has ended before %s\n", goal.name);
    else if (!all)
        fprintf(s->out, "the program has ended\n");
    return status;
}

static void finish_session(struct session *s)
{
    free(s->told);
    free(s->script_copy);
    step_lines_finish(&s->before);
    if (s->has_model)
        trace_close(&s->model);
    temporary_remove(&s->folder);
    if (s->out && s->out != stdout)
        fclose(s->out);
    if (s->commands)
        fclose(s->commands);
}

int step_calls(char **program, const struct step_calls *options)
{
    struct session s = {.options = options, .folder.alive = -1};
    if (!open_files(&s) || !start_session(&s) || !start_program(&s, program)) {
        finish_session(&s);
        return CANNOT_RUN;
    }
    signal(SIGINT, SIG_IGN); // the terminal sends Ctrl-C to both, and the program should decide
    signal(SIGQUIT, SIG_IGN);
    const int status = drive(&s);
    const bool stepped = s.page->process != 0;
    finish_session(&s);
    if (status < 0)
        return QUIT;
    const int result = exit_status(status);
    if (result || (stepped && !s.in_vain))
        return result;
    if (!stepped)
        fprintf(stderr, "cardless step: the program has made no call of the driver\n");
    return NOT_STEPPED;
}
