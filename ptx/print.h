// SPDX-License-Identifier: MIT
// The text that vprintf in a kernel writes.
#pragma once
#include <stdint.h>

#include "warp.h"

// Reads memory of kernels byte by byte.
struct px_bytes {
    struct px_warp *warp;
    int lane;
    const struct kn_op *at; // that reads, for messages
};
// The byte at a generic address. Returns false if the kernel may not access it: then the warp's
// fault is described, and the operation should return NULL.
bool px_byte_read(const struct px_bytes *from, uint64_t address, char *out);
// Appends the string at a generic address, at most `most` bytes of it, to the grid's lines. Returns
// false after a fault, or if host memory is short; that is a failure of the grid.
bool px_string_read(const struct px_bytes *from, uint64_t address, uint64_t most);
// Appends bytes to the grid's lines. Returns false as above.
bool px_lines_add(const struct px_bytes *from, const char *text, size_t size_B);

// Appends the text of a format, both at generic addresses, to the grid's lines: it begins at
// lines.text. *count is the number of arguments that the format has taken, and *record_B the size
// of the call in the buffer of the launch. Returns false after a fault.
//
// "vprintf … the second parameter is a pointer to the list of the parameters": values follow each
// other as in a struct, a char, short or float as an int or a double.
bool px_print(const struct px_bytes *from, uint64_t format, uint64_t arguments, int *count,
              uint64_t *record_B);
