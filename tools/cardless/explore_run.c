// SPDX-License-Identifier: MIT
// One run of the program under one schedule: starts it, limits its time, and reads its logs.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "explore.h"

#define HOST_MEMORY UINT64_C(0x500000000000) // addresses from here on differ from run to run

double explore_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

// ---- the child ----

// Sets a variable to the path of a log between two texts.
static void set_log(const struct explore *x, unsigned slot, const char *name, const char *variable,
                    const char *before, const char *after)
{
    char path[128], value[160];
    explore_log_path(x, slot, name, path, sizeof path);
    snprintf(value, sizeof value, "%s%s%s", before, path, after);
    setenv(variable, value, 1);
}

static void redirect(const struct explore *x, unsigned slot, bool keep)
{
    char path[128] = "/dev/null";
    if (keep)
        explore_log_path(x, slot, "output", path, sizeof path);
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (fd < 0)
        return;
    dup2(fd, STDOUT_FILENO);
    dup2(fd, STDERR_FILENO);
    close(fd);
}

static void become_program(const struct explore *x, unsigned slot, const char *policy, bool picture,
                           int errors, pid_t parent)
{
    sigset_t empty;
    sigemptyset(&empty);
    sigprocmask(SIG_SETMASK, &empty, NULL);
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL); // if this tool ends without a chance to stop its runs
    if (getppid() != parent)
        _exit(126);
    setenv("CARDLESS_POLICY", policy, 1);
    set_log(x, slot, "schedule", "CARDLESS_SCHEDULE_LOG", "", ".%p");
    set_log(x, slot, "diagnostics", "CARDLESS_DIAGNOSTICS", "json:", "");
    setenv("CARDLESS_DEADLOCK", "abort", 1);
    setenv("CARDLESS_DEADLOCK_MS", "500", 0);
    if (x->check_order)
        setenv("CARDLESS_CHECK", "order", 1);
    else
        unsetenv("CARDLESS_CHECK");
    if (picture)
        set_log(x, slot, "trace", "CARDLESS_TRACE", "", ".%p");
    else
        unsetenv("CARDLESS_TRACE");
    redirect(x, slot, picture);
    execvp(x->program[0], x->program);
    int error = errno;
    if (write(errors, &error, sizeof error) < 0)
        _exit(126);
    _exit(127);
}

static bool run_start_with(const struct explore *x, struct run *run, unsigned slot,
                           const char *policy, bool picture)
{
    int ends[2];
    const pid_t parent = getpid();
    explore_remove_logs(x, slot);
    if (pipe2(ends, O_CLOEXEC)) {
        fprintf(stderr, "cardless explore: cannot make a pipe: %s\n", strerror(errno));
        return false;
    }
    fflush(NULL);
    pid_t pid = fork();
    if (!pid)
        become_program(x, slot, policy, picture, ends[1], parent);
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        fprintf(stderr, "cardless explore: cannot start a process: %s\n", strerror(errno));
        return false;
    }
    *run = (struct run){pid, explore_now() + x->timeout_s, slot, ends[0]};
    return true;
}

bool run_start(const struct explore *x, struct run *run, unsigned slot, const char *policy,
               bool picture)
{
    char path[128];
    char *in_file = NULL;
    if (strlen(policy) <= POLICY_MOST_B)
        return run_start_with(x, run, slot, policy, picture);
    explore_log_path(x, slot, "policy", path, sizeof path);
    in_file = strdup(policy);
    bool started = in_file && schedule_to_file(&in_file, path) &&
                   run_start_with(x, run, slot, in_file, picture);
    free(in_file);
    return started;
}

// ---- the end ----

static void add_decision(struct outcome *o, struct decision d)
{
    if (!(o->count & (o->count - 1))) { // it grows when the count is a power of two
        struct decision *more = realloc(o->decisions, (o->count ? 2 * o->count : 1) * sizeof *more);
        if (!more)
            return; // the schedule is cut: what is missing takes option 0
        o->decisions = more;
    }
    o->decisions[o->count++] = d;
}

