// SPDX-License-Identifier: MIT
// A folder for files that must not outlive the tool, however it ends.
#include "temporary.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FDS = 1024 };

// A program that runs on may make a file meanwhile.
static void remove_folder(const char *folder)
{
    enum { TRIALS = 16 };
    char path[PATH_MAX];
    for (unsigned i = 0; i < TRIALS && rmdir(folder) && errno != ENOENT; i++) {
        DIR *d = opendir(folder);
        for (const struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d))
            if (snprintf(path, sizeof path, "%s/%s", folder, e->d_name) < (int)sizeof path)
                unlink(path);
        if (d)
            closedir(d);
    }
}

// Makes the folder, sends its name, waits for the end of the tool, and removes the folder. Signals
// of the terminal must not end this process first, and its output must not keep a reader of the
// tool's output waiting.
static __attribute__((noreturn)) void clean(char *folder, size_t size, int tool)
{
    char byte;
    setsid();
    signal(SIGTERM, SIG_IGN);
    if (tool == STDIN_FILENO || dup2(tool, STDIN_FILENO) == STDIN_FILENO) {
        for (int fd = 1; fd < FDS; fd++)
            close(fd);
        if (!mkdtemp(folder))
            _exit(1);
        if (send(STDIN_FILENO, folder, size, MSG_NOSIGNAL) > 0)
            while (read(STDIN_FILENO, &byte, 1) < 0 && errno == EINTR)
                ;
        remove_folder(folder);
    }
    _exit(0);
}

bool temporary_make(struct temporary *t, const char *name)
{
    const char *base = getenv("TMPDIR");
    char folder[sizeof t->path] = "";
    int ends[2] = {-1, -1};
    base = base && *base ? base : "/tmp";
    *t = (struct temporary){.alive = -1};
    int length = snprintf(folder, sizeof folder, "%s/%s-XXXXXX", base, name);
    if (length >= (int)sizeof folder)
        length = snprintf(folder, sizeof folder, "/tmp/%s-XXXXXX", name);
    fflush(NULL);
    if (length < (int)sizeof folder && !socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
        t->cleaner = fork();
    if (ends[0] >= 0 && !t->cleaner) {
        close(ends[1]);
        clean(folder, sizeof folder, ends[0]);
    }
    if (ends[0] >= 0)
        close(ends[0]);
    t->alive = ends[1];
    if (t->cleaner > 0 &&
        recv(t->alive, t->path, sizeof t->path, MSG_WAITALL) == (ssize_t)sizeof t->path)
        return true;
    fprintf(stderr, "cardless: cannot make a folder in %s\n", base);
    temporary_remove(t);
    return false;
}

void temporary_forget(const struct temporary *t)
{
    if (t->alive >= 0)
        close(t->alive);
}

void temporary_remove(struct temporary *t)
{
    if (t->alive >= 0)
        close(t->alive);
    if (t->cleaner > 0)
        waitpid(t->cleaner, NULL, 0);
    *t = (struct temporary){.alive = -1};
}
