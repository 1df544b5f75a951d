// SPDX-License-Identifier: MIT
// Appends to files, and opens a file again if the program has closed its descriptor.
#include "sink.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool open_file(struct em_sink_file *file, const char *path)
{
    file->open = false;
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (fd < 0)
        return false;
    int high = dm_fd_duplicate_high(fd);
    if (high >= 0) {
        close(fd);
        fd = high;
    }
    file->open = !dm_fd_remember(fd, &file->identity);
    return file->open;
}

bool em_sink_write(struct em_sink_file *file, const char *setting, const char *path,
                   const char *text, size_t size)
{
    if (file->failed)
        return false;
    if (!(file->open && dm_fd_still_ours(&file->identity)) && !open_file(file, path)) {
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
            fprintf(stderr, "cardless: %s: cannot write to %s: %s\n", setting, path,
                    strerror(errno));
            return false;
        }
        text += n;
        size -= (size_t)n;
    }
    return true;
}
