// SPDX-License-Identifier: MIT
// Counts the reports of checks.
#include "check_result.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "config.h"
#include "lock.h"

enum { EXIT_CODE = 66 };

static atomic_bool found;

void em_check_found(void)
{
    atomic_store(&found, true);
    if (em_config()->check_aborts)
        abort();
}

void em_check_finish(void)
{
    em_assert_unlocked();
    if (!atomic_load(&found) || !em_config()->check_exits)
        return;
    fflush(NULL);
    _exit(EXIT_CODE);
}
