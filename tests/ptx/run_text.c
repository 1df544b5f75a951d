// SPDX-License-Identifier: MIT
// Runs a kernel from its PTX text, for tests.
#include "run_text.h"

#include <stdio.h>
#include <string.h>

#include "grid.h"
#include "module.h"

static const char *memory_at;
static size_t memory_B;
static bool is_device;

static bool allow(const struct kn_memory *memory, uint64_t address, uint32_t size_B, bool write)
{
    (void)memory;
    (void)write;
    return address >= (uintptr_t)memory_at && address + size_B <= (uintptr_t)memory_at + memory_B;
}

static int run_program(const struct px_program *program, uint32_t threads, void *memory)
{
    const struct px_host host = {.foreign = allow,
                                 .device_first = is_device ? (uintptr_t)memory : 0,
                                 .device_end = is_device ? (uintptr_t)memory + memory_B : 0,
                                 .shared_window = UINT64_C(1) << 48,
                                 .local_window = (UINT64_C(1) << 48) + (UINT64_C(1) << 32)};
    struct px_grid grid = {.program = program,
                           .host = &host,
                           .blocks = {1, 1, 1},
                           .threads = {threads, 1, 1},
                           .stack_B = 1 << 14,
                           .arguments = &memory};
    const int rc = px_run(&grid, 0, 1);
    if (rc)
        fprintf(stderr, "the kernel failed at line %u: %s\n", grid.failure.line, grid.failure.text);
    return rc;
}

int run_text(const char *text, uint32_t threads, void *memory, size_t size_B)
{
    struct px_module *module = NULL;
    const struct px_program *program;
    struct px_report report;
    int rc = px_module_load(text, strlen(text), &module, &report);

    if (!rc)
        rc = px_program_get(module, 0, &program, &report);
    if (rc) {
        fprintf(stderr, "%s\n", report.text);
    } else {
        memory_at = memory;
        memory_B = size_B;
        rc = run_program(program, threads, memory);
    }
    px_module_free(module);
    return rc;
}

int run_text_in_device(const char *text, uint32_t threads, void *memory, size_t size_B)
{
    is_device = true;
    const int rc = run_text(text, threads, memory, size_B);
    is_device = false;
    return rc;
}
