// SPDX-License-Identifier: MIT
// The mutator of PTX texts, and the texts that it begins with.
#pragma once
#include <stddef.h>
#include <stdint.h>

extern const char *const fuzz_ptx_texts[];
extern const unsigned fuzz_ptx_text_count;

// libFuzzer calls it, and so does standalone.c: changes an input of `size` bytes in a buffer of
// `most`. Returns the new size. Begins with a whole text if there is none.
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);
