// SPDX-License-Identifier: MIT
// Appends to files, and opens a file again if the program has closed its descriptor.
#include "sink.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

// Whether the path names a descriptor that the process has already. Such a path is a symbolic link
// to a file of any kind.
static bool names_descriptor(const char *path)
{
    static const char *const names[] = {"/dev/stdout", "/dev/stderr"}, *const folders[] = {
                                                                           "/dev/fd/",
                                                                           "/proc/self/fd/"};
    for (unsigned i = 0; i < 2; i++) {
        if (!strcmp(path, names[i]) || !strncmp(path, folders[i], strlen(folders[i])))
            return true;
    }
    return false;
}

// Whether bytes may be appended to a file that was opened by its name. A file that is not regular,
// such as a pipe, may belong to somebody who waits for the program to open it.
static bool is_wanted(int fd, const char *path)
{
    struct stat s;
    return !fstat(fd, &s) &&
           (S_ISREG(s.st_mode) || (S_ISCHR(s.st_mode) && !strncmp(path, "/dev/", 5)));
}

// Copies a path with the number of this process for each "%p". Returns false if it is too long.
static bool expand(const char *path, char *out, size_t size)
{
    size_t used = 0;
    for (; *path && used + 1 < size; path++) {
        if (strncmp(path, "%p", 2)) {
            out[used++] = *path;
            continue;
        }
        const int digits = snprintf(out + used, size - used, "%ld", (long)getpid());
        used += (size_t)digits < size - used ? (size_t)digits : size - used - 1;
        path++;
    }
    out[used] = 0;
    return !*path;
}

// Opens the file for the user alone. Returns the reason if it cannot, or NULL.
static const char *open_file(struct em_sink_file *file, const char *with_process)
{
    char path[PATH_MAX];
    file->open = false;
    if (!expand(with_process, path, sizeof path))
        return strerror(ENAMETOOLONG);
    static const char not_regular[] = "it is not a regular file; name a file, or a descriptor as "
                                      "/dev/fd/N";
    bool descriptor = names_descriptor(path);
    int flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY;
    // O_NONBLOCK: a pipe that nobody reads must not hold the program up.
    int fd = open(path, descriptor ? flags : flags | O_NOFOLLOW | O_NONBLOCK, 0600);
    if (fd < 0 && !descriptor && errno == ELOOP)
        return "it is a symbolic link, which is not followed; name the file itself";
    if (fd < 0)
        return errno == ENXIO ? not_regular : strerror(errno);
    if (!descriptor && !is_wanted(fd, path)) {
        close(fd);
        return not_regular;
    }
    if (!descriptor)
        fcntl(fd, F_SETFL, O_APPEND); // without O_NONBLOCK
    int high = dm_fd_duplicate_high(fd);
    if (high >= 0) {
        close(fd);
        fd = high;
    }
    struct stat s;
    file->regular = !fstat(fd, &s) && S_ISREG(s.st_mode);
    file->open = !dm_fd_remember(fd, &file->identity);
    return file->open ? NULL : strerror(errno);
}

ssize_t em_sink_write_once(int fd, const char *text, size_t size)
{
    const struct timespec now = {0};
    sigset_t pipe_signal, pending, before;
    sigemptyset(&pipe_signal);
    sigaddset(&pipe_signal, SIGPIPE);
    // A write to a pipe that nobody reads raises SIGPIPE in this thread, in addition to EPIPE. It
    // is blocked and then consumed, unless it was pending already and is thus the program's own.
    sigpending(&pending);
    if (pthread_sigmask(SIG_BLOCK, &pipe_signal, &before)) {
        errno = EINVAL;
        return -1;
    }
    ssize_t n = write(fd, text, size);
    int error = errno;
    if (n < 0 && error == EPIPE && !sigismember(&pending, SIGPIPE))
        sigtimedwait(&pipe_signal, NULL, &now);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return n;
}

void em_sink_write_all(int fd, const char *text, size_t size)
{
    while (size) {
        ssize_t n = em_sink_write_once(fd, text, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return;
        text += n;
        size -= (size_t)n;
    }
}

bool em_sink_write(struct em_sink_file *file, const char *setting, const char *path,
                   const char *text, size_t size)
{
    if (file->failed)
        return false;
    const char *why = NULL;
    if (!(file->open && dm_fd_still_ours(&file->identity)))
        why = open_file(file, path);
    if (why) {
        file->failed = true;
        fprintf(stderr, "cardless: %s: cannot open %s: %s\n", setting, path, why);
        return false;
    }
    while (size) {
        ssize_t n = file->regular ? write(file->identity.fd, text, size)
                                  : em_sink_write_once(file->identity.fd, text, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            file->failed = true;
            fprintf(stderr, "cardless: %s: cannot write to %s: %s\n", setting, path,
                    strerror(errno));
            return false;
        }
        text += n;
        size -= (size_t)n;
    }
    return true;
}
