// SPDX-License-Identifier: MIT
// Reads numbers from text.
#pragma once
#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

// Reads a decimal number without a sign, and moves *at to the character after it. Returns false,
// and changes nothing, if there is no digit at *at or the number has more than 32 bits.
static inline bool dm_parse_u32(const char **at, uint32_t *out)
{
    char *end;
    errno = 0;
    const unsigned long number = strtoul(*at, &end, 10);
    if (errno || !isdigit((unsigned char)**at) || number > UINT32_MAX) // strtoul takes "-1"
        return false;
    *out = (uint32_t)number;
    *at = end;
    return true;
}
