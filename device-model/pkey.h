// SPDX-License-Identifier: MIT
// Memory protection keys: device pages carry a key that only the emulator's own code opens, so host
// code that dereferences a device pointer faults as it does with a card.
//
// The access rights are in each thread's PKRU register, not in the page tables. The kernel starts a
// process with every key but 0 closed. A new thread inherits its creator's rights. A signal handler
// starts with the kernel's default (closed), and the interrupted rights return with the handler.
// So:
// - Threads that are older than dm_pkey_init are closed, and so are threads made by closed threads.
//   Never call into the program (callbacks, pthread_create on its behalf) between enter and leave.
// - A fault handler that leaves by siglongjmp leaves with the default rights: dm_guarded() restores
//   its caller's.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "hidden.h"

// The key's two bits in PKRU, or 0 if keys are not in use. Set once by dm_pkey_init.
extern DM_HIDDEN uint32_t dm_pkey_bits;

// Allocates a key, if the CPU and the kernel have one left and CARDLESS_PKEYS is not 0. Returns
// true if keys are in use. Otherwise the functions here do nothing, and device pages are plain
// memory. Further calls change nothing.
bool dm_pkey_init(void);
// Precondition: no page carries the key any more.
void dm_pkey_finish(void);
// Returns the key for pkey_mprotect, or -1.
int dm_pkey(void);

#if defined(__x86_64__)
static inline uint32_t dm_pkru_read(void)
{
    uint32_t pkru, zero;
    __asm__ volatile(".byte 0x0f, 0x01, 0xee" /* rdpkru */ : "=a"(pkru), "=d"(zero) : "c"(0));
    return pkru;
}
static inline void dm_pkru_write(uint32_t pkru)
{
    __asm__ volatile(".byte 0x0f, 0x01, 0xef" /* wrpkru */
                     :
                     : "a"(pkru), "c"(0), "d"(0)
                     : "memory");
}
#else
static inline uint32_t dm_pkru_read(void)
{
    return 0;
}
static inline void dm_pkru_write(uint32_t pkru)
{
    (void)pkru;
}
#endif

// Opens device pages to this thread. Pass the result to the dm_pkey_leave that ends the section.
// Sections nest.
static inline uint32_t dm_pkey_enter(void)
{
    if (!dm_pkey_bits)
        return 0;
    uint32_t before = dm_pkru_read();
    if (before & dm_pkey_bits)
        dm_pkru_write(before & ~dm_pkey_bits);
    return before & dm_pkey_bits;
}

static inline void dm_pkey_leave(uint32_t entered)
{
    if (!dm_pkey_bits)
        return;
    uint32_t now = dm_pkru_read();
    // Change only our bits: the program may have changed the rights of its own keys meanwhile.
    if ((now & dm_pkey_bits) != entered)
        dm_pkru_write((now & ~dm_pkey_bits) | entered);
}

// Closes device pages around a call into the program, also inside a section. dm_pkey_leave undoes
// it.
static inline uint32_t dm_pkey_shut(void)
{
    if (!dm_pkey_bits)
        return 0;
    uint32_t before = dm_pkru_read();
    if (!(before & dm_pkey_bits & 0x55555555))
        dm_pkru_write(before | dm_pkey_bits);
    return before & dm_pkey_bits;
}
