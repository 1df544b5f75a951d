// SPDX-License-Identifier: MIT
// Reads the line tables of debug information (DWARF 2 to 5, section 6.2 "Line Number Information").
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dwarf_section {
    const uint8_t *data; // NULL if the file does not have it
    size_t size;
};

struct dwarf_sections {
    struct dwarf_section line, line_str, str; // .debug_line, .debug_line_str, .debug_str
};

// The source of an address.
struct dwarf_source {
    char *file; // for the caller to free; as in the table, so it may be relative in DWARF 2 to 4
    unsigned line;
};

// Finds the source of a virtual address of the object file, of 64 bits. Damaged tables are safe to
// read. Returns false if no table has the address, or memory runs out.
bool dwarf_find_line(const struct dwarf_sections *s, uint64_t address, struct dwarf_source *out);
