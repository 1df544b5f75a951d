// SPDX-License-Identifier: MIT
// `cardless step` for calls and commands of a program.
#pragma once
#include <stdbool.h>

struct step_calls {
    const char *script; // commands with ';' between them, or NULL
    const char *file;   // a file of commands, or NULL: the standard input
    const char *output; // a file for the text, or NULL: the standard output
};

// Runs a program, and obeys the commands at its stops. Returns the exit status.
int step_calls(char **program, const struct step_calls *options);
