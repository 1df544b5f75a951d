// SPDX-License-Identifier: MIT
// Starts the program, passes signals on, reads the file of its diagnostics, and ends as it does.
#include "supervise.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "temporary.h"

enum { READ_EVERY_MS = 20, SHOWN_MAX = 8 };

struct log {
    struct temporary folder;
    char path[sizeof((struct temporary *)NULL)->path + 16];
    int fd;
};

// A file in a folder of its own: every process of the run opens it by its name.
static bool log_create(struct log *log)
{
    log->fd = -1;
    if (!temporary_make(&log->folder, "cardless"))
        return false;
    snprintf(log->path, sizeof log->path, "%s/findings", log->folder.path);
    log->fd = open(log->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (log->fd >= 0 && !setenv("CARDLESS_FINDINGS", log->path, 1))
        return true;
    fprintf(stderr, "cardless: cannot make a file for the diagnostics in %s: %s\n",
            log->folder.path, strerror(errno));
    return false;
}

static void log_remove(struct log *log)
{
    if (log->fd >= 0)
        close(log->fd);
    temporary_remove(&log->folder);
}

// With suppressions, this process prints the diagnostics, because only it knows which to hide.
static bool takes_over_printing(const struct report *r)
{
    const char *wanted = getenv("CARDLESS_DIAGNOSTICS");
    if (!r->suppresses || (wanted && *wanted && strcmp(wanted, "text")))
        return false;
    return !setenv("CARDLESS_DIAGNOSTICS", "reader", 1);
}

static void print_finding(void *argument, struct finding *f, const struct occurrence *occurrence)
{
    struct report *r = argument;
    suppressions_apply(&r->suppressions, f);
    if (f->suppressed || occurrence->before >= SHOWN_MAX)
        return;
    finding_print(f, occurrence, stderr);
    if (occurrence->before + 1 == SHOWN_MAX)
        fprintf(stderr, "cardless: further errors like the last one will not be shown\n");
}

// Runs in the child: executes the program, or sends the error number.
static void become_program(char **program, const sigset_t *mask, int errors, pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL); // if this tool is killed
    if (getppid() != parent)
        _exit(126);
    sigprocmask(SIG_SETMASK, mask, NULL);
    execvp(*program, program);
    const int error = errno;
    if (write(errors, &error, sizeof error) < 0)
        _exit(126);
    _exit(error == ENOENT ? 127 : 126);
}

// Returns the child, or -1 after printing a message; `*status` is the status to end with then.
static pid_t start(char **program, const sigset_t *mask, int *status)
{
    int ends[2], error = 0;
    const pid_t parent = getpid();
    *status = 126;
    if (pipe2(ends, O_CLOEXEC)) {
        fprintf(stderr, "cardless: cannot make a pipe: %s\n", strerror(errno));
        return -1;
    }
    fflush(NULL);
    const pid_t child = fork();
    if (!child)
        become_program(program, mask, ends[1], parent);
    close(ends[1]);
    if (child < 0)
        fprintf(stderr, "cardless: cannot start a process: %s\n", strerror(errno));
    const bool failed = child > 0 && read(ends[0], &error, sizeof error) == sizeof error;
    close(ends[0]);
    if (!failed)
        return child;
    fprintf(stderr, "cardless: cannot run %s: %s\n", *program, strerror(error));
    *status = error == ENOENT ? 127 : 126;
    waitpid(child, NULL, 0);
    return -1;
}

// Waits for the program. Signals that somebody sends to this process go to the program; those of
// the terminal reach both.
static int wait_for(pid_t child, const sigset_t *signals, struct report *r, struct findings *f,
                    bool prints)
{
    const struct timespec period = {0, READ_EVERY_MS * 1000000};
    int status = 0;
    for (;;) {
        siginfo_t info;
        const pid_t ended = waitpid(child, &status, WNOHANG);
        if (ended == child || (ended < 0 && errno != EINTR))
            break;
        const int signal = sigtimedwait(signals, &info, prints ? &period : NULL);
        if (signal > 0 && signal != SIGCHLD && info.si_code <= 0)
            kill(child, signal);
        if (prints)
            findings_read(f, print_finding, r);
    }
    return status;
}

static int finish(struct report *r, struct findings *f, const struct run_result *run, bool prints)
{
    bool fine = findings_read(f, prints ? print_finding : NULL, r);
    size_t selected = 0;
    char ids[256] = "";
    for (size_t i = 0; i < f->count; i++) {
        struct finding *x = f->list[i];
        if (!prints)
            suppressions_apply(&r->suppressions, x);
        if (!report_selects(r, x))
            continue;
        const size_t used = strlen(ids);
        if (!strstr(ids, x->id) && used + strlen(x->id) + 3 < sizeof ids)
            snprintf(ids + used, sizeof ids - used, "%s%s", used ? ", " : "", x->id);
        selected++;
    }
    findings_fingerprint(f);
    fine &= report_write(r, f, run);
    if (WIFSIGNALED(run->status))
        return 128 + WTERMSIG(run->status);
    if (WEXITSTATUS(run->status))
        return WEXITSTATUS(run->status);
    if (r->error_on > ERROR_ON_NEVER && selected) {
        fprintf(stderr, "cardless: --error-on: %zu %s (%s)\n", selected,
                selected == 1 ? "diagnostic makes the run fail" : "diagnostics make the run fail",
                ids);
        return EXIT_FOUND;
    }
    return fine ? 0 : 126;
}

// Ends as a program does that a signal ended, but without a core file, which is the program's.
static void end_by(int signal_number)
{
    const struct rlimit none = {0, 0};
    sigset_t set;
    fflush(NULL);
    setrlimit(RLIMIT_CORE, &none);
    signal(signal_number, SIG_DFL);
    sigemptyset(&set);
    sigaddset(&set, signal_number);
    raise(signal_number);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
}

static double seconds_since(const struct timespec *begin)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - begin->tv_sec) + (double)(now.tv_nsec - begin->tv_nsec) * 1e-9;
}

static int run_program(char **program, struct report *r, int log, int *ending)
{
    static const int passed_on[] = {SIGCHLD, SIGTERM, SIGINT,  SIGQUIT,
                                    SIGHUP,  SIGUSR1, SIGUSR2, SIGCONT};
    sigset_t signals, before;
    struct timespec begin;
    struct findings f;
    struct run_result run = {.program = program};
    int status;
    const bool prints = takes_over_printing(r);
    sigemptyset(&signals);
    for (unsigned i = 0; i < sizeof passed_on / sizeof *passed_on; i++)
        sigaddset(&signals, passed_on[i]);
    sigprocmask(SIG_BLOCK, &signals, &before);
    signal(SIGCHLD, SIG_DFL); // if it was ignored, the kernel would not keep the program's status
    clock_gettime(CLOCK_REALTIME, &run.begin);
    clock_gettime(CLOCK_MONOTONIC, &begin);
    const pid_t child = start(program, &before, &status);
    if (child < 0)
        return status;
    findings_init(&f, log);
    run.status = wait_for(child, &signals, r, &f, prints);
    run.seconds = seconds_since(&begin);
    status = finish(r, &f, &run, prints);
    if (WIFSIGNALED(run.status))
        *ending = WTERMSIG(run.status);
    findings_finish(&f);
    return status;
}

int supervise(char **program, struct report *r)
{
    struct log log;
    int status = 126, ending = 0;
    if (report_open(r)) {
        if (log_create(&log))
            status = run_program(program, r, log.fd, &ending);
        log_remove(&log);
    }
    report_finish(r);
    if (ending)
        end_by(ending);
    return status;
}
