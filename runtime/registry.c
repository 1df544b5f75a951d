// SPDX-License-Identifier: MIT
// Registry: the fat binaries of the program, and the kernels and variables in them.
#include "registry.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fat_binary.h"
#include "lock.h"
#include "thread.h"

// rt_lock guards the three tables below and the links between their elements.
static struct rt_binary *binaries;       // by handle, in the order of registration
static struct rt_symbol *symbols;        // by host address; `same_host` links those of one address
static struct rt_symbol *symbols_in_use; // by `device`; one symbol for each device address

static atomic_bool incomplete; // memory has run out during a registration

// ---- memory

void rt_registry_out_of_memory(void)
{
    atomic_store(&incomplete, true);
}

bool rt_registry_incomplete(void)
{
    return atomic_load(&incomplete);
}

// ---- recently found symbols of a thread

// Counts the binaries that were unregistered, whose symbols have been freed.
static _Atomic uint64_t removals = 1;

// Most launches find their kernel here, and need no mutex. Another thread may unregister a binary
// and free its symbols at any moment. So a slot has its own copy of the address, and a lookup reads
// no symbol of another binary.
#define RECENT_BITS 4
struct recent_slot {
    const void *address;
    struct rt_symbol *symbol;
};
static __thread struct {
    uint64_t removals; // when the slots were filled
    struct recent_slot slots[1 << RECENT_BITS];
} recent;

// Returns the slot of an address. Empties all slots first if a binary was unregistered since they
// were filled. The multiplication by 2^64 / golden ratio spreads addresses evenly.
static struct recent_slot *recent_slot(const void *address)
{
    const uint64_t now = atomic_load_explicit(&removals, memory_order_acquire);
    if (recent.removals != now)
        memset(recent.slots, 0, sizeof recent.slots);
    recent.removals = now;
    return &recent.slots[((uintptr_t)address * 0x9e3779b97f4a7c15ull) >> (64 - RECENT_BITS)];
}

// Whether `address` is a name of the symbol in the program. C++ code may name a managed variable by
// the address of its memory.
static bool symbol_is_at(const struct rt_symbol *symbol, const void *address)
{
    if (symbol->host == address)
        return true;
    return symbol->kind == RT_MANAGED && address &&
           atomic_load_explicit(&symbol->device, memory_order_relaxed) == address;
}

// ---- fat binaries

struct rt_binary *rt_registry_add(const void *image)
{
    rt_lock();
    struct rt_binary *binary = calloc(1, sizeof *binary);
    bool added = false;
    if (binary) {
        binary->handle = binary;
        binary->image = image;
        binary->references = 1;
        HASH_ADD_PTR(binaries, handle, binary);
        added = binary->hh.tbl != NULL; // else uthash is out of memory
    } else {
        rt_registry_out_of_memory();
    }
    if (!added) {
        free(binary);
        binary = NULL;
    }
    rt_unlock();
    return binary;
}

// Called between rt_lock and rt_unlock.
static struct rt_binary *binary_find(void **handle)
{
    struct rt_binary *binary = NULL;
    HASH_FIND_PTR(binaries, &handle, binary);
    return binary;
}

// Takes a symbol out of its list of symbols of one host address.
// Called between rt_lock and rt_unlock.
static void symbol_unlink_host(struct rt_symbol *symbol)
{
    struct rt_symbol *first = NULL;
    HASH_FIND_PTR(symbols, &symbol->host, first);
    if (first == symbol) {
        HASH_DEL(symbols, symbol);
        if (symbol->same_host)
            HASH_ADD_PTR(symbols, host, symbol->same_host);
        return;
    }
    struct rt_symbol *before = first;
    while (before && before->same_host != symbol)
        before = before->same_host;
    if (before)
        before->same_host = symbol->same_host;
}

void rt_registry_remove(void **handle)
{
    rt_lock();
    struct rt_binary *binary = binary_find(handle);
    if (binary) {
        HASH_DEL(binaries, binary);
        for (struct rt_symbol *s = binary->symbols; s; s = s->next) {
            if (s->by_device.tbl)
                HASH_DELETE(by_device, symbols_in_use, s);
            symbol_unlink_host(s);
        }
        atomic_fetch_add(&removals, 1);
    }
    rt_unlock();
    if (binary)
        rt_registry_release(binary);
}

