// SPDX-License-Identifier: MIT
// Repacking by shuffles of 16 bytes.
//
// The file that includes this one has defined
//   REPACK_SUFFIX()    the name of a function of this set
//   REPACK_GROUPS      groups in a step
//   repack_step(dst, out_B, src, in_B, how)
//                      a step; groups start in_B apart in the source and out_B in the destination
//
// A step reads 16 bytes and writes 16 bytes for each group, so the bytes after a group are written
// again by the next one.
KN_INLINE void repack(uint8_t *dst, const uint8_t *src, const struct kn_repack *how, uint64_t count,
                      unsigned channel_B)
{
    unsigned in_B = how->group * how->src_channels * channel_B,
             out_B = how->group * how->dst_channels * channel_B;
    uint8_t *end = dst + count * how->dst_channels * channel_B;
    const uint8_t *src_end = src + count * how->src_channels * channel_B;
    struct repack_how h = repack_how(how);

    // Bytes that a step reads and writes.
    uint64_t reach_in_B = (REPACK_GROUPS - 1) * in_B + 16,
             reach_out_B = (REPACK_GROUPS - 1) * out_B + 16;
    while ((uint64_t)(src_end - src) >= reach_in_B && (uint64_t)(end - dst) >= reach_out_B) {
        repack_step(dst, out_B, src, in_B, h);
        src += REPACK_GROUPS * in_B;
        dst += REPACK_GROUPS * out_B;
    }
    // The last groups go through buffers that are large enough.
    while (dst < end) {
        uint8_t in[REPACK_GROUPS * 16], out[REPACK_GROUPS * 16];
        uint64_t left_in_B = src_end - src, left_out_B = end - dst;
        left_in_B = left_in_B < REPACK_GROUPS * in_B ? left_in_B : REPACK_GROUPS * in_B;
        left_out_B = left_out_B < REPACK_GROUPS * out_B ? left_out_B : REPACK_GROUPS * out_B;
        memcpy(in, src, left_in_B);
        repack_step(out, out_B, in, in_B, h);
        memcpy(dst, out, left_out_B);
        src += left_in_B;
        dst += left_out_B;
    }
}

#define REPACK(name, channel_B)                                                                    \
    void REPACK_SUFFIX(kn_repack_##name)(void *dst, const void *src, const struct kn_repack *how,  \
                                         uint64_t count)                                           \
    {                                                                                              \
        if (count < KN_REPACK_SHORT)                                                               \
            kn_repack_##name##_c(dst, src, how, count);                                            \
        else                                                                                       \
            repack(dst, src, how, count, channel_B);                                               \
    }

REPACK(8, 1)
REPACK(16, 2)
REPACK(32, 4)
