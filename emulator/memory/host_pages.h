// SPDX-License-Identifier: MIT
// Which pages of the process are mapped: for memory that a program asks the driver to page-lock.
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct em_host_pages {
    uint64_t mapped;   // bytes from the start of the range that are mapped and readable
    bool all_writable; // and writable too
};

// Describes [address, address + size). Returns false if the system cannot be asked.
bool em_host_pages(uint64_t address, uint64_t size, struct em_host_pages *out);

// Whether all of [address, address + size) is memory without a file. Returns false if it is not,
// and on kernels before 6.11.
bool em_host_pages_are_anonymous(uint64_t address, uint64_t size);

// As em_host_pages, but reads the text of /proc/self/maps, which takes time for every mapping of
// the process. em_host_pages does this on kernels before 6.11. For tests.
bool em_host_pages_from_text(uint64_t address, uint64_t size, struct em_host_pages *out);
