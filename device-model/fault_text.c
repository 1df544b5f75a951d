// SPDX-License-Identifier: MIT
// Describes faults in words, without the C library, because a signal handler may call it.
#include "guard.h"

static char *put_text(char *at, const char *end, const char *s)
{
    while (*s && at < end)
        *at++ = *s++;
    return at;
}

void dm_fault_text(const struct dm_fault *fault, char *text, unsigned long size)
{
    static const char *const kinds[] = {
        [DM_FAULT_UNMAPPED] = "unmapped address ",
        [DM_FAULT_PROTECTED] = "protected address ",
        [DM_FAULT_PKEY] = "device address ",
        [DM_FAULT_TRUNCATED] = "an address beyond the end of its file, ",
        [DM_FAULT_POISONED] = "an address with a hardware memory error, ",
        [DM_FAULT_ADDRESS] = "an invalid address, ",
    };
    static const char *const others[] = {
        [DM_FAULT_DIVISION] = "division by zero, or of the lowest integer by -1",
        [DM_FAULT_INSTRUCTION] = "not an instruction of this processor",
        [DM_FAULT_TRAP] = "trap",
        [DM_FAULT_LEFT] = "left by the function itself",
    };
    if (size == 0)
        return;
    char *at = text;
    const char *end = text + size - 1;
    if (fault->kind >= DM_FAULT_DIVISION) {
        *put_text(at, end, others[fault->kind]) = 0;
        return;
    }
    if (fault->kind == DM_FAULT_ADDRESS && !fault->address) { // the processor does not say which
        *put_text(at, end, "access to a non-canonical address, or a privileged instruction") = 0;
        return;
    }
    at = put_text(at, end, fault->write ? "write to " : "read of ");
    at = put_text(at, end, kinds[fault->kind]);
    at = put_text(at, end, "0x");
    bool leading = true;
    for (int shift = 60; shift >= 0; shift -= 4) {
        unsigned digit = (fault->address >> shift) & 15;
        leading = leading && digit == 0 && shift > 0;
        if (!leading && at < end)
            *at++ = "0123456789abcdef"[digit];
    }
    *at = 0;
}
