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

// The handle from dlopen, or NULL, and the file in memory that it loaded, or -1. The file stays
// open as long as the library: the loader takes two files of one name, and so of one number, for
// one.
struct em_host_library {
    void *handle;
    int file;
};
void em_host_library_close(struct em_host_library library);

// Makes an image of a table. The image takes the library over, also on failure. Reports a table
// that breaks a rule with `code`. Precondition: em_lock not held.
CUresult em_host_table_image(const cardlessModuleDesc *table, struct em_host_library library,
                             CUresult code, struct em_image **out);

// Whether any table is registered. Precondition: em_lock not held.
bool em_host_table_exists(void);

// Finds the registered table that has exactly the kernels of a text: `names` is a list of `count`
// names, each with its length. Precondition: em_lock not held.
struct em_text_name {
    const char *at;
    size_t length;
};
const cardlessModuleDesc *em_host_table_for(const struct em_text_name *names, unsigned count);
