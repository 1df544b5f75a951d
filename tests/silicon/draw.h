// SPDX-License-Identifier: MIT
// The fixed random generator of the recorded programs. If it changes, their recordings become
// useless.
#pragma once
#include <stdbool.h>
#include <stdint.h>

#define COUNT(list) (sizeof(list) / sizeof *(list))
#define PICK(list) (list)[draw() % COUNT(list)]

static uint64_t draw_state;

static uint64_t draw(void)
{
    draw_state ^= draw_state << 13;
    draw_state ^= draw_state >> 7;
    draw_state ^= draw_state << 17;
    return draw_state;
}

__attribute__((unused)) static void draw_seed(uint64_t number)
{
    draw_state = number * UINT64_C(0x9E3779B97F4A7C15) + 1;
    for (int i = 0; i < 8; i++)
        draw();
}

__attribute__((unused)) static bool chance(unsigned percent)
{
    return draw() % 100 < percent;
}

// Usually draws a number below `most`, otherwise a number with any count of bits.
__attribute__((unused)) static uint64_t draw_size(uint64_t most, unsigned percent)
{
    if (chance(percent))
        return draw() % most;
    uint64_t bits = draw();
    return bits >> (draw() % 64);
}
