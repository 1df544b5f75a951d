// SPDX-License-Identifier: MIT
// Forms of cp.async and cp.async.bulk. Copies are complete at once, so groups of copies need no
// operation, and programs should not depend on a copy being late. Addresses are generic: register a
// has the destination, b the source.
#include <stddef.h>
#include <string.h>

#include "address.inc.h"
#include "families.h"

enum { BULK_ALIGN_B = 16 };

// kn_op.i bytes, of which c come from the source: "the remaining bytes are filled with zeros". The
// source is not accessed for 0 bytes.
KN_OPERATION(copy_small)
{
    const uint64_t *a = KN_REGISTER(uint64_t, op->a), *b = KN_REGISTER(uint64_t, op->b);
    const uint32_t *c = KN_REGISTER(uint32_t, op->c), size_B = op->i & 31;
    KN_EACH_OF(kn_mask_of(op, w), lane)
    {
        const uint32_t source_B = c[lane] < size_B ? c[lane] : size_B;
        char *to = kn_range(op, w, lane, a[lane], size_B, size_B, true);
        const char *from =
            to && source_B ? kn_range(op, w, lane, b[lane], source_B, size_B, false) : to;
        if (!from)
            return NULL;
        char bytes[32] = {0};
        memcpy(bytes, from, source_B);
        memcpy(to, bytes, size_B);
    }
    KN_RETURN_NEXT;
}

// c bytes: "the size and both addresses must be multiples of 16".
KN_OPERATION(copy_bulk)
{
    const uint64_t *a = KN_REGISTER(uint64_t, op->a), *b = KN_REGISTER(uint64_t, op->b);
    const uint32_t *c = KN_REGISTER(uint32_t, op->c);
    KN_EACH_OF(kn_mask_of(op, w), lane)
    {
        if (!c[lane])
            continue;
        const bool whole = c[lane] % BULK_ALIGN_B == 0;
        char *to = kn_range(op, w, lane, whole ? a[lane] : 1, c[lane], BULK_ALIGN_B, true);
        const char *from = to ? kn_range(op, w, lane, b[lane], c[lane], BULK_ALIGN_B, false) : NULL;
        if (!from)
            return NULL;
        memmove(to, from, c[lane]);
    }
    KN_RETURN_NEXT;
}

// The bytes whose bits are set in the mask (a register of 16 bits) of each 16 bytes.
KN_OPERATION(copy_bulk_masked)
{
    const uint64_t *a = KN_REGISTER(uint64_t, op->a), *b = KN_REGISTER(uint64_t, op->b);
    const uint32_t *c = KN_REGISTER(uint32_t, op->c);
    const uint16_t *bits = KN_REGISTER(uint16_t, op->more[0]);
    KN_EACH_OF(kn_mask_of(op, w), lane)
    {
        if (!c[lane])
            continue;
        const bool whole = c[lane] % BULK_ALIGN_B == 0;
        char *to = kn_range(op, w, lane, whole ? a[lane] : 1, c[lane], BULK_ALIGN_B, true);
        const char *from = to ? kn_range(op, w, lane, b[lane], c[lane], BULK_ALIGN_B, false) : NULL;
        if (!from)
            return NULL;
        for (uint32_t i = 0; i < c[lane]; i++)
            if (bits[lane] >> i % BULK_ALIGN_B & 1)
                to[i] = from[i];
    }
    KN_RETURN_NEXT;
}

const struct kn_form KN_FAMILY(copy)[] = {
    KN_ROW_OF(copy_small, "cp.async", "=llwi"),
    KN_ROW_OF(copy_bulk, "cp.async.bulk", "=llw"),
    KN_ROW_OF(copy_bulk_masked, "cp.async.bulk.masked", "=llwh"),
    {0},
};
