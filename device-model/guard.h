// SPDX-License-Identifier: MIT
// Runs code that touches memory of others, and turns its SIGSEGV and SIGBUS into a status.
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum dm_fault_kind {
    DM_FAULT_UNMAPPED,  // nothing is mapped there
    DM_FAULT_PROTECTED, // mapped, but not for this access
    DM_FAULT_PKEY,      // device memory touched by code that has not opened it
    DM_FAULT_TRUNCATED, // the file behind the mapping has become too short, or the host is out of
                        // memory for it
    DM_FAULT_POISONED,  // uncorrectable hardware memory error
    DM_FAULT_ADDRESS,   // not an address at all (non-canonical), or misaligned; the kernel may not
                        // tell which: address 0
};

struct dm_fault {
    uint64_t address;
    uint64_t instruction;
    enum dm_fault_kind kind;
    int signal; // SIGSEGV or SIGBUS
    bool write; // false where the machine does not say
};

// Installs the handlers. What was installed before gets every signal that is not ours. 0 or a
// negative errno.
int dm_guard_init(void);
// Puts our handlers on top again if the program has installed its own since; one system call a
// signal. A program's handler that passes on what it does not know needs no such call.
int dm_guard_reassert(void);
// Takes the handlers out again, where they are still on top.
void dm_guard_finish(void);

// fn(arg), or -EFAULT if it touched memory that it could not touch; *fault (may be NULL) then
// tells. fn must be one that can be left at any access: no locks, no allocation inside. May nest;
// the innermost call gets the fault. The rights to device pages are after the call what they were
// before. Where the thread has SIGSEGV or SIGBUS blocked (a program's handler with a full mask,
// say) the kernel ends the process at a fault: nothing in user space can help it.
int dm_guarded(void (*fn)(void *), void *arg, struct dm_fault *fault);
// The same for memory that others can take away (files that may shrink, large ranges of the
// program's own): also where the thread has SIGSEGV and SIGBUS blocked, and where the program has
// installed handlers of its own since. Four system calls more.
int dm_guarded_foreign(void (*fn)(void *), void *arg, struct dm_fault *fault);
// "read of unmapped address 0x…", without a full stop; at most `size` bytes with the final 0.
// Async-signal-safe.
void dm_fault_text(const struct dm_fault *fault, char *text, unsigned long size);

// `describe` sees each fault that is raised by an access outside dm_guarded(), before the program's
// handler or the default action gets it. It runs inside a signal handler.
void dm_fault_describe(void (*describe)(const struct dm_fault *fault));
