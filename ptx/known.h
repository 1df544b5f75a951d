// SPDX-License-Identifier: MIT
// Finds operations for which something is known of a source, and the faster forms of them:
//
//     setp.lt.s32   %p1, %r1, 4          setp.lt.s32.constant: the constant is in the operation
//     ld.shared.u32 %r4, [%r2+64]        ld.shared.32:32.row: %r2 is %tid.x * 4 plus a number that
//                                        is the same for all neighbours in x
//     ld.shared.u32 %r4, [%r2+64]        ld.shared.32:32.same: %r2 is the same for all of them
#pragma once
#include "layout.h"

// By operation of the program.
struct px_known_form {
    int form;             // to use instead, or -1
    px_register constant; // that is no source any more, or PX_NONE
    px_register other;    // then the source that remains
    uint32_t value;       // and the constant's value
};

enum { PX_VARYING = INT32_MIN }; // a stride that is not known

struct px_known {
    struct px_known_form *of;
    int32_t
        *strides; // by register: the difference in threads that are neighbours in x, modulo 2^32
    uint32_t register_count;
    bool *unread; // by register: no operation reads it any more, so it needs no place
};

// Returns false if host memory is short. Free with px_known_free, also then.
// Precondition: px_layout_copies and px_indices_find have run.
bool px_known_find(struct px_known *out, const struct px_layout *layout);
void px_known_free(struct px_known *known);

static inline int32_t px_known_stride(const struct px_known *known, px_register reg)
{
    return reg < known->register_count ? known->strides[reg] : PX_VARYING;
}
