// SPDX-License-Identifier: MIT
// Appends to files whose descriptors the program may take away.
#include "sink.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// Above what programs close in loops, and what their own files get.
enum { HIGH_DESCRIPTOR = 900 };

static bool is_ours(const struct em_sink_file *file)
{
    struct stat st;
    return file->open && !fstat(file->identity.fd, &st) && st.st_dev == file->identity.dev && st.st_ino == file->identity.ino;
}

static bool open_file(struct em_sink_file *file, const char *path)
{
    file->open = false;
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (fd < 0)
        return false;
    int high = fcntl(fd, F_DUPFD_CLOEXEC, HIGH_DESCRIPTOR);
    if (high >= 0) {
        close(fd);
        fd = high;
    }
    file->open = !dm_fd_remember(fd, &file->identity);
    return file->open;
}

bool em_sink_write(struct em_sink_file *file, const char *setting, const char *path, const char *text, size_t size)
{
    if (file->failed)
        return false;
    if (!is_ours(file) && !open_file(file, path)) {
        file->failed = true;
        fprintf(stderr, "cardless: %s: cannot open %s: %s\n", setting, path, strerror(errno));
        return false;
    }
    while (size) {
        ssize_t n = write(file->identity.fd, text, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            file->failed = true;
            fprintf(stderr, "cardless: %s: cannot write to %s: %s\n", setting, path, strerror(errno));
            return false;
        }
        text += n;
        size -= (size_t)n;
    }
    return true;
}
