// SPDX-License-Identifier: MIT
// CUDA_VISIBLE_DEVICES: which cards the program sees, and in which order.
#include "visible.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "config.h"
#include "error.h"

enum { DIGITS = 32 };

// The number of an item, or -1. Whatever follows the digits is ignored, and a number of more than
// 32 bits is truncated (recorded: visible_devices values/8, values/28).
static int item_number(const char *item, int count)
{
    char *end;
    const int number = (int)strtol(item, &end, 10);
    return end == item || number < 0 || number >= count ? -1 : number;
}

// The hexadecimal digits of a UUID after its prefix. They may be fewer than 32, hyphens do not
// matter, and what follows the last digit of a whole UUID is ignored (recorded: visible_devices
// values/31, values/38, values/40). Returns their number; 0 if another character stands between
// them.
static unsigned item_digits(const char *text, char digits[DIGITS])
{
    unsigned n = 0;
    for (; *text && *text != ',' && n < DIGITS; text++) {
        if (isxdigit((unsigned char)*text))
            digits[n++] = (char)tolower((unsigned char)*text);
        else if (*text != '-')
            return 0;
    }
    return n;
}

static bool uuid_begins_with(const struct em_device *device, const char *digits, unsigned n)
{
    static const char hexadecimal[] = "0123456789abcdef";
    unsigned char uuid[16];
    em_device_uuid_found(device, uuid);
    for (unsigned i = 0; i < n; i++)
        if (digits[i] != hexadecimal[i % 2 ? uuid[i / 2] & 15 : uuid[i / 2] >> 4])
            return false;
    return true;
}

// Programming guide, "CUDA Environment Variables": an abbreviation of a UUID must have enough
// digits "to uniquely identify that GPU in the target system". Returns -1 if no card has it, or
// several have.
static int item_uuid(const char *text, const struct em_device *devices, int count)
{
    char digits[DIGITS];
    const unsigned n = item_digits(text, digits);
    int found = -1;
    for (int i = 0; i < count && n; i++) {
        if (!uuid_begins_with(&devices[i], digits, n))
            continue;
        if (found >= 0)
            return -1;
        found = i;
    }
    return found;
}

// The prefix of UUIDs, or NULL. The UUID of a card names the card after MIG-, too (recorded:
// visible_devices values/58).
static const char *skip_prefix(const char *item)
{
    return !strncmp(item, "GPU-", 4) || !strncmp(item, "MIG-", 4) ? item + 4 : NULL;
}

// Programming guide: "If one of the indices is invalid, only the devices whose index precedes the
// invalid index are visible". All items have the form of the first one: a number or a UUID
// (recorded: visible_devices values/49, values/50). Fills in `chosen`, and their number.
static CUresult choose_cards(const char *list, const struct em_device *devices, int count,
                             int chosen[DM_BOOK_CARDS], int *chosen_count)
{
    bool is_chosen[DM_BOOK_CARDS] = {false};
    const bool by_uuid = skip_prefix(list) != NULL;
    *chosen_count = 0;
    for (const char *item = list; item; item = strchr(item, ',')) {
        item += item != list;
        const char *uuid = skip_prefix(item);
        int card = -1;
        if (by_uuid && uuid)
            card = item_uuid(uuid, devices, count);
        else if (!by_uuid)
            card = item_number(item, count);
        if (card < 0)
            break;
        if (is_chosen[card])
            return em_fail(CUDA_ERROR_INVALID_DEVICE,
                           "CUDA_VISIBLE_DEVICES (\"%s\") names card %d twice; name each card once",
                           list, card);
        is_chosen[card] = true;
        chosen[(*chosen_count)++] = card;
    }
    return CUDA_SUCCESS;
}

void em_devices_choose_prepare(void)
{
    const char *list = em_config()->visible_devices;
    if (list && skip_prefix(list))
        em_device_uuid_find();
}

CUresult em_devices_choose(struct em_device *devices, int *count)
{
    const char *list = em_config()->visible_devices;
    int chosen[DM_BOOK_CARDS], visible;
    if (!list)
        return CUDA_SUCCESS;
    CUresult r = choose_cards(list, devices, *count, chosen, &visible);
    if (r)
        return r;
    if (!visible)
        return em_fail(
            CUDA_ERROR_NO_DEVICE,
            "CUDA_VISIBLE_DEVICES (\"%s\") names no device; unset it, or name devices by "
            "their numbers from 0 or by the beginnings of their UUIDs (GPU-…)",
            list);
    // Too large for the stack of a thread.
    struct em_device *all = dm_calloc((size_t)*count, sizeof *all);
    if (!all)
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY, "out of host memory for the list of %d devices",
                       *count);
    memcpy(all, devices, (size_t)*count * sizeof *all);
    for (int i = 0; i < visible; i++)
        devices[i] = all[chosen[i]];
    dm_free(all);
    *count = visible;
    return CUDA_SUCCESS;
}
