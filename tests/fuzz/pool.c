// SPDX-License-Identifier: MIT
// Fuzzes memory pools: their properties, attributes, access, the current pools of locations, and
// pools and pointers that are exported and imported again. A model predicts each result and number,
// and keeps one word of each allocation, which imported pointers share. Calls about multicast
// objects, which the simulated device does not have, should be refused.
#include "pool_model.h"

// ---- pools

struct pool *pl_any_pool(struct fuzz_input *in, struct model *m)
{
    struct pool *p = &m->pools[fuzz_below(in, POOLS)];
    return p->handle ? p : NULL;
}

struct pool *pl_pool_made(struct model *m, unsigned made)
{
    for (unsigned i = 0; made && i < POOLS; i++) {
        if (m->pools[i].handle && m->pools[i].made == made)
            return &m->pools[i];
    }
    return NULL;
}

static void free_one(struct model *m, struct allocation *a, bool later);

// "If any pointers obtained from this pool haven't been freed … the function will return
// immediately", but the driver does not destroy an imported pool then (recorded: pool_imports).
void pl_free_imports(struct model *m, const struct pool *p)
{
    bool refused = false;
    if (!p->imported || !fuzz_is_driver_580())
        return;
    for (unsigned i = 0; i < ALLOCATIONS; i++) {
        struct allocation *a = &m->allocations[i];
        if (!a->address || !a->imported || a->pool != p->made)
            continue;
        if (!refused)
            FUZZ_CHECK(cuMemPoolDestroy(p->handle) == CUDA_ERROR_INVALID_VALUE,
                       "an imported pool was destroyed before its pointers");
        refused = true;
        free_one(m, a, false);
    }
}

void pl_destroy(struct model *m, struct pool *p)
{
    if (!p->handle)
        return;
    pl_free_imports(m, p);
    FUZZ_OK(cuMemPoolDestroy(p->handle)); // its allocations stay
    FUZZ_CHECK(cuMemPoolDestroy(p->handle) == CUDA_ERROR_INVALID_VALUE, "destroyed twice");
    // "Destroying the current mempool of a device sets the default mempool … as the current".
    for (unsigned i = 0; i < PLACES; i++) {
        if (m->current[i] == p->made)
            m->current[i] = 0;
    }
    memset(p, 0, sizeof *p);
}

static void any_props(struct fuzz_input *in, CUmemPoolProps *p)
{
    static const size_t sizes[] = {1, 1000, BLOCK_B, BLOCK_B + 1, 3 * (size_t)BLOCK_B};
    static const unsigned types[] = {0, 1, 1, 1, 8, 9, 2, 4, 0x40};
    p->allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    p->location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    p->handleTypes = (CUmemAllocationHandleType)types[fuzz_below(in, fuzz_chance(in, 4) ? 9 : 4)];
    if (fuzz_chance(in, 3))
        p->location.type = (CUmemLocationType)(2 + fuzz_below(in, 2));
    if (fuzz_chance(in, 3))
        p->maxSize = sizes[fuzz_below(in, FUZZ_COUNT(sizes))];
    if (fuzz_chance(in, 8))
        p->allocType = CU_MEM_ALLOCATION_TYPE_MANAGED;
    if (!fuzz_chance(in, 4))
        return;
    switch (fuzz_below(in, 6)) {
    case 0:
        p->allocType = (CUmemAllocationType)fuzz_take(in, fuzz_chance(in, 4) ? 4 : 1);
        break;
    case 1:
        p->location.type = (CUmemLocationType)(fuzz_take(in, 1) % 8);
        break;
    case 2:
        p->location.id = (int)fuzz_below(in, 4) - 1;
        break;
    case 3:
        p->maxSize = fuzz_size(in, UINT64_C(1) << 47);
        break;
    case 4:
        p->usage = (unsigned short)fuzz_take(in, 2);
        break;
    default:
        p->reserved[fuzz_below(in, sizeof p->reserved)] = (unsigned char)fuzz_take(in, 1);
    }
}

