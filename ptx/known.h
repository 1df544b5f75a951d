// SPDX-License-Identifier: MIT
// Finds operations for which something is known of a source, and the faster forms of them:
//
//     setp.lt.s32   %p1, %r1, 4          setp.lt.s32.constant: the constant is in the operation
//     ld.shared.u32 %r4, [%r2+64]        ld.shared.32:32.row: %r2 is %tid.x * 4 plus a number that
//                                        is the same for all threads of the block
#pragma once
#include "layout.h"

// By operation of the program.
struct px_known_form {
    int form;             // to use instead, or -1
    px_register constant; // that is no source any more, or PX_NONE
    px_register other;    // then the source that remains
    uint32_t value;       // and the constant's value
};

struct px_known {
    struct px_known_form *of;
    bool *unread; // by register: no operation reads it any more, so it needs no place
};

// Returns false if host memory is short. Free with px_known_free, also then.
// Precondition: px_layout_copies has run.
bool px_known_find(struct px_known *out, const struct px_layout *layout);
void px_known_free(struct px_known *known);
