// SPDX-License-Identifier: MIT
// Runs code that accesses memory of others, and turns its SIGSEGV and SIGBUS into a status.
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum dm_fault_kind {
    DM_FAULT_UNMAPPED,  // no mapping at the address
    DM_FAULT_PROTECTED, // a mapping that does not allow this access
    DM_FAULT_PKEY,      // device memory, accessed by code that has not opened it
    DM_FAULT_TRUNCATED, // the file of the mapping has become too short, or the host is out of
                        // memory for it
    DM_FAULT_POISONED,  // uncorrectable hardware memory error
    DM_FAULT_ADDRESS, // an invalid (non-canonical) or misaligned address; the kernel may not report
                      // it: then 0
    // After dm_guard_traps:
    DM_FAULT_DIVISION,    // SIGFPE: a division by zero, or of the lowest integer by -1
    DM_FAULT_INSTRUCTION, // SIGILL: not an instruction of this processor
    DM_FAULT_TRAP,        // __builtin_trap or a breakpoint
    DM_FAULT_LEFT,        // dm_guard_leave
};

struct dm_fault {
    uint64_t address;
    uint64_t instruction;
    uint64_t stack; // the stack pointer, or 0
    enum dm_fault_kind kind;
    int signal; // SIGSEGV, SIGBUS …; 0 for DM_FAULT_LEFT
    bool write; // false if the processor does not report it
};

// Installs the handlers. Handlers that were installed before get every signal that is not ours.
// Returns 0 or a negative errno.
int dm_guard_init(void);
// Puts our handlers back on top if the program has installed others since; costs one system call
// for each signal. Not needed if the program's handler passes unknown faults on.
int dm_guard_reassert(void);
// Removes the handlers, if they are still on top.
void dm_guard_finish(void);

// Calls fn(arg). Returns 0, or -EFAULT after an invalid access, which *fault (may be NULL) then
// describes.
//
// fn may be left at any access, so it must not take locks or allocate. Calls may nest; the
// innermost one gets the fault. Afterwards the thread has the same access to device pages as
// before. If the thread blocks SIGSEGV or SIGBUS (in a program's handler with a full mask, for
// example), the kernel ends the process at a fault. The two functions below prevent that.
int dm_guarded(void (*fn)(void *), void *arg, struct dm_fault *fault);
// The same for memory that others can take away, such as files that may shrink and large ranges of
// the program's own memory. It also works if the thread blocks SIGSEGV and SIGBUS, or if the
// program has installed its own handlers since, as dm_guard_open says, but handlers for SIGBUS are
// noticed too.
int dm_guarded_foreign(void (*fn)(void *), void *arg, struct dm_fault *fault);
// The same for size_B bytes of memory of the program that are too few for these system calls. It
// reads the thread's mask before the thread's first call and again after 256 KiB, where each call
// counts as 1 KiB more than its size. If the thread has blocked the signals since, the kernel ends
// the process at a fault.
int dm_guarded_host(void (*fn)(void *), void *arg, uint64_t size_B, struct dm_fault *fault);

// ---- for code that runs a program's functions ----

// Makes dm_guarded() turn SIGFPE, SIGILL and SIGTRAP into a status too, from the first call on.
// Returns 0 or a negative errno.
int dm_guard_traps(void);
// dm_guard_reassert for these signals as well, after dm_guard_traps.
int dm_guard_reassert_all(void);
// Whether our handler is the one that the kernel calls for a signal. Costs a system call.
bool dm_guard_is_handler(int sig);

// Before and after guarded calls of a program's functions: unblocks the signals of faults in the
// calling thread, and puts our handlers back on top if the program has installed others.
//
// Makes no system call if the thread cannot have made one since its last dm_guard_close or
// dm_guard_passes. That is known if less time has passed than a system call takes. Else it makes
// two. Handlers for SIGBUS, SIGFPE, SIGILL and SIGTRAP alone, and handlers that another thread
// installs, are noticed only now and then: so often that it costs less than a hundredth of the
// time.
struct dm_guard_signals {
    uint64_t mask; // of the thread before
    bool restores; // the thread blocked some
};
void dm_guard_open(struct dm_guard_signals *signals);
void dm_guard_close(const struct dm_guard_signals *signals);
// A call of the program that changes no mask: if so little time has passed that nothing can have
// changed since, the time of the call counts from now on.
void dm_guard_passes(void);
// The begin and the end of a call that may use dm_guard_open in between. It need not hurry, because
// the driver changes no mask. Calls that often launch kernels should use them.
void dm_guard_begins(void);
void dm_guard_ends(void);
// Gives the calling thread an alternate signal stack until it ends, unless it has one, so that an
// overflow of its stack is a fault like others. Returns 0 or a negative errno.
int dm_guard_own_stack(void);
// Leaves the innermost dm_guarded() of this thread with DM_FAULT_LEFT. Returns only if the thread
// is in no guarded call.
void dm_guard_leave(void);
// Makes `calls` the guarded calls of this thread, and returns those that were. A fiber (fiber.h)
// has its own; NULL if it is in no guarded call.
void *dm_guard_exchange(void *calls);

// Whether the fault is an overflow of the stack that begins at address `low` and grows down to it.
bool dm_fault_is_overflow(const struct dm_fault *fault, uint64_t low);
// The lowest address and the size of the calling thread's own stack. Returns false if they are
// unknown.
bool dm_guard_stack_bounds(uint64_t *low, uint64_t *size_B);

// Writes "read of unmapped address 0x…" without a full stop, at most `size` bytes with the final 0.
// Async-signal-safe.
void dm_fault_text(const struct dm_fault *fault, char *text, unsigned long size);

// Sets a function that sees each fault of an access outside dm_guarded(), before the program's
// handler or the default action gets it. It runs in a signal handler.
void dm_fault_describe(void (*describe)(const struct dm_fault *fault));