static void create(struct fuzz_input *in, struct model *m)
{
    struct pool *p = &m->pools[fuzz_below(in, POOLS)];
    CUmemPoolProps props;
    CUmemoryPool handle = NULL;
    memset(&props, 0, sizeof props);
    any_props(in, &props);
    const CUresult r = cuMemPoolCreate(&handle, &props), expected = pl_judge_props(&props);
    FUZZ_CHECK(pl_is_expected(r, expected) && !r == (handle != NULL),
               "type %d, handles %#x, location %d.%d, at most %zu B, usage %d: %d, expected %d",
               (int)props.allocType, (unsigned)props.handleTypes, (int)props.location.type,
               props.location.id, props.maxSize, props.usage, (int)r, (int)expected);
    if (r)
        return;
    pl_destroy(m, p);
    *p = (struct pool){.handle = handle,
                       .made = ++m->made,
                       .props = props,
                       .place = pl_place_of(&props.location),
                       .reuse = {1, 1, 1}};
}

// ---- attributes

// Recorded: pool/set-attr-*, random_states pools. Numbers 1 to 3 are flags; 4 is the threshold; of
// the four numbers of bytes only the high ones can be set, to 0.
static void set_attribute(struct fuzz_input *in, struct model *m)
{
    struct pool *p = pl_any_pool(in, m);
    const unsigned attr = fuzz_below(in, 11);
    cuuint64_t value = fuzz_chance(in, 2) ? 0 : fuzz_take(in, fuzz_chance(in, 4) ? 8 : 1);
    if (!p)
        return;
    bool valid = !p->imported && attr >= 1 && attr <= 8;
    if (attr == CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT || attr == CU_MEMPOOL_ATTR_USED_MEM_CURRENT ||
        (attr > CU_MEMPOOL_ATTR_RELEASE_THRESHOLD && value))
        valid = false;
    FUZZ_OK(cuStreamSynchronize(m->stream));
    const CUresult r = cuMemPoolSetAttribute(p->handle, (CUmemPool_attribute)attr, &value);
    FUZZ_CHECK(r == (valid ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE),
               "setting attribute %u to %llu: %d", attr, (unsigned long long)value, (int)r);
    if (r)
        return;
    if (attr < CU_MEMPOOL_ATTR_RELEASE_THRESHOLD)
        p->reuse[attr - 1] = (int)value != 0;
    else if (attr == CU_MEMPOOL_ATTR_RELEASE_THRESHOLD)
        p->threshold = value;
    else if (attr == CU_MEMPOOL_ATTR_USED_MEM_HIGH)
        p->used_high_B = p->used_B;
}

static cuuint64_t attribute(const struct pool *p, unsigned attr)
{
    cuuint64_t value = 0;
    FUZZ_OK(cuMemPoolGetAttribute(p->handle, (CUmemPool_attribute)attr, &value));
    return value;
}

static void check_attributes(struct model *m, const struct pool *p)
{
    FUZZ_OK(cuStreamSynchronize(m->stream));
    for (unsigned attr = 0; attr <= 10; attr++) {
        cuuint64_t value = 0;
        const bool valid = !p->imported && attr >= 1 && attr <= 8;
        const CUresult r = cuMemPoolGetAttribute(p->handle, (CUmemPool_attribute)attr, &value);
        FUZZ_CHECK(r == (valid ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE), "attribute %u: %d", attr,
                   (int)r);
        if (!valid)
            FUZZ_CHECK(!value, "a refused call wrote attribute %u", attr);
    }
    if (p->imported)
        return;
    for (unsigned i = 0; i < 3; i++)
        FUZZ_CHECK(attribute(p, 1 + i) == (cuuint64_t)p->reuse[i], "attribute %u", 1 + i);
    const cuuint64_t threshold = attribute(p, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD);
    const cuuint64_t used_B = attribute(p, CU_MEMPOOL_ATTR_USED_MEM_CURRENT);
    const cuuint64_t high_B = attribute(p, CU_MEMPOOL_ATTR_USED_MEM_HIGH);
    const cuuint64_t reserved_B = attribute(p, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT);
    FUZZ_CHECK(threshold == p->threshold, "the threshold is %llu, expected %llu",
               (unsigned long long)threshold, (unsigned long long)p->threshold);
    FUZZ_CHECK(used_B == p->used_B && high_B == p->used_high_B,
               "%llu B are used, at most %llu; expected %llu, %llu", (unsigned long long)used_B,
               (unsigned long long)high_B, (unsigned long long)p->used_B,
               (unsigned long long)p->used_high_B);
    FUZZ_CHECK(reserved_B >= used_B && reserved_B % BLOCK_B == 0 && reserved_B <= pl_capacity_B(p),
               "%llu B are reserved, and %llu used", (unsigned long long)reserved_B,
               (unsigned long long)used_B);
}

