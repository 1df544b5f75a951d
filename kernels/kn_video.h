// SPDX-License-Identifier: MIT
// The immediate of the forms "video", "video2", "video4" and "vmad": which of the video
// instructions, with which modifiers.
#pragma once

#include <stdint.h>
#include <string.h>

enum kn_video_operation {
    KN_VIDEO_ADD,
    KN_VIDEO_SUB,
    KN_VIDEO_ABSDIFF,
    KN_VIDEO_MIN,
    KN_VIDEO_MAX,
    KN_VIDEO_AVRG,
    KN_VIDEO_SHL,
    KN_VIDEO_SHR,
    KN_VIDEO_EQ, // from here on vset
    KN_VIDEO_NE,
    KN_VIDEO_LT,
    KN_VIDEO_LE,
    KN_VIDEO_GT,
    KN_VIDEO_GE,
};

// The secondary operation, with c. It excludes merging.
enum kn_video_second { KN_VIDEO_ALONE, KN_VIDEO_PLUS, KN_VIDEO_LEAST, KN_VIDEO_GREATEST };

enum {
    KN_VIDEO_SIGNED_D = 1,
    KN_VIDEO_SIGNED_A = 2,
    KN_VIDEO_SIGNED_B = 4,
    KN_VIDEO_SATURATE = 8,
    KN_VIDEO_WRAP = 16,     // shifts: the amount modulo 32, not clamped to 32
    KN_VIDEO_MINUS_AB = 32, // vmad: the product is negated
    KN_VIDEO_MINUS_C = 64,  // vmad: c is negated
    KN_VIDEO_PLUS_ONE = 128 // vmad: .po
};

// Parts of a word: the whole one, a byte, or a half.
enum {
    KN_VIDEO_WORD,
    KN_VIDEO_B0,
    KN_VIDEO_H0 = KN_VIDEO_B0 + 4,
    KN_VIDEO_PARTS = KN_VIDEO_H0 + 2
};

struct kn_video {
    uint8_t operation, second, flags;
    // video: the part of d that is written; c has the others. video2 and video4: a bit for each
    // half or byte of d that is written. vmad: the number of bits by which the result is shifted to
    // the right.
    uint8_t write;
    // video, vmad: a part. video2 and video4: four bits for each half or byte of the result, which
    // select one of {b, a}; a's are first.
    uint16_t a, b;
};

static inline int64_t kn_video_pack(const struct kn_video *video)
{
    int64_t immediate;
    _Static_assert(sizeof(immediate) == sizeof(*video), "");
    memcpy(&immediate, video, sizeof(immediate));
    return immediate;
}

static inline struct kn_video kn_video_unpack(int64_t immediate)
{
    struct kn_video video;
    memcpy(&video, &immediate, sizeof(video));
    return video;
}
