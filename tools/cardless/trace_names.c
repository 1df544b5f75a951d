// SPDX-License-Identifier: MIT
// Names for addresses. Memory that the driver knows is called by its number in the order of birth,
// because its address may differ from run to run; any other address is called "address".
#include <ctype.h>
#include <stdlib.h>

#include "trace_model.h"

enum { LEAST_ADDRESS = 0x10000 };

// The memory that holds an address at a time, or TRACE_NONE.
static uint32_t memory_of(const struct trace_model *m, uint64_t address, uint64_t time)
{
    enum { LOOKED_AT = 4096 };
    size_t low = 0, high = m->memory_count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (m->memories[middle].born <= time)
            low = middle + 1;
        else
            high = middle;
    }
    for (size_t i = low; i && i + LOOKED_AT > low; i--) {
        const struct trace_memory *a = &m->memories[i - 1];
        if (a->died >= time && a->address && address >= a->address &&
            address - a->address < a->size_B)
            return (uint32_t)(i - 1);
    }
    return TRACE_NONE;
}

static void put_address(const struct trace_model *m, uint64_t address, uint64_t time,
                        struct em_text *out)
{
    const uint32_t memory = memory_of(m, address, time);
    if (memory == TRACE_NONE)
        em_text_put(out, address < LEAST_ADDRESS ? "0x%llx" : "address",
                    (unsigned long long)address);
    else if (address == m->memories[memory].address)
        em_text_put(out, "memory %u", memory + 1);
    else
        em_text_put(out, "memory %u + %llu", memory + 1,
                    (unsigned long long)(address - m->memories[memory].address));
}

void trace_name_addresses(const struct trace_model *m, const struct em_text *text, uint64_t time,
                          struct em_text *out)
{
    size_t start = 0;
    for (size_t i = 0; i + 2 < text->used; i++) {
        if (text->bytes[i] != '0' || text->bytes[i + 1] != 'x' ||
            !isxdigit((unsigned char)text->bytes[i + 2]))
            continue;
        size_t end = i + 2;
        uint64_t value = 0;
        for (; end < text->used && isxdigit((unsigned char)text->bytes[end]); end++) {
            const char digit[2] = {text->bytes[end], 0};
            value = value << 4 | strtoull(digit, NULL, 16);
        }
        const struct em_text before = {text->bytes + start, i - start, 0, false};
        em_text_append(out, &before);
        put_address(m, value, time, out);
        start = end;
        i = end - 1;
    }
    const struct em_text rest = {text->bytes + start, text->used - start, 0, false};
    if (rest.used)
        em_text_append(out, &rest);
}
