// SPDX-License-Identifier: MIT
// Files that Cardless writes for the user: reports of mistakes, traces. The program may close
// descriptors that it does not know, and open files of its own under their numbers: what it opened
// is never written to.
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "import.h"

struct em_sink_file {
    bool open, failed; // failed: it cannot be opened, which has been said
    struct dm_fd_identity identity;
};

// Appends to the file at `path`, which is opened when first needed; lines of several processes do
// not mix. False: it cannot be opened; the first time this is said on stderr, with the setting's
// name. The caller serialises.
bool em_sink_write(struct em_sink_file *file, const char *setting, const char *path,
                   const char *text, size_t size);
