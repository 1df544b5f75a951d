// SPDX-License-Identifier: MIT
// What was imported and mapped where, for the report at exit (CARDLESS_REPORT=1), and what was left
// behind.
#pragma once
#include <cuda.h>
#include <stdint.h>

struct dm_import_info;

enum em_journal_kind {
    EM_JOURNAL_IMPORT,
    EM_JOURNAL_BUFFER,
    EM_JOURNAL_MIPMAP,
    EM_JOURNAL_GRAPHICS
};

// Notes something that begins; returns its number for em_journal_end, or 0 where nothing is kept
// (no report wanted, or no memory for it). Precondition: em_lock held.
uint32_t em_journal_begin(enum em_journal_kind kind, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
// What there is to say of it by now, in place of what was said before; 0: nothing. Precondition:
// em_lock held.
void em_journal_note(uint32_t entry, const char *format, ...) __attribute__((format(printf, 2, 3)));
// Notes that it has ended. Precondition: em_lock held.
void em_journal_end(uint32_t entry);

// A descriptor whose import failed: under the manual it is still the program's, and reported at
// exit if it was never closed (M02). Precondition: em_lock held.
void em_journal_refused_fd(int fd, const struct dm_import_info *info);

// The same number is the driver's now. Precondition: em_lock held.
void em_journal_took_fd(int fd);

// Prints the report where it is wanted, and reports what was left behind. Called once, when the
// driver shuts down.
void em_journal_finish(void);
