// SPDX-License-Identifier: MIT
// The setting CARDLESS_STEP: which warp to step, and the descriptors of `cardless step`.
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "import.h"

struct em_step_request {
    char kernel[256]; // a pattern of fnmatch()
    uint64_t launch;  // the number, from 1, of the launches of such kernels
    uint32_t block[3], warp;
    unsigned first_line, last_line;
    bool interactive;
    // Files of the command that has set it: commands to read, text to write, and a file that gets
    // a byte when a warp is stepped. A number is -1 if there is no such file.
    struct dm_fd_identity in, out, note;
};

// Returns the request of CARDLESS_STEP, or NULL. Reports a value that it does not know.
// Thread-safe.
const struct em_step_request *em_step_request(void);
