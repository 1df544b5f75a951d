// SPDX-License-Identifier: MIT
// Small copies and fills that run without a command.
//
// A command is entered into its stream, runs without em_lock, and is taken out again. If nothing
// can hold it up, and nothing waits for its end or notes it, nobody can tell the difference from
// one that runs inside one section of em_lock, which takes half of the time. Only the driver's own
// memory is accessed while em_lock is held. Copies of other memory, whose page faults the program
// may have to serve, run after it was released (detached.h).
#pragma once
#include <cuda.h>
#include <stdbool.h>

struct em_copy;
struct em_fill;
struct em_stream;

// Larger ones would keep the lock from others for longer than they gain.
enum { EM_IN_PLACE_MOST_B = 32 << 10 };

// Each runs a row of bytes in linear memory that nobody watches, releases em_lock, and returns
// true. Returns false if the call has to submit a command: nothing is wrong, or a fault has ended
// the copy before all bytes were written. The command then finds the same fault again and reports
// it. em_lock is held then, but may have been released meanwhile. *synchronous: whether an
// asynchronous copy of this kind too is done when its call returns. *result: of the call, if this
// returns true. Precondition: em_lock held.
bool em_copy_in_place(const struct em_copy *copy, struct em_stream *stream, bool async,
                      bool *synchronous, CUresult *result);
bool em_fill_in_place(const struct em_fill *fill, struct em_stream *stream);
