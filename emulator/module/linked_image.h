// SPDX-License-Identifier: MIT
// The images that cuLinkComplete makes: ELF files, as on a card, with the PTX of all parts in a
// section of their own.
#pragma once
#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

#include "fat_binary.h"
#include "texts.h"

// Makes an image, which dm_free should free.
CUresult em_linked_image_make(const struct em_texts *texts, unsigned architecture, char **out,
                              uint64_t *size_B);
// Adds the texts of an image, and sets *architecture to the one that it was made for. *linked is
// false, without an error, if the file was not made here.
CUresult em_linked_image_texts(const struct em_bytes *bytes, bool *linked, unsigned *architecture,
                               struct em_texts *out);
