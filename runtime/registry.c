// SPDX-License-Identifier: MIT
// Registry: the fat binaries of the program, and the kernels and variables in them.
#include <stdint.h>
#include <stdlib.h>

#include "fat_binary.h"
#include "registry.h"

// Protects the variables of this file. Nothing calls the driver while it holds this lock: a thread
// that loads a binary may wait for the dynamic loader's lock, and a thread that opens a library
// holds the loader's lock while it registers.
static pthread_mutex_t registry_lock = PTHREAD_MUTEX_INITIALIZER;
static struct rt_binary *binaries;       // in the order of registration
static struct rt_symbol *symbols;        // by host address: the one that was registered first
static struct rt_symbol *symbols_in_use; // those that have a `device`, by that
static atomic_bool incomplete;

// Counts removals, after which threads should forget the symbols that they remember.
static _Atomic uint64_t removals = 1;

// The symbols that this thread found last, so that launches need no lock.
#define REMEMBERED_BITS 4
static __thread struct {
    uint64_t removals; // when they were found
    struct {
        const void *host;
        struct rt_symbol *symbol;
    } slots[1 << REMEMBERED_BITS];
} remembered;

// A child of fork has only the thread that called it, so that thread should hold the lock
// meanwhile. Else a lock that another thread holds stays locked in the child, which waits for it at
// its end at the latest.
static void registry_before_fork(void)
{
    pthread_mutex_lock(&registry_lock);
}

static void registry_after_fork(void)
{
    pthread_mutex_unlock(&registry_lock);
}

// Runs before the code that registers, because that needs this library. Without memory for the
// functions, forks go on without them.
__attribute__((constructor)) static void registry_watch_forks(void)
{
    (void)pthread_atfork(registry_before_fork, registry_after_fork, registry_after_fork);
}

static unsigned registry_slot(const void *host)
{
    return (unsigned)(((uintptr_t)host * 0x9e3779b97f4a7c15ull) >> (64 - REMEMBERED_BITS));
}

void rt_registry_out_of_memory(void)
{
    atomic_store(&incomplete, true);
}

bool rt_registry_incomplete(void)
{
    return atomic_load(&incomplete);
}

struct rt_binary *rt_registry_add(const void *image)
{
    struct rt_binary *binary = calloc(1, sizeof *binary);
    if (!binary) {
        rt_registry_out_of_memory();
        return NULL;
    }
    binary->handle = binary;
    binary->image = image;
    binary->references = 1;
    pthread_mutex_init(&binary->loading, NULL);
    pthread_mutex_lock(&registry_lock);
    HASH_ADD_PTR(binaries, handle, binary);
    const bool added = binary->hh.tbl != NULL;
    pthread_mutex_unlock(&registry_lock);
    if (!added) {
        pthread_mutex_destroy(&binary->loading);
        free(binary);
        return NULL;
    }
    return binary;
}

// Called with registry_lock held.
static struct rt_binary *registry_binary(void **handle)
{
    struct rt_binary *binary = NULL;
    HASH_FIND_PTR(binaries, &handle, binary);
    return binary;
}

// Called with registry_lock held.
static void registry_forget_symbol(struct rt_symbol *symbol)
{
    if (symbol->by_device.tbl)
        HASH_DELETE(by_device, symbols_in_use, symbol);

    struct rt_symbol *first = NULL;
    HASH_FIND_PTR(symbols, &symbol->host, first);
    if (first != symbol) {
        while (first && first->same_host != symbol)
            first = first->same_host;
        if (first)
            first->same_host = symbol->same_host;
        return;
    }
    HASH_DEL(symbols, symbol);
    if (symbol->same_host)
        HASH_ADD_PTR(symbols, host, symbol->same_host);
}

void rt_registry_remove(void **handle)
{
    pthread_mutex_lock(&registry_lock);
    struct rt_binary *binary = registry_binary(handle);
    if (binary) {
        HASH_DEL(binaries, binary);
        for (struct rt_symbol *s = binary->symbols; s; s = s->next)
            registry_forget_symbol(s);
        atomic_fetch_add(&removals, 1);
    }
    pthread_mutex_unlock(&registry_lock);
    if (binary)
        rt_registry_release(binary);
}

