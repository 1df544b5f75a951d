// SPDX-License-Identifier: MIT
// What the program has mapped at an address: for memory that it asks the driver to page-lock.
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct em_host_pages {
    uint64_t mapped;   // bytes from the start of the range on that are mapped and readable
    bool all_writable; // all of those may be written
};

// Looks at [address, address + size). False: the system does not tell.
bool em_host_pages(uint64_t address, uint64_t size, struct em_host_pages *out);
