// SPDX-License-Identifier: MIT
// Copies of images, for the fuzz target `image`.
#pragma once
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"

enum { PAGE_B = 4096 };
#define GUARD_B (UINT64_C(1) << 36) // damaged sizes do not lead to other memory of the process

struct copy {
    char *memory, *image;
    size_t mapped_B, size_B;
};

// A copy after which nothing can be read, because most calls are not told an image's size.
static inline struct copy copy_make(const uint8_t *data, size_t size_B)
{
    const size_t pages_B = (size_B + PAGE_B - 1) / PAGE_B * PAGE_B;
    struct copy c = {.mapped_B = pages_B + GUARD_B, .size_B = size_B};
    c.memory =
        mmap(NULL, c.mapped_B, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    FUZZ_CHECK(c.memory != MAP_FAILED, "mmap of %zu bytes", c.mapped_B);
    FUZZ_CHECK(!mprotect(c.memory, pages_B, PROT_READ | PROT_WRITE), "mprotect");
    c.image = c.memory + pages_B - size_B;
    memcpy(c.image, data, size_B);
    return c;
}

static inline void copy_end(const struct copy *c)
{
    munmap(c->memory, c->mapped_B);
}

// A file with the image, and its path.
static inline int copy_file(const struct copy *c, char path[64])
{
    const int fd = memfd_create("image", 0);
    FUZZ_CHECK(fd >= 0 && write(fd, c->image, c->size_B) == (ssize_t)c->size_B, "no memfd");
    snprintf(path, 64, "/proc/self/fd/%d", fd);
    return fd;
}

// image_planned.c: builds an image of the numbers of an input, and predicts its use.
void image_planned(struct fuzz_input *in);
