// SPDX-License-Identifier: MIT
// Allocates and frees the protection key of device pages.
#include "pkey.h"
#include "startup.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef PKEY_DISABLE_ACCESS
#define PKEY_DISABLE_ACCESS 1
#endif

uint32_t dm_pkey_bits;
static int key = -1;

DM_STARTUP bool dm_pkey_init(void)
{
    if (key >= 0)
        return true;
#if defined(__x86_64__)
    const char *setting = secure_getenv("CARDLESS_PKEYS");
    if (setting && strcmp(setting, "0") == 0)
        return false;
    // The key also starts closed for this thread. Fails without CPU support or a free key.
    long k = syscall(SYS_pkey_alloc, 0UL, (unsigned long)PKEY_DISABLE_ACCESS);
    if (k <= 0)
        return false;
    key = (int)k;
    dm_pkey_bits = 3u << (2 * key);
#endif
    return key >= 0;
}

void dm_pkey_finish(void)
{
    if (key < 0)
        return;
    dm_pkey_bits = 0;
    syscall(SYS_pkey_free, (long)key);
    key = -1;
}

int dm_pkey(void)
{
    return key;
}