struct rt_binary *rt_registry_hold(void **handle)
{
    pthread_mutex_lock(&registry_lock);
    struct rt_binary *binary = registry_binary(handle);
    if (binary)
        binary->references++;
    pthread_mutex_unlock(&registry_lock);
    return binary;
}

void rt_registry_release(struct rt_binary *binary)
{
    pthread_mutex_lock(&registry_lock);
    const bool last = --binary->references == 0;
    pthread_mutex_unlock(&registry_lock);
    if (!last)
        return;
    for (struct rt_symbol *s = binary->symbols, *next; s; s = next) {
        next = s->next;
        free(s);
    }
    pthread_mutex_destroy(&binary->loading);
    rt_binary_retire(binary);
}

struct rt_binary *rt_registry_next(struct rt_binary *previous)
{
    pthread_mutex_lock(&registry_lock);
    struct rt_binary *next = NULL;
    if (!previous)
        next = binaries;
    else if (registry_binary((void **)previous)) // else it was removed, and has no next one
        next = previous->hh.next;
    if (next)
        next->references++;
    pthread_mutex_unlock(&registry_lock);
    if (previous)
        rt_registry_release(previous);
    return next;
}

void rt_registry_symbol(void **handle, enum rt_symbol_kind kind, const void *host, const char *name,
                        size_t size)
{
    struct rt_symbol *symbol = calloc(1, sizeof *symbol);
    if (!symbol) {
        rt_registry_out_of_memory();
        return;
    }
    symbol->host = host;
    symbol->name = name;
    symbol->size = size;
    symbol->kind = kind;
    pthread_mutex_lock(&registry_lock);
    struct rt_binary *binary = registry_binary(handle);
    if (binary) {
        symbol->binary = binary;
        struct rt_symbol *first = NULL;
        HASH_FIND_PTR(symbols, &symbol->host, first);
        if (!first) {
            HASH_ADD_PTR(symbols, host, symbol);
        } else {
            while (first->same_host)
                first = first->same_host;
            first->same_host = symbol;
        }
        if (first || symbol->hh.tbl) {
            symbol->next = binary->symbols;
            binary->symbols = symbol;
            symbol = NULL;
        }
    }
    pthread_mutex_unlock(&registry_lock);
    free(symbol); // the handle is unknown, or out of memory
}

struct rt_symbol *rt_registry_find(const void *host)
{
    const unsigned slot = registry_slot(host);
    const uint64_t now = atomic_load_explicit(&removals, memory_order_acquire);
    if (remembered.removals != now) {
        remembered = (__typeof__(remembered)){.removals = now};
    } else if (remembered.slots[slot].host == host && host) {
        return remembered.slots[slot].symbol;
    }
    struct rt_symbol *symbol = NULL;
    pthread_mutex_lock(&registry_lock);
    HASH_FIND_PTR(symbols, &host, symbol);
    if (!symbol)
        HASH_FIND(by_device, symbols_in_use, &host, sizeof host, symbol);
    pthread_mutex_unlock(&registry_lock);
    if (!symbol || (symbol->host != host && symbol->kind != RT_MANAGED))
        return NULL;
    remembered.slots[slot].host = host;
    remembered.slots[slot].symbol = symbol;
    return symbol;
}

struct rt_symbol *rt_registry_find_device(const void *device)
{
    struct rt_symbol *symbol = NULL;
    pthread_mutex_lock(&registry_lock);
    HASH_FIND(by_device, symbols_in_use, &device, sizeof device, symbol);
    pthread_mutex_unlock(&registry_lock);
    return symbol;
}

void rt_registry_set_device(struct rt_symbol *symbol, void *device)
{
    pthread_mutex_lock(&registry_lock);
    if (!symbol->by_device.tbl) {
        symbol->device = device;
        // Two variables of one name may share their memory; the first one stands for both.
        struct rt_symbol *other = NULL;
        HASH_FIND(by_device, symbols_in_use, &device, sizeof device, other);
        if (!other)
            HASH_ADD_KEYPTR(by_device, symbols_in_use, &symbol->device, sizeof device, symbol);
    }
    pthread_mutex_unlock(&registry_lock);
}