// The decisions that one process has taken.
static void read_decisions(const char *path, struct outcome *out)
{
    char line[256];
    FILE *f = fopen(path, "r");
    while (f && fgets(line, sizeof line, f)) {
        struct decision d;
        unsigned number;
        if (sscanf(line, "decide\t%u\t%u\t%u", &number, &d.options, &d.option) == 3 &&
            number == out->count)
            add_decision(out, d);
    }
    if (f)
        fclose(f);
}

// The decisions of the run: the schedule applies to each of its processes, so they are those of the
// process that has taken the most.
static void read_schedules(const struct explore *x, unsigned slot, struct outcome *out)
{
    pid_t processes[EXPLORE_PROCESSES];
    const size_t count = explore_processes(x, slot, processes);
    out->logged = count;
    for (size_t i = 0; i < count; i++) {
        char path[128];
        struct outcome one = {.count = 0};
        explore_process_path(x, slot, "schedule", processes[i], path, sizeof path);
        read_decisions(path, &one);
        if (one.count > out->count) {
            free(out->decisions);
            out->decisions = one.decisions;
            out->count = one.count;
        } else {
            free(one.decisions);
        }
    }
}

static void copy_member(const char *line, const char *name, char *out, size_t size)
{
    const char *at = strstr(line, name);
    size_t used = 0;
    if (!at)
        return;
    for (at += strlen(name); *at && *at != '"' && used + 1 < size; at++) {
        at += *at == '\\' && at[1];
        out[used++] = *at;
    }
    out[used] = 0;
}

// A diagnostic about the order of work: of the ordering checker (O), or a deadlock (S05) if
// `stuck`. Otherwise another thread has ended the wait.
static bool read_diagnostic(const struct explore *x, unsigned slot, bool stuck, char *out,
                            size_t size)
{
    char path[128], line[8192];
    bool found = false;
    explore_log_path(x, slot, "diagnostics", path, sizeof path);
    FILE *f = fopen(path, "r");
    while (f && !found && fgets(line, sizeof line, f)) {
        char id[16] = "", entry[128] = "", text[768] = "";
        copy_member(line, "\"id\":\"", id, sizeof id);
        found = (id[0] == 'O' && id[1] >= '0' && id[1] <= '9') || (stuck && !strcmp(id, "S05"));
        if (!found)
            continue;
        copy_member(line, "\"entry\":\"", entry, sizeof entry);
        copy_member(line, "\"text\":\"", text, sizeof text);
        snprintf(out, size, "%s: %s: %s", id, entry, text);
    }
    if (f)
        fclose(f);
    return found;
}