// ---- access

static void set_access(struct fuzz_input *in, struct model *m)
{
    const struct pool *p = pl_any_pool(in, m);
    CUmemAccessDesc d = {.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE},
                         .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUmemLocation here = {.type = CU_MEM_LOCATION_TYPE_DEVICE};
    CUmemAccess_flags got = (CUmemAccess_flags)9;
    if (!p || p->props.allocType == CU_MEM_ALLOCATION_TYPE_MANAGED)
        return;
    if (fuzz_chance(in, 2))
        d.flags = (CUmemAccess_flags)((int)fuzz_below(in, 6) - 1);
    if (fuzz_chance(in, 3))
        d.location.type = (CUmemLocationType)fuzz_below(in, 6);
    if (fuzz_chance(in, 3))
        d.location.id = (int)fuzz_below(in, 4) - 1;
    const CUresult r = cuMemPoolSetAccess(p->handle, &d, 1), expected = pl_judge_access(p, &d);
    FUZZ_CHECK(pl_is_expected(r, expected),
               "access %d to place %d for location %d.%d: %d, expected %d", (int)d.flags,
               (int)p->place, (int)d.location.type, d.location.id, (int)r, (int)expected);
    FUZZ_CHECK(cuMemPoolSetAccess(p->handle, NULL, 1) == CUDA_ERROR_INVALID_VALUE &&
                   !cuMemPoolSetAccess(p->handle, &d, 0),
               "an empty list");
    if (!r && d.location.type == CU_MEM_LOCATION_TYPE_DEVICE) {
        FUZZ_OK(cuMemPoolGetAccess(&got, p->handle, &d.location));
        FUZZ_CHECK(got == d.flags, "access is %d, expected %d", (int)got, (int)d.flags);
    }
    if (p->place == DEVICE) {
        FUZZ_OK(cuMemPoolGetAccess(&got, p->handle, &here));
        FUZZ_CHECK(got == CU_MEM_ACCESS_FLAGS_PROT_READWRITE, "the device's access is %d",
                   (int)got);
    }
    here.type = CU_MEM_LOCATION_TYPE_HOST;
    FUZZ_OK(cuMemPoolGetAccess(&got, p->handle, &here));
    FUZZ_CHECK(!got == (p->place == DEVICE), "the host's access is %d", (int)got);
    here.type = (CUmemLocationType)fuzz_below(in, 6);
    here.id = (int)fuzz_below(in, 3) - 1;
    const bool known = here.type == CU_MEM_LOCATION_TYPE_HOST ||
                       here.type == CU_MEM_LOCATION_TYPE_HOST_NUMA ||
                       (here.type == CU_MEM_LOCATION_TYPE_DEVICE && !here.id);
    const CUresult q = cuMemPoolGetAccess(&got, p->handle, &here);
    FUZZ_CHECK(q == (known ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE), "access of %d.%d: %d",
               (int)here.type, here.id, (int)q);
}

// ---- current pools

static CUresult get_current(enum place place, CUmemoryPool *standard, CUmemoryPool *current)
{
    static const CUmemLocationType types[] = {
        CU_MEM_LOCATION_TYPE_DEVICE, CU_MEM_LOCATION_TYPE_HOST, CU_MEM_LOCATION_TYPE_HOST_NUMA};
    CUmemLocation l = {.type = types[place]};
    const CUresult r = cuMemGetDefaultMemPool(standard, &l, CU_MEM_ALLOCATION_TYPE_PINNED);
    return r ? r : cuMemGetMemPool(current, &l, CU_MEM_ALLOCATION_TYPE_PINNED);
}

static void check_current(struct model *m, enum place place)
{
    CUmemoryPool standard, current;
    FUZZ_OK(get_current(place, &standard, &current));
    const struct pool *p = pl_pool_made(m, m->current[place]);
    FUZZ_CHECK(current == (p ? p->handle : standard), "the current pool of place %d", (int)place);
    FUZZ_CHECK(cuMemPoolDestroy(standard) == CUDA_ERROR_INVALID_VALUE,
               "a default pool was destroyed");
}

