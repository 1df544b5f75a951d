// SPDX-License-Identifier: MIT
// Decodes LZ4 blocks: sequences of literals and of matches, which repeat earlier output.
//
//     │ token: literals, match - 4 │ more literals … │ literals │ offset, 2 bytes │ more match … │
//       4 bits each; 15: bytes follow that are added, until one is less than 255
//
// The last sequence ends after its literals.
#include "kn_lz4.h"

#include <stdbool.h>

#include "kn_copy.h"

enum { LENGTH_MORE = 15, BYTE_MORE = 255, MATCH_LEAST_B = 4 };

struct input {
    const unsigned char *at, *end;
};

// Adds the bytes of a length to *length. Returns false if the input ends before they do.
static bool read_length(struct input *in, uint64_t *length)
{
    unsigned char byte = BYTE_MORE;
    if (*length != LENGTH_MORE)
        return true;
    while (byte == BYTE_MORE) {
        if (in->at == in->end)
            return false;
        byte = *in->at++;
        *length += byte;
    }
    return true;
}

// Copies bytes that may repeat themselves: a match may begin fewer bytes before its place than it
// has.
static void repeat(unsigned char *to, uint64_t offset, uint64_t size_B)
{
    if (offset >= size_B) {
        kn_copy(to, to - offset, size_B);
        return;
    }
    for (uint64_t i = 0; i < size_B; i++)
        to[i] = to[i - offset];
}

uint64_t kn_lz4_decode(void *out, uint64_t out_B, const void *input, uint64_t in_B)
{
    struct input in = {input, (const unsigned char *)input + in_B};
    unsigned char *to = out;
    uint64_t used = 0;
    while (in.at < in.end) {
        const unsigned token = *in.at++;
        uint64_t literals = token >> 4, match = token & LENGTH_MORE;
        if (!read_length(&in, &literals) || literals > (uint64_t)(in.end - in.at) ||
            literals > out_B - used)
            return KN_LZ4_DAMAGED;
        if (literals)
            kn_copy(to + used, in.at, literals);
        used += literals;
        in.at += literals;
        if (in.at == in.end)
            return used;
        if (in.end - in.at < 2)
            return KN_LZ4_DAMAGED;
        const uint64_t offset = in.at[0] | (uint64_t)in.at[1] << 8;
        in.at += 2;
        if (!read_length(&in, &match) || !offset || offset > used)
            return KN_LZ4_DAMAGED;
        match += MATCH_LEAST_B;
        if (match > out_B - used)
            return KN_LZ4_DAMAGED;
        repeat(to + used, offset, match);
        used += match;
    }
    return KN_LZ4_DAMAGED; // the last sequence has no match
}
