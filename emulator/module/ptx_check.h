// SPDX-License-Identifier: MIT
// Checks of PTX kernels (CARDLESS_CHECK=memory and race): which memory they may access, and
// reports.
#pragma once
#include "check.h"
#include "program.h"

enum { EM_PTX_FINDINGS = 32, EM_PTX_SAID = 64, EM_PTX_HELD = 64 };

// Mistakes of a kernel that were reported: each pair of lines once. Zero to start with.
struct em_ptx_said {
    struct em_ptx_pair {
        enum px_finding_kind kind;
        unsigned lines[2];
    } pairs[EM_PTX_SAID];
    unsigned count;
};

// The checks of one grid.
struct em_ptx_check {
    struct px_checks checks;
    struct px_finding findings[EM_PTX_FINDINGS];
    unsigned count;
    struct em_written *held[EM_PTX_HELD]; // references, until the grid has ended
    unsigned held_count;
};

// Returns whether the user wants checks.
bool em_ptx_check_on(void);
void em_ptx_check_start(struct em_ptx_check *check);
// Writes ", line 12 (vector.cu:7)", as far as it is known; returns its length.
size_t em_ptx_line_text(const struct px_program *program, unsigned line, char *out, size_t size_B);
// Reports what was found, after the grid, and ends the checks. Precondition: em_lock not held.
void em_ptx_check_report(struct em_ptx_check *check, const char *kernel,
                         const struct px_program *program, struct em_ptx_said *said);
