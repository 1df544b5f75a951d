// SPDX-License-Identifier: MIT
// The output of printf() in kernels: kept for a launch in a buffer of CU_LIMIT_PRINTF_FIFO_SIZE
// bytes, and written to the standard output when the launch has completed.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct em_context;

struct em_kernel_output {
    char *bytes; // calls, each after its sizes
    size_t first, end, capacity;
    uint64_t used_B, most_B; // of the buffer of a card
};

// Begins a launch. Precondition: em_lock not held.
void em_kernel_output_start(struct em_kernel_output *output, const struct em_context *context);
// Adds the text of a call, which has record_B bytes in the buffer of a card. "It is circular and if
// more output is produced during kernel execution than can fit in the buffer, older output is
// overwritten." If host memory is short, the text is lost and the result is false.
bool em_kernel_print(struct em_kernel_output *output, const char *text, size_t size_B,
                     uint64_t record_B);
// Writes the texts, and frees the buffer.
void em_kernel_output_write(struct em_kernel_output *output);

// Writes a line to the standard error output.
void em_kernel_complain(const char *line, size_t size_B);
