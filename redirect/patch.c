// SPDX-License-Identifier: MIT
// Writes stubs, and the jumps to them.
#include "patch.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { STUB_B = 16 };
#define STEP_B UINT64_C(0x100000)
#define LOWEST UINT64_C(0x10000)
#define REACH_B (UINT64_C(0x7fff0000))

// Maps pages at exactly this address, if they are free.
static void *map_at(uint64_t address, size_t size)
{
    void *page = mmap((void *)(uintptr_t)address, size, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (page != MAP_FAILED && page != (void *)(uintptr_t)address) {
        munmap(page, size); // a kernel before 4.17 takes the address as a hint
        return MAP_FAILED;
    }
    return page;
}

// Searches below the object first, because a heap grows above it.
static void *map_near(uint64_t low, uint64_t high, size_t size)
{
    const uint64_t page_B = (uint64_t)sysconf(_SC_PAGESIZE), start = low & -page_B;
    for (uint64_t away = STEP_B; away < REACH_B; away += STEP_B) {
        void *page = MAP_FAILED;
        const uint64_t below = start - away, above = ((high + page_B) & -page_B) + away;
        if (start > away + LOWEST && high - below < REACH_B)
            page = map_at(below, size);
        if (page == MAP_FAILED && above + size - low < REACH_B)
            page = map_at(above, size);
        if (page != MAP_FAILED)
            return page;
    }
    return MAP_FAILED;
}

static void write_stub(unsigned char *stub, void *const *cell)
{
    const uint64_t address = (uint64_t)(uintptr_t)cell;
    stub[0] = 0x49; // movabs $cell, %r11
    stub[1] = 0xbb;
    memcpy(stub + 2, &address, sizeof address);
    stub[10] = 0x41; // jmp *(%r11)
    stub[11] = 0xff;
    stub[12] = 0x23;
}

static void write_entry(unsigned char *entry, const unsigned char *stub)
{
    static const unsigned char endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
    const int32_t distance = (int32_t)(stub - (entry + RD_ENTRY_B));
    memcpy(entry, endbr64, sizeof endbr64);
    entry[4] = 0xe9; // jmp rel32
    memcpy(entry + 5, &distance, sizeof distance);
}

static int protect(uint64_t low, uint64_t high, int protection)
{
    const uint64_t page_B = (uint64_t)sysconf(_SC_PAGESIZE), start = low & -page_B;
    return mprotect((void *)(uintptr_t)start, high + RD_ENTRY_B - start, protection);
}

int rd_patch(const struct rd_entry *entries, size_t count, struct rd_stubs *stubs)
{
    uint64_t low = UINT64_MAX, high = 0;
    for (size_t i = 0; i < count; i++) {
        low = entries[i].address < low ? entries[i].address : low;
        high = entries[i].address > high ? entries[i].address : high;
    }
    stubs->size = count * STUB_B;
    stubs->base = map_near(low, high, stubs->size);
    if (stubs->base == MAP_FAILED)
        return -1;
    for (size_t i = 0; i < count; i++)
        write_stub((unsigned char *)stubs->base + i * STUB_B, entries[i].cell);
    if (mprotect(stubs->base, stubs->size, PROT_READ | PROT_EXEC) ||
        protect(low, high, PROT_READ | PROT_WRITE)) {
        munmap(stubs->base, stubs->size);
        return -1;
    }
    for (size_t i = 0; i < count; i++)
        write_entry((unsigned char *)(uintptr_t)entries[i].address,
                    (unsigned char *)stubs->base + i * STUB_B);
    return protect(low, high, PROT_READ | PROT_EXEC);
}

void rd_unpatch(const struct rd_stubs *stubs)
{
    munmap(stubs->base, stubs->size);
}
