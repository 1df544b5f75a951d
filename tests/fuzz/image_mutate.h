// SPDX-License-Identifier: MIT
// The mutator of images.
#pragma once
#include <stddef.h>
#include <stdint.h>

enum { IMAGE_INPUT_B = 1 << 16, IMAGE_CUDA_MACHINE = 190 };

// The first byte of an input.
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

// A whole fat binary, for the structs that list several.
const void *image_other(void);

// libFuzzer calls it, and so does standalone.c: changes an input of `size` bytes in a buffer of
// `most`. Returns the new size. Begins with a whole image if `size` is too small.
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);
