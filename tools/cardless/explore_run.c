// SPDX-License-Identifier: MIT
// One run of the program under one schedule: starts it, limits its time, and reads its logs.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "explore.h"

double explore_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void log_path(const struct explore *x, unsigned slot, const char *name, char *out,
                     size_t size)
{
    snprintf(out, size, "%s/%s.%u", x->folder, name, slot);
}

// ---- the child ----

static void set_log(const struct explore *x, unsigned slot, const char *name, const char *variable,
                    const char *prefix)
{
    char path[128], value[160];
    log_path(x, slot, name, path, sizeof path);
    snprintf(value, sizeof value, "%s%s", prefix, path);
    setenv(variable, value, 1);
}

static void redirect(const struct explore *x, unsigned slot, bool keep)
{
    char path[128] = "/dev/null";
    if (keep)
        log_path(x, slot, "output", path, sizeof path);
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (fd < 0)
        return;
    dup2(fd, STDOUT_FILENO);
    dup2(fd, STDERR_FILENO);
    close(fd);
}

static void become_program(const struct explore *x, unsigned slot, const char *policy, bool picture,
                           int errors)
{
    sigset_t empty;
    sigemptyset(&empty);
    sigprocmask(SIG_SETMASK, &empty, NULL);
    setpgid(0, 0);
    setenv("CARDLESS_POLICY", policy, 1);
    set_log(x, slot, "schedule", "CARDLESS_SCHEDULE_LOG", "");
    set_log(x, slot, "diagnostics", "CARDLESS_DIAGNOSTICS", "json:");
    setenv("CARDLESS_DEADLOCK", "abort", 1);
    setenv("CARDLESS_DEADLOCK_MS", "500", 0);
    if (x->check_order)
        setenv("CARDLESS_CHECK", "order", 1);
    if (picture)
        set_log(x, slot, "trace", "CARDLESS_TRACE", "");
    else
        unsetenv("CARDLESS_TRACE");
    redirect(x, slot, picture);
    execvp(x->program[0], x->program);
    int error = errno;
    if (write(errors, &error, sizeof error) < 0)
        _exit(126);
    _exit(127);
}

static void remove_logs(const struct explore *x, unsigned slot)
{
    static const char *const names[] = {"schedule", "diagnostics", "trace", "output"};
    char path[128];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        log_path(x, slot, names[i], path, sizeof path);
        unlink(path);
    }
}

bool run_start(const struct explore *x, struct run *run, unsigned slot, const char *policy,
               bool picture)
{
    int ends[2];
    remove_logs(x, slot);
    if (pipe2(ends, O_CLOEXEC)) {
        fprintf(stderr, "cardless explore: cannot make a pipe: %s\n", strerror(errno));
        return false;
    }
    fflush(NULL);
    pid_t pid = fork();
    if (!pid)
        become_program(x, slot, policy, picture, ends[1]);
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        fprintf(stderr, "cardless explore: cannot start a process: %s\n", strerror(errno));
        return false;
    }
    *run = (struct run){pid, explore_now() + x->timeout_s, slot, ends[0]};
    return true;
}

// ---- the end ----

// The decisions that the run has taken.
static void read_decisions(const struct explore *x, unsigned slot, struct outcome *out)
{
    char path[128], line[256];
    size_t capacity = 0;
    log_path(x, slot, "schedule", path, sizeof path);
    FILE *f = fopen(path, "r");
    while (f && fgets(line, sizeof line, f)) {
        struct decision d;
        unsigned number;
        if (sscanf(line, "decide\t%u\t%u\t%u", &number, &d.options, &d.option) != 3 ||
            number != out->count) // of another process, which has written to the same log
            continue;
        if (out->count == capacity) {
            capacity = capacity ? 2 * capacity : 64;
            struct decision *more = realloc(out->decisions, capacity * sizeof *more);
            if (!more)
                break; // the schedule is cut: what is missing takes option 0
            out->decisions = more;
        }
        out->decisions[out->count++] = d;
    }
    if (f)
        fclose(f);
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

// A diagnostic about the order of work: of the ordering checker (O), or a deadlock (S05).
static bool read_diagnostic(const struct explore *x, unsigned slot, char *out, size_t size)
{
    char path[128], line[8192];
    bool found = false;
    log_path(x, slot, "diagnostics", path, sizeof path);
    FILE *f = fopen(path, "r");
    while (f && !found && fgets(line, sizeof line, f)) {
        char id[16] = "", entry[128] = "", text[768] = "";
        copy_member(line, "\"id\":\"", id, sizeof id);
        found = (id[0] == 'O' && id[1] >= '0' && id[1] <= '9') || !strcmp(id, "S05");
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
    *out = (struct outcome){.kind = PASSED};
    if (read(run->exec_errors, &error, sizeof error) == sizeof error) {
        out->kind = CANNOT_RUN;
        out->value = error;
    } else if (read_diagnostic(x, run->slot, out->text, sizeof out->text)) {
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
    read_decisions(x, run->slot, out);
}

bool run_ended(const struct explore *x, struct run *run, struct outcome *out)
{
    int status = 0;
    bool late = explore_now() >= run->deadline_s;
    if (late)
        kill(-run->pid, SIGKILL);
    if (waitpid(run->pid, &status, late ? 0 : WNOHANG) != run->pid)
        return false;
    kill(-run->pid, SIGKILL); // processes that it has left
    judge(x, run, status, late, out);
    close(run->exec_errors);
    run->pid = 0;
    return true;
}

void run_sleep(double until_s)
{
    sigset_t child;
    double left = until_s - explore_now();
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    if (left <= 0)
        return;
    const struct timespec t = {(time_t)left, (long)((left - (double)(time_t)left) * 1e9)};
    sigtimedwait(&child, NULL, &t);
}

bool run_once(const struct explore *x, const char *policy, bool picture, struct outcome *out)
{
    struct run run;
    if (!run_start(x, &run, 0, policy, picture))
        return false;
    while (!run_ended(x, &run, out))
        run_sleep(run.deadline_s);
    return true;
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
        snprintf(out, size, "it ran longer than %g seconds", x->timeout_s);
        break;
    case FAILED_DIAGNOSTIC:
        snprintf(out, size, "%s", o->text);
        break;
    case CANNOT_RUN:
        snprintf(out, size, "cannot run %s: %s", x->program[0], strerror(o->value));
        break;
    }
}