// Chooses a pool for a location, which must be its own.
static void choose(struct fuzz_input *in, struct model *m)
{
    const struct pool *p = pl_any_pool(in, m);
    CUmemLocation l = {.type = (CUmemLocationType)(1 + fuzz_below(in, 3))};
    CUmemAllocationType type = CU_MEM_ALLOCATION_TYPE_PINNED;
    if (fuzz_chance(in, 8))
        l.type = (CUmemLocationType)fuzz_below(in, 6);
    if (fuzz_chance(in, 8))
        l.id = (int)fuzz_below(in, 3) - 1;
    if (fuzz_chance(in, 8))
        type = (CUmemAllocationType)(fuzz_below(in, 2) * 3);
    const enum place place = pl_place_of(&l);
    if (!p || p->props.allocType == CU_MEM_ALLOCATION_TYPE_MANAGED)
        return;
    const bool valid = place == p->place && !p->imported && type == CU_MEM_ALLOCATION_TYPE_PINNED;
    const bool no_pools = l.type > CU_MEM_LOCATION_TYPE_HOST_NUMA;
    const CUresult r = cuMemSetMemPool(&l, type, p->handle);
    const CUresult expected = valid      ? CUDA_SUCCESS
                              : no_pools ? CUDA_ERROR_NOT_SUPPORTED
                                         : CUDA_ERROR_INVALID_VALUE;
    FUZZ_CHECK(r == expected, "pool of place %d for location %d.%d, type %d: %d, expected %d",
               (int)p->place, (int)l.type, l.id, (int)type, (int)r, (int)expected);
    if (!r)
        m->current[place] = p->made;
    check_current(m, (enum place)fuzz_below(in, PLACES));
}

// ---- allocations

void pl_write_word(struct model *m, const struct allocation *a, uint32_t value)
{
    if (a->size_B < sizeof value)
        return;
    FUZZ_OK(cuMemsetD32Async(a->address, value, 1, m->stream));
    m->words[a->word] = value;
}

void pl_check_word(struct model *m, const struct allocation *a)
{
    uint32_t got = 0;
    if (!a->address || a->size_B < sizeof got)
        return;
    FUZZ_OK(cuStreamSynchronize(m->stream));
    FUZZ_OK(cuMemcpyDtoH(&got, a->address, sizeof got));
    FUZZ_CHECK(got == m->words[a->word], "a word is %#x, expected %#x", got, m->words[a->word]);
}

// Allocates from a pool, or from the current one of the device.
static void allocate(struct fuzz_input *in, struct model *m)
{
    struct allocation *a = &m->allocations[fuzz_below(in, ALLOCATIONS)];
    const bool direct = fuzz_below(in, 3);
    struct pool *p = direct ? pl_any_pool(in, m) : pl_pool_made(m, m->current[DEVICE]);
    uint64_t size_B = 1 + fuzz_below(in, SMALL_MOST_B);
    CUdeviceptr address = 77;
    if (a->address || (direct && !p))
        return;
    if (fuzz_chance(in, 8))
        size_B = fuzz_chance(in, 2) ? 0 : fuzz_size(in, UINT64_C(1) << 40);
    // Whether a large one fits beside others is not predicted.
    if (p && size_B > SMALL_MOST_B && size_B <= pl_capacity_B(p))
        return;
    if (!p && size_B > SMALL_MOST_B && size_B <= UINT64_C(1) << 37)
        return;
    CUresult expected = size_B > SMALL_MOST_B ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
    if (p && p->imported)
        expected = CUDA_ERROR_INVALID_VALUE;
    // Memory that the device has no access to is allocated, but it would fault.
    const CUresult r = direct ? cuMemAllocFromPoolAsync(&address, size_B, p->handle, m->stream)
                              : cuMemAllocAsync(&address, size_B, m->stream);
    FUZZ_CHECK(r == expected && (r || !size_B ? !address : address != 77),
               "%llu B of a pool, direct %d: %d, expected %d, address %#llx",
               (unsigned long long)size_B, direct, (int)r, (int)expected,
               (unsigned long long)address);
    if (r || !size_B)
        return;
    *a = (struct allocation){
        .address = address, .size_B = size_B, .pool = p ? p->made : 0, .word = m->word_count++};
    if (!p)
        return;
    p->used_B += size_B;
    if (p->used_B > p->used_high_B)
        p->used_high_B = p->used_B;
}

