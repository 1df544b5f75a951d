// SPDX-License-Identifier: MIT
// Writes the recorded bytes that a call reads to their places in this process.
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "replay.h"

enum { SMALL = 65536 }; // no addresses are below

static bool write_row(uint64_t to, const uint8_t *from, uint64_t size_B)
{
    const struct iovec here = {(void *)(uintptr_t)from, size_B},
                       there = {(void *)(uintptr_t)to, size_B};
    return process_vm_writev(getpid(), &here, 1, &there, 1, 0) == (ssize_t)size_B;
}

static bool write_box(uint64_t to, const uint8_t *from, const struct trace_bytes *b)
{
    for (uint64_t z = 0; z < b->slices; z++)
        for (uint64_t y = 0; y < b->rows; y++, from += b->row_B)
            if (!write_row(to + z * b->slice_B + y * b->pitch_B, from, b->row_B))
                return false;
    return true;
}

static bool is_genuine(const struct trace_bytes *b)
{
    struct rf_hash h = RF_HASH_START;
    rf_hash_add(&h, b->kept, b->size_B);
    return rf_hash_end(&h) == b->hash;
}

// Replaces words that are addresses of driver's memory, or handles, that have moved.
static uint64_t translate_word(const struct replay *replay, uint64_t word, bool is_address,
                               bool *is_lost)
{
    bool found;
    uint64_t value = word;
    switch (replay_find(replay, &word, sizeof word, &value)) {
    case REPLAY_FOUND:
        return value;
    case REPLAY_LOST:
        *is_lost = true;
        return word;
    default:
        break;
    }
    *is_lost |= replay_address_is_lost(replay, word);
    value = word < SMALL ? word : replay_address(replay, word, &found);
    return word < SMALL || (!found && !is_address) ? word : value;
}

bool replay_fill(struct replay *replay, uint32_t call, bool is_later, bool *is_lost, bool *is_set)
{
    const struct trace_bytes *bytes;
    const size_t count = trace_bytes_of(replay->contents, call, &bytes);
    bool complete = true, is_launch = false;
    *is_lost = *is_set = false;
    for (size_t i = 0; i < count; i++)
        is_launch |= bytes[i].role == RF_ADDRESSES;
    for (size_t i = 0; i < count; i++) {
        const struct trace_bytes *b = &bytes[i];
        if ((b->role != RF_READS && b->role != RF_ADDRESSES) || !b->hash)
            continue;
        bool found;
        const uint64_t to = replay_address(replay, b->address, &found);
        if (!found || !b->kept || !is_genuine(b)) {
            complete = false;
            continue;
        }
        const bool is_shared = replay_is_driver_memory(replay, b->address);
        *is_set |= is_shared;
        if (is_shared && is_later && !is_launch)
            continue;
        const bool words = b->role == RF_ADDRESSES || (is_launch && b->size_B == 8);
        if (!words || b->rows != 1 || b->slices != 1) {
            complete &= write_box(to, b->kept, b);
            continue;
        }
        for (uint64_t at = 0; at + 8 <= b->row_B; at += 8) {
            uint64_t word;
            memcpy(&word, b->kept + at, sizeof word);
            word = translate_word(replay, word, b->role == RF_ADDRESSES, is_lost);
            complete &= write_row(to + at, (const uint8_t *)&word, sizeof word);
        }
    }
    return complete;
}

void replay_refill(struct replay *replay, uint32_t call)
{
    const struct trace_bytes *bytes;
    const size_t count = trace_bytes_of(replay->contents, call, &bytes);
    for (size_t i = 0; i < count; i++)
        if (bytes[i].role == RF_ADDRESSES)
            return; // a launch, whose parameters are not in such memory
    for (size_t i = 0; i < count; i++) {
        const struct trace_bytes *b = &bytes[i];
        bool found;
        const uint64_t to = replay_address(replay, b->address, &found);
        if (b->role == RF_READS && b->hash && b->kept && found && is_genuine(b) &&
            replay_is_driver_memory(replay, b->address))
            write_box(to, b->kept, b);
    }
}
