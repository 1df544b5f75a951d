// SPDX-License-Identifier: MIT
// A folder for files that must not outlive the tool, however it ends.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct temporary {
    char path[64]; // "" before it is made
    int alive;     // an end of a socket: the cleaner waits until all copies of it are closed
    pid_t cleaner;
};

// Makes a folder whose name begins with `name`, in TMPDIR or, if that is not set or its name is too
// long, in /tmp. A process waits for the end of this one, and removes the folder. Returns false
// after a message.
bool temporary_make(struct temporary *t, const char *name);
// For a child that does not call exec. Otherwise the folder would stay until the child ends.
void temporary_forget(const struct temporary *t);
// Removes the folder and its files. Does nothing if it was not made.
void temporary_remove(struct temporary *t);
