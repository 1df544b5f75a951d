// SPDX-License-Identifier: MIT
// Forms of integer arithmetic.
#include "lanes.inc.h"

#include "families.h"

KN_FORM2(add_u16, uint16_t, uint16_t, uint16_t, a[i] + b[i])
KN_FORM2(add_u32, uint32_t, uint32_t, uint32_t, a[i] + b[i])
KN_FORM2(add_u64, uint64_t, uint64_t, uint64_t, a[i] + b[i])

const struct kn_form KN_FAMILY(integer)[] = {
    KN_ROW(add_u16, "add.16", "h=hh"),
    KN_ROW(add_u32, "add.32", "w=ww"),
    KN_ROW(add_u64, "add.64", "l=ll"),
    {0},
};
