// SPDX-License-Identifier: MIT
// What a command does with bytes, for those who watch an allocation or the storage of arrays.
#pragma once
#include <stdbool.h>

enum em_touch {
    EM_TOUCH_READ,
    EM_TOUCH_WRITE,      // all of the bytes
    EM_TOUCH_WRITE_SOME, // some of them: rows with gaps between them
    EM_TOUCH_UNWRITTEN,  // takes an earlier EM_TOUCH_WRITE of the same bytes back: the command failed, or never ran
};

static inline bool em_touch_writes(enum em_touch touch)
{
    return touch == EM_TOUCH_WRITE || touch == EM_TOUCH_WRITE_SOME;
}
