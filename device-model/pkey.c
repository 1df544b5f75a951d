// SPDX-License-Identifier: MIT
// Allocates and frees the protection key of device pages.
#include "pkey.h"

#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

uint32_t dm_pkey_bits;
static int key = -1;

bool dm_pkey_init(void)
{
    if (key >= 0)
        return true;
#if defined(__x86_64__)
    const char *wish = secure_getenv("CARDLESS_PKEYS");
    if (wish && strcmp(wish, "0") == 0)
        return false;
    // Closed for this thread, too: the second argument is PKEY_DISABLE_ACCESS. Fails without CPU
    // support or a free key.
    long k = syscall(SYS_pkey_alloc, 0UL, 1UL);
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