struct rt_binary *rt_registry_hold(void **handle)
{
    rt_lock();
    struct rt_binary *binary = binary_find(handle);
    if (binary)
        binary->references++;
    rt_unlock();
    return binary;
}

void rt_registry_release(struct rt_binary *binary)
{
    rt_lock();
    if (--binary->references == 0) {
        for (struct rt_symbol *s = binary->symbols, *next; s; s = next) {
            next = s->next;
            free(s);
        }
        rt_binary_retire(binary);
    }
    rt_unlock();
}

struct rt_binary *rt_registry_next(struct rt_binary *previous)
{
    struct rt_binary *next = NULL;
    rt_lock();
    if (!previous)
        next = binaries;
    else if (binary_find((void **)previous)) // else it was unregistered, and the list ends
        next = previous->hh.next;
    if (next)
        next->references++;
    rt_unlock();
    if (previous)
        rt_registry_release(previous);
    return next;
}

// ---- kernels and variables

// Adds a symbol to the table `symbols`, after those of the same host address. Returns false if out
// of memory.
// Called between rt_lock and rt_unlock.
static bool symbol_insert(struct rt_symbol *symbol)
{
    struct rt_symbol *last = NULL;
    HASH_FIND_PTR(symbols, &symbol->host, last);
    if (!last) {
        HASH_ADD_PTR(symbols, host, symbol);
        return symbol->hh.tbl != NULL;
    }
    while (last->same_host)
        last = last->same_host;
    last->same_host = symbol;
    return true;
}

void rt_registry_symbol(void **handle, enum rt_symbol_kind kind, const void *host, const char *name,
                        size_t size)
{
    rt_lock();
    struct rt_binary *binary = binary_find(handle);
    struct rt_symbol *symbol = binary ? calloc(1, sizeof *symbol) : NULL;
    if (symbol) {
        *symbol = (struct rt_symbol){
            .host = host, .name = name, .size = size, .kind = kind, .binary = binary};
        if (symbol_insert(symbol)) {
            symbol->next = binary->symbols;
            binary->symbols = symbol;
        } else {
            free(symbol);
        }
    } else if (binary) {
        rt_registry_out_of_memory();
    }
    rt_unlock();
}

static struct rt_symbol *registry_look_up(const void *host)
{
    struct recent_slot *slot = recent_slot(host);
    if (slot->address == host)
        return slot->symbol;

    struct rt_symbol *symbol = NULL;
    rt_lock();
    HASH_FIND_PTR(symbols, &host, symbol);
    if (!symbol)
        HASH_FIND(by_device, symbols_in_use, &host, sizeof host, symbol);
    if (symbol && !symbol_is_at(symbol, host)) // the address is a CUkernel, for example
        symbol = NULL;
    rt_unlock();

    if (symbol)
        *slot = (struct recent_slot){host, symbol};
    return symbol;
}

struct rt_symbol *rt_registry_find(const void *host)
{
    rt_busy_begin(); // so that a call of a signal handler does not change the slot meanwhile
    struct rt_symbol *symbol = registry_look_up(host);
    rt_busy_end();
    return symbol;
}

struct rt_symbol *rt_registry_find_device(const void *device)
{
    struct rt_symbol *symbol = NULL;
    rt_lock();
    HASH_FIND(by_device, symbols_in_use, &device, sizeof device, symbol);
    rt_unlock();
    return symbol;
}

void rt_registry_set_device(struct rt_symbol *symbol, void *device)
{
    rt_lock();
    if (!symbol->by_device.tbl) { // else another thread has set it meanwhile
        symbol->device = device;
        // Two variables of one name may share their memory. The table has the first one.
        struct rt_symbol *other = NULL;
        HASH_FIND(by_device, symbols_in_use, &device, sizeof device, other);
        if (!other)
            HASH_ADD_KEYPTR(by_device, symbols_in_use, &symbol->device, sizeof device, symbol);
    }
    rt_unlock();
}