bool pl_is_reachable(struct model *m, const struct allocation *a)
{
    const struct pool *p = pl_pool_made(m, a->pool);
    CUmemLocation here = {.type = CU_MEM_LOCATION_TYPE_DEVICE};
    CUmemAccess_flags flags = CU_MEM_ACCESS_FLAGS_PROT_NONE;
    if (!a->address || (p && p->place != DEVICE))
        return false; // the device may have lost its access, or never had it
    return !p || (!cuMemPoolGetAccess(&flags, p->handle, &here) && flags);
}

static void free_one(struct model *m, struct allocation *a, bool later)
{
    struct pool *p = pl_pool_made(m, a->pool);
    if (!a->address || (a->shared_by && !a->imported))
        return; // "must be freed in the importing process first"
    // "This API will not perform any implicit synchronization" with memory of a pool.
    if (!later)
        FUZZ_OK(cuStreamSynchronize(m->stream));
    FUZZ_OK(later ? cuMemFreeAsync(a->address, m->stream) : cuMemFree(a->address));
    FUZZ_OK(cuStreamSynchronize(m->stream));
    FUZZ_CHECK(cuMemFreeAsync(a->address, m->stream) == CUDA_ERROR_INVALID_VALUE, "freed twice");
    if (p && !a->imported)
        p->used_B -= a->size_B;
    for (unsigned i = 0; a->imported && i < ALLOCATIONS; i++)
        m->allocations[i].shared_by -=
            m->allocations[i].shared_by && m->allocations[i].word == a->word;
    memset(a, 0, sizeof *a);
}

// ---- one input ----

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    fuzz_start();
    return 0;
}

static void step(struct fuzz_input *in, struct model *m)
{
    struct allocation *a = &m->allocations[fuzz_below(in, ALLOCATIONS)];
    struct pool *p = &m->pools[fuzz_below(in, POOLS)];
    switch (fuzz_below(in, 16)) {
    case 0:
    case 1:
        create(in, m);
        break;
    case 2:
        pl_destroy(m, p);
        break;
    case 3:
        set_attribute(in, m);
        break;
    case 4:
        if (p->handle)
            check_attributes(m, p);
        break;
    case 5:
        set_access(in, m);
        break;
    case 6:
        choose(in, m);
        break;
    case 7:
    case 8:
        allocate(in, m);
        break;
    case 9:
        free_one(m, a, fuzz_below(in, 2));
        break;
    case 10:
        if (pl_is_reachable(m, a))
            pl_write_word(m, a, (uint32_t)fuzz_take(in, 4));
        break;
    case 11:
        if (pl_is_reachable(m, a) && m->words[a->word])
            pl_check_word(m, a);
        break;
    case 12:
        pl_share(in, m);
        break;
    case 13:
        pl_export_pointer(in, m);
        break;
    case 14:
        pl_import_pointer(in, m);
        break;
    default:
        if (fuzz_below(in, 2))
            pl_multicast(in);
        else
            pl_import_wrong(in);
        if (p->handle && !p->imported)
            FUZZ_OK(cuMemPoolTrimTo(p->handle, fuzz_take(in, 4)));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input in = {data, data + size};
    static struct model m;
    memset(&m, 0, sizeof m);
    CUcontext context = fuzz_context();
    FUZZ_OK(cuStreamCreate(&m.stream, CU_STREAM_NON_BLOCKING));
    for (unsigned i = 0; i < STEPS && fuzz_more(&in); i++)
        step(&in, &m);
    for (unsigned i = 0; i < POOLS; i++) {
        if (m.pools[i].handle)
            check_attributes(&m, &m.pools[i]);
    }
    for (unsigned imports = 2; imports-- > 0;) { // imported pointers first
        for (unsigned i = 0; i < ALLOCATIONS; i++) {
            if (m.allocations[i].imported == (imports == 1))
                free_one(&m, &m.allocations[i], true);
        }
    }
    for (unsigned i = 0; i < POOLS; i++)
        pl_destroy(&m, &m.pools[i]);
    for (unsigned i = 0; i < PLACES; i++)
        check_current(&m, (enum place)i);
    FUZZ_OK(cuStreamDestroy(m.stream));
    FUZZ_OK(cuCtxDestroy(context));
    return 0;
}
