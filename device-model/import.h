// SPDX-License-Identifier: MIT
// Recognises the file of a descriptor from the file itself: who exported its memory, where the
// payload lies, and how large it really is; or, if it is not memory, what it is.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

enum dm_fd_kind {
    DM_FD_CLOSED,      // not an open descriptor
    DM_FD_OWN,         // memory exported by this library, here or in another process
    DM_FD_MESA,        // a memfd with the header of Mesa's software drivers
    DM_FD_SWIFTSHADER, // a memfd of SwiftShader's Vulkan: payload at 0
    DM_FD_POOL,  // the file of a memory pool of this library, which can only be imported as a pool
    DM_FD_MEMFD, // a memfd without a header we know: payload at 0
    DM_FD_SHM,   // POSIX shared memory, or another file on a tmpfs
    DM_FD_DMABUF,
    DM_FD_SEMAPHORE, // a semaphore that Cardless's driver or Vulkan layer exported; not memory
    DM_FD_OTHER,     // not memory; `what` describes it
};

// The header of memory that Mesa's software drivers export.
struct dm_mesa_header {
    uint64_t size;   // of the whole file
    uint64_t offset; // of the payload
    uint8_t uuid[16];
};
// The uuid of a release build of llvmpipe.
extern const uint8_t dm_llvmpipe_uuid[16];

// Follows Mesa's header in memory that this library exports. The rest of the page is zero.
struct dm_own_header {
    char magic[8]; // "CARDLESS"
    uint32_t version;
    uint32_t check;   // check sum of the two headers with this field 0
    uint64_t payload; // offset in the file
    uint64_t size;    // of the payload, in bytes
    uint64_t
        identity; // the same number in every process; in practice never used twice on a machine
};
enum { DM_HEADER_SIZE = 4096, DM_OWN_VERSION = 2 };
// The first bytes of a memory pool's file.
extern const char dm_pool_magic[8];
uint32_t dm_own_check(const struct dm_mesa_header *mesa, const struct dm_own_header *own);

struct dm_import_info {
    enum dm_fd_kind kind;
    const char *what; // "a memfd with Mesa's header", "an eventfd", "a directory" …; static text
    uint64_t payload; // offset of the memory in the file
    uint64_t size;    // bytes of memory that the file really holds from there on
    uint64_t file_size;
    uint64_t identity; // the number of own memory; else 0
    dev_t dev;
    ino_t ino;
    struct timespec changed; // the file's st_ctim
    bool writable;           // the descriptor is open for reading and writing
    bool may_shrink;         // nothing prevents the exporter from truncating it
    bool uuid_known;         // Mesa: the uuid is that of a release llvmpipe
    int error; // -EBADMSG if kind is MESA or OWN and the header contradicts the file; else 0
};

// Reads and queries fd, and changes nothing. Returns 0 if it is memory, -EBADF if it is closed, and
// -ENOTSUP if it is not memory. Always fills *info.
int dm_import_recognise(int fd, struct dm_import_info *info);

// A memfd that a mapping keeps alive, so that no other file can have its numbers. That it is a
// memfd cannot change. Its size, its header and seals that are not final are read again.
struct dm_import_kept {
    const void *header; // the first page of the file, mapped for reading
    int seals;          // if they are final, else -1
    // The last header of own memory that was found to be right, so that it need not be checked
    // again if it has not changed; or zeros.
    struct dm_headers {
        struct dm_mesa_header mesa;
        struct dm_own_header own;
    } checked;
};
// Returns the kept file with these numbers, or NULL. It should not change the set of kept files.
typedef struct dm_import_kept *dm_import_find_kept(dev_t dev, ino_t ino);
// The same as dm_import_recognise, with fewer system calls for a file that `find` knows.
int dm_import_recognise_kept(int fd, dm_import_find_kept *find, struct dm_import_info *info);

// Fills *kept for a file that was recognised, except `header`. Returns false if the file may not be
// kept: because it is no memfd, or because the program may still want to seal it. F_SEAL_WRITE
// fails while a mapping for writing exists. Nobody seals what software Vulkan has exported.
bool dm_import_keep(int fd, const struct dm_import_info *info, struct dm_import_kept *kept);

// The file that a descriptor number stood for at some moment.
struct dm_fd_identity {
    int fd;
    dev_t dev;
    ino_t ino;
};
int dm_fd_remember(int fd, struct dm_fd_identity *identity);
// Returns false if the number was closed since, also if it was then given to another file.
bool dm_fd_still_ours(const struct dm_fd_identity *identity);
// Duplicates a descriptor to a number above those that programs close in loops and those that their
// own files get. If the limit is lower, any number except the standard streams'. Returns -1 if
// every number is taken.
int dm_fd_duplicate_high(int fd);
// Closes the descriptor if it is still ours, and sets it to -1.
void dm_fd_close(struct dm_fd_identity *identity);
