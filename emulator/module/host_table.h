// SPDX-License-Identifier: MIT
// Tables of host functions (cardless.h), and the registry of those that replace the kernels of
// texts.
#pragma once
#include <cardless.h>
#include <stdbool.h>

#include "code.h"

// cardlessModuleRegister and cardlessModuleUnregister. Precondition: em_lock not held.
CUresult em_host_table_register(const cardlessModuleDesc *table);
CUresult em_host_table_unregister(const cardlessModuleDesc *table);

// Makes an image of a table. `library` is what dlopen returned, or NULL; the image takes it over,
// also on failure. Reports a table that breaks a rule with `code`. Precondition: em_lock not held.
CUresult em_host_table_image(const cardlessModuleDesc *table, void *library, CUresult code,
                             struct em_image **out);

// Finds the registered table that has exactly the kernels of a text: `names` is a list of `count`
// names, each with its length. Precondition: em_lock not held.
struct em_text_name {
    const char *at;
    size_t length;
};
const cardlessModuleDesc *em_host_table_for(const struct em_text_name *names, unsigned count);
