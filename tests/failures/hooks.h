// SPDX-License-Identifier: MIT
// Functions that the driver library of the failure tests exports beyond the driver API.
//
// It is built from the same objects as libcuda.so.1 and has the same name. A test program that runs
// with it in LD_LIBRARY_PATH finds cardlessTestHooks; with the library that users get it does not.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct test_hooks {
    // The n-th allocation from now fails (1 = the next); 0 turns that off.
    void (*fail_after)(uint64_t n);
    // Returns how many allocations are left until the one that fails. Returns 0 if it has failed,
    // or if failing is turned off.
    uint64_t (*countdown)(void);
    // Counts an allocation of another library. Returns true if it is the one that fails.
    bool (*fails_now)(void);
    // Ends everything that the program has left: contexts, mappings, pools, physical memory,
    // objects of the virtual graphics API. Returns false, with a sentence in `text`, if something
    // survives, or device memory is not free afterwards. Other threads cannot make calls any more.
    // If, after a second, work still waits for the program, or a thread is still in a call, nothing
    // is ended, and the result is true.
    bool (*end_everything)(char *text, size_t capacity);
};

const struct test_hooks *cardlessTestHooks(void);
