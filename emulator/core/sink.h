// SPDX-License-Identifier: MIT
// Files that Cardless writes for the user: diagnostics and traces.
//
// A program may close descriptors that it does not know, and then open its own files under the same
// numbers. So every write checks that the descriptor is still the sink's.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "import.h"

struct em_sink_file {
    bool open, failed; // failed: it cannot be opened or written, and the error was printed
    bool regular;      // writing to it cannot raise SIGPIPE
    struct dm_fd_identity identity;
};

// Appends to the file at `path`, and opens it first if necessary. Lines of several processes do not
// mix. Returns false if the file cannot be opened or written; the first time, prints the error on
// stderr with the name of the setting. The caller should hold a lock of its own.
bool em_sink_write(struct em_sink_file *file, const char *setting, const char *path,
                   const char *text, size_t size);
// As write, but a pipe or socket that nobody reads raises no SIGPIPE: fails with EPIPE only. Leaves
// the program's handler and signal mask as they are.
ssize_t em_sink_write_once(int fd, const char *text, size_t size);
// Calls em_sink_write_once until everything is written, or until it fails.
void em_sink_write_all(int fd, const char *text, size_t size);