static void judge(const struct explore *x, const struct run *run, int status, bool late,
                  struct outcome *out)
{
    int error;
    const bool stuck = late || (WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    *out = (struct outcome){.kind = PASSED};
    if (read(run->exec_errors, &error, sizeof error) == sizeof error) {
        out->kind = CANNOT_RUN;
        out->value = error;
    } else if (read_diagnostic(x, run->slot, stuck, out->text, sizeof out->text)) {
        out->kind = FAILED_DIAGNOSTIC;
    } else if (late) {
        out->kind = FAILED_TIMEOUT;
    } else if (WIFSIGNALED(status)) {
        out->kind = FAILED_SIGNAL;
        out->value = WTERMSIG(status);
    } else if (WEXITSTATUS(status)) {
        out->kind = FAILED_EXIT;
        out->value = WEXITSTATUS(status);
    }
    read_schedules(x, run->slot, out);
}

bool run_ended(const struct explore *x, struct run *run, struct outcome *out)
{
    int status = 0;
    bool late = false;
    // One that has ended in time is not late, even if this process looks late.
    if (waitpid(run->pid, &status, WNOHANG) != run->pid) {
        late = explore_now() >= run->deadline_s;
        if (!late)
            return false;
        kill(-run->pid, SIGKILL);
        waitpid(run->pid, &status, 0);
    }
    kill(-run->pid, SIGKILL); // processes that it has left
    judge(x, run, status, late, out);
    close(run->exec_errors);
    run->pid = 0;
    return true;
}

void run_kill(struct run *run)
{
    kill(run->pid, SIGKILL); // before it has a group of its own, too
    kill(-run->pid, SIGKILL);
    waitpid(run->pid, NULL, 0);
    kill(-run->pid, SIGKILL);
    close(run->exec_errors);
    run->pid = 0;
}

// ---- signals ----

static sigset_t awaited;
static int interrupted;

// The awaited signals stay pending until run_sleep takes them.
void run_prepare(void)
{
    static const int ending[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    signal(SIGCHLD, SIG_DFL); // if it is ignored, waitpid finds no children
    sigemptyset(&awaited);
    sigaddset(&awaited, SIGCHLD);
    for (size_t i = 0; i < sizeof ending / sizeof *ending; i++) {
        struct sigaction now;
        if (!sigaction(ending[i], NULL, &now) && now.sa_handler != SIG_IGN)
            sigaddset(&awaited, ending[i]);
    }
    sigprocmask(SIG_BLOCK, &awaited, NULL);
}

void run_sleep(double until_s)
{
    double left = until_s - explore_now();
    if (left <= 0)
        left = 0;
    const struct timespec t = {(time_t)left, (long)((left - (double)(time_t)left) * 1e9)};
    int s = sigtimedwait(&awaited, NULL, &t);
    if (s > 0 && s != SIGCHLD)
        interrupted = s;
}

int run_interrupted(void)
{
    return interrupted;
}

bool run_once(const struct explore *x, const char *policy, bool picture, struct outcome *out)
{
    struct run run;
    if (!run_start(x, &run, 0, policy, picture))
        return false;
    while (!run_ended(x, &run, out)) {
        run_sleep(run.deadline_s);
        if (!run_interrupted())
            continue;
        run_kill(&run);
        return false;
    }
    return true;
}

// ---- comparing ----

// Copies the part of a diagnostic that is the same each time the mistake is made: up to the facts
// about its past, without numbers of calls and addresses of host memory.
static void signature(const char *text, char *out, size_t size)
{
    static const char history[] = ", and nothing orders the two", call[] = "call ";
    const char *end = strstr(text, history);
    size_t used = 0;
    end = end ? end : text + strlen(text);
    while (text < end && used + 1 < size) {
        char *after = NULL;
        if (!strncmp(text, call, sizeof call - 1))
            strtoull(text + sizeof call - 1, &after, 10);
        else if (!strncmp(text, "0x", 2) && strtoull(text, &after, 16) < HOST_MEMORY)
            after = NULL;
        if (after && after != text + sizeof call - 1)
            text = after;
        else
            out[used++] = *text++;
    }
    out[used] = 0;
}

bool outcome_is_same(const struct outcome *a, const struct outcome *b)
{
    char text_a[sizeof a->text], text_b[sizeof b->text];
    if (a->kind != b->kind || a->value != b->value)
        return false;
    signature(a->text, text_a, sizeof text_a);
    signature(b->text, text_b, sizeof text_b);
    return !strcmp(text_a, text_b);
}

void outcome_text(const struct explore *x, const struct outcome *o, char *out, size_t size)
{
    switch (o->kind) {
    case PASSED:
        snprintf(out, size, "it passes");
        break;
    case FAILED_EXIT:
        snprintf(out, size, "exit status %d", o->value);
        break;
    case FAILED_SIGNAL:
        snprintf(out, size, "signal %d (%s)", o->value, strsignal(o->value));
        break;
    case FAILED_TIMEOUT:
        snprintf(out, size, "it ran longer than %g s", x->timeout_s);
        break;
    case FAILED_DIAGNOSTIC:
        snprintf(out, size, "%s", o->text);
        break;
    case CANNOT_RUN:
        snprintf(out, size, "cannot run %s: %s", x->program[0], strerror(o->value));
        break;
    }
}
