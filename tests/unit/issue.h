// SPDX-License-Identifier: MIT
// Submits prepared commands.
#pragma once
#include "../harness.h"

#include "command.h"
#include "lock.h"
#include "memory_device.h"
#include "stream.h"

static inline CUresult issue(CUstream handle, struct em_command *c, int how)
{
    struct em_stream *s;
    EXPECT_OK(em_stream_get(handle, &s));
    em_lock();
    em_memory_close_freed(); // as a launch of a graph does
    CUresult r = em_issue(s, c, how);
    em_unlock();
    em_stream_put(s);
    return r;
}
