// SPDX-License-Identifier: MIT
// Values of options that several sub-commands take.
#pragma once
#include <stdbool.h>

// Whether it is a whole number, also in hexadecimal, as the driver reads it.
bool option_is_number(const char *value);
// Whether it is a value of --policy. Returns false after a message.
bool option_is_policy(const char *value);
// Whether the file of an option can be written, or made. Returns false after a message. The library
// opens it later: this is so that a wrong path stops a run before its program starts. `%p` in the
// path stands for the number of a process, so a folder with it is not looked for.
bool option_can_write(const char *option, const char *path);
// Whether both paths lead to the same file. Prints a message if so: writing `path`, the value of
// `option`, would destroy the other one.
bool option_is_file(const char *option, const char *path, const char *other);
