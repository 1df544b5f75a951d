// SPDX-License-Identifier: MIT
// The names of forms that access memory, taken apart.
#pragma once
#include <stdbool.h>
#include <stdint.h>

enum px_access_space { PX_ACCESS_GENERIC, PX_ACCESS_SHARED, PX_ACCESS_LOCAL };

struct px_access_form {
    enum px_access_space space;
    uint32_t value_B, register_B; // as struct px_access
    bool read, write, atomic;
};

// Returns false if the form does not access memory that is checked.
bool px_access_parse(const char *form, struct px_access_form *out);
