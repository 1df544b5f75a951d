// SPDX-License-Identifier: MIT
// The mutator of images.
#pragma once
#include "../api/images.h"

enum { IMAGE_INPUT_B = 1 << 16, IMAGE_CUDA_MACHINE = 190 };

// The first byte of an input. After IMAGE_PLANNED come numbers of which the target builds images
// that are well-formed (image_plan.h); after the others comes an image.
enum { IMAGE_PLANNED = 0xff };
enum image_route {
    IMAGE_ROUTE_DATA,
    IMAGE_ROUTE_FAT_BINARY,
    IMAGE_ROUTE_LIBRARY,
    IMAGE_ROUTE_WRAPPED,
    IMAGE_ROUTE_WRAPPED_LINKED,
    IMAGE_ROUTE_FILE,
    IMAGE_ROUTE_LIBRARY_FILE,
    IMAGE_ROUTE_LINK = 8, // plus twice the CUjitInputType, plus 1 for cuLinkAddFile
    IMAGE_ROUTES = IMAGE_ROUTE_LINK + 2 * 7,
};

// Adds a text to a fat binary: packed as given, or plain if the library for that is not there.
enum image_packing { IMAGE_PLAIN, IMAGE_PACKED_ZSTD, IMAGE_PACKED_LZ4, IMAGE_PACKINGS };
void image_add_text(struct container *c, const char *text, unsigned architecture, unsigned packing);
// Machine code without kernels. Returns its size.
size_t image_cubin(unsigned char *to, unsigned architecture);
// A whole fat binary, for the structs that list several.
const void *image_other(void);

// libFuzzer calls it, and so does standalone.c: changes an input of `size` bytes in a buffer of
// `most`. Returns the new size. Begins with a whole image if `size` is too small.
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);
