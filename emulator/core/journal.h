// SPDX-License-Identifier: MIT
// The journal: imports, mappings and graphics resources, with the calls that began and ended them.
// It makes the report at exit (CARDLESS_REPORT=1), and finds leaked descriptors (M02).
#pragma once
#include <cuda.h>
#include <stdint.h>

enum em_journal_kind {
    EM_JOURNAL_IMPORT,
    EM_JOURNAL_BUFFER,
    EM_JOURNAL_MIPMAP,
    EM_JOURNAL_GRAPHICS
};

// Adds an entry, and returns its number. Returns 0 if the user wants no report, or if the host is
// out of memory; the functions below ignore an entry of 0. Precondition: em_lock held.
uint32_t em_journal_begin(enum em_journal_kind kind, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
// Replaces the note at an entry, which the report prints after its text. Precondition: em_lock
// held.
void em_journal_note(uint32_t entry, const char *format, ...) __attribute__((format(printf, 2, 3)));
// Records that the object of the entry has ended. Precondition: em_lock held.
void em_journal_end(uint32_t entry);

// Records a descriptor whose import failed, and the kind of its file ("a memfd"), a text that
// stays. By the manual it still belongs to the program, so it is reported at exit if the program
// never closes it (M02). Precondition: em_lock held.
void em_journal_reject_fd(int fd, const char *kind);

// Forgets a rejected descriptor, because a later import of the same number succeeded.
// Precondition: em_lock held.
void em_journal_accept_fd(int fd);

// Prints the report if the user wants one, and reports leaked descriptors. Called once, when the
// driver shuts down.
void em_journal_finish(void);
