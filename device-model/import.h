// SPDX-License-Identifier: MIT
// Recognises what is behind a file descriptor from the file itself: whose memory it is, where its
// payload lies, how large it really is, or what it is instead of memory.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum dm_fd_kind {
    DM_FD_CLOSED,      // not an open descriptor
    DM_FD_OWN,         // memory exported by this library, here or in another process
    DM_FD_MESA,        // a memfd with the header of Mesa's software drivers
    DM_FD_SWIFTSHADER, // a memfd of SwiftShader's Vulkan: payload at 0
    DM_FD_POOL,        // the file of a memory pool of this library: it is imported as a pool only
    DM_FD_MEMFD,       // a memfd without a header we know: payload at 0
    DM_FD_SHM,         // POSIX shared memory, or another file on a tmpfs
    DM_FD_DMABUF,
    DM_FD_OTHER, // not memory: `what` says what it is
};

// The header that Mesa's software drivers put before exported memory.
struct dm_mesa_header {
    uint64_t size;   // of the whole file
    uint64_t offset; // of the payload
    uint8_t uuid[16];
};
// A release build of llvmpipe.
extern const uint8_t dm_llvmpipe_uuid[16];

// Follows Mesa's header in memory that this library exports; the rest of the page is zero.
struct dm_own_header {
    char magic[8]; // "CARDLESS"
    uint32_t version;
    uint32_t check;   // over the two headers with this field 0
    uint64_t payload; // offset in the file
    uint64_t size;    // of the payload, in bytes
    uint64_t
        identity; // the same number in every process, never used twice on a machine in practice
};
enum { DM_HEADER_SIZE = 4096, DM_OWN_VERSION = 2 };
// The first bytes of a memory pool's file.
extern const char dm_pool_magic[8];
uint32_t dm_own_check(const struct dm_mesa_header *mesa, const struct dm_own_header *own);

struct dm_import_info {
    enum dm_fd_kind kind;
    const char *what;  // "a memfd with Mesa's header", "an eventfd", "a directory" …: static text
    uint64_t payload;  // where the memory begins in the file
    uint64_t size;     // bytes of memory that the file really holds from there on
    uint64_t identity; // own memory: its number; else 0
    dev_t dev;
    ino_t ino;
    bool writable;   // the descriptor is open for reading and writing
    bool may_shrink; // nothing stops the producer from truncating it
    bool uuid_known; // Mesa: the uuid is a release llvmpipe's
    int error; // kind MESA or OWN damaged: the header's claims contradict the file; -EBADMSG, else
               // 0
};

// Reads and queries fd, changes nothing. 0 when it is memory; -EBADF: closed; -ENOTSUP: not memory.
// *info is always filled.
int dm_import_recognise(int fd, struct dm_import_info *info);

// Which file a descriptor number stood for at some moment.
struct dm_fd_identity {
    int fd;
    dev_t dev;
    ino_t ino;
};
int dm_fd_remember(int fd, struct dm_fd_identity *identity);
// False once the number has been closed, or closed and given to another file.
bool dm_fd_still_ours(const struct dm_fd_identity *identity);
// A duplicate with a number above what programs close in loops, and what their own files get; where
// the limit is lower, any number but those of the standard streams. -1: none can be had.
int dm_fd_duplicate_high(int fd);
// Closes it where it is still ours, and forgets it (-1).
void dm_fd_close(struct dm_fd_identity *identity);
