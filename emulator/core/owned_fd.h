// SPDX-License-Identifier: MIT
// File descriptors that the program has given to the driver by a successful import. The program
// must not use their numbers any more.
#pragma once
#include <stdint.h>

#include "hash_table.h"
#include "import.h"

struct em_owned_fd {
    struct dm_fd_identity fd; // fd.fd is -1 if the driver has closed it
    const char *type;         // of the object that it was imported as: "CUexternalMemory"
    uint32_t number;          // of that object
    UT_hash_handle hh;        // among the descriptors that the driver owns
};

// The descriptor that owns this number, if the number still refers to the file that was imported,
// or NULL. Precondition: em_lock held.
const struct em_owned_fd *em_owned_fd_find(int fd);
// Takes ownership. Under driver-580 it closes the descriptor; under the manual it keeps it open, so
// that a program which goes on using the number is detected. Precondition: em_lock held.
void em_owned_fd_take(struct em_owned_fd *owned, int fd, const char *type, uint32_t number);
// The same for a descriptor whose file is known already. Precondition: em_lock held.
void em_owned_fd_take_known(struct em_owned_fd *owned, const struct dm_fd_identity *fd,
                            const char *type, uint32_t number);
// Reports once (M01) if the program has closed the descriptor, or has reused its number for another
// file. Precondition: em_lock held.
void em_owned_fd_check(struct em_owned_fd *owned);
// Does both em_owned_fd_check and em_owned_fd_end. Precondition: em_lock held.
void em_owned_fd_check_end(struct em_owned_fd *owned);
// Closes the descriptor if it is open and still the driver's. Precondition: em_lock held.
void em_owned_fd_end(struct em_owned_fd *owned);
