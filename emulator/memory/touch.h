// SPDX-License-Identifier: MIT
// What a command does with bytes, for those who watch an allocation or the storage of arrays: told
// of reads and writes when the command is submitted, and of the end of each write.
#pragma once
#include <stdbool.h>
#include <cuda.h>

enum em_touch {
    EM_TOUCH_READ,
    EM_TOUCH_WRITE,      // all of the bytes
    EM_TOUCH_WRITE_SOME, // some of them: rows with gaps between them
    EM_TOUCH_WRITTEN,    // the command of an earlier write of the same bytes is complete
    EM_TOUCH_UNWRITTEN,  // it failed, or never ran
};

static inline bool em_touch_writes(enum em_touch touch)
{
    return touch == EM_TOUCH_WRITE || touch == EM_TOUCH_WRITE_SOME;
}

// How the write of a command ends that has this result.
static inline enum em_touch em_touch_end(CUresult result)
{
    return result ? EM_TOUCH_UNWRITTEN : EM_TOUCH_WRITTEN;
}
