// SPDX-License-Identifier: MIT
// Fuzzes batches: stream memory operations on words, batches of copies, and memory of pools that
// the copies use. A model follows the manual's rules, predicts each result, and keeps every byte.
#include "fuzz.h"

enum { RANGES = 6, RANGE_B = 1024, BATCH = 6, STEPS = 32, WORDS = RANGE_B / 8 };

struct range {
    CUdeviceptr address; // or 0
    bool of_pool;
    uint8_t bytes[RANGE_B];
};

struct model {
    CUstream stream;
    CUmemoryPool pool; // or NULL
    struct range ranges[RANGES];
};

static struct range *any_range(struct fuzz_input *in, struct model *m)
{
    struct range *r = &m->ranges[fuzz_below(in, RANGES)];
    return r->address ? r : NULL;
}

// ---- memory ----

// "Reserved for future use, must be 0"; the location names the device; only pinned memory.
static void make_pool(struct fuzz_input *in, struct model *m)
{
    CUmemPoolProps p = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                        .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
    CUmemoryPool pool = NULL;
    bool valid = true;
    if (fuzz_chance(in, 8)) {
        p.allocType = (CUmemAllocationType)(3 + fuzz_take(in, 2));
        valid = false;
    }
    if (fuzz_chance(in, 8)) {
        p.location.id = 1000 + (int)fuzz_take(in, 2);
        valid = false;
    }
    if (fuzz_chance(in, 8)) {
        p.reserved[fuzz_below(in, 24)] = 1; // traces print the first 24 elements of a list
        valid = false;
    }
    if (fuzz_chance(in, 4))
        p.maxSize = (size_t)64 << 20;
    CUresult r = cuMemPoolCreate(&pool, &p);
    FUZZ_CHECK(!r == valid && !r == (pool != NULL), "type %d, device %d: %d", (int)p.allocType,
               p.location.id, (int)r);
    if (r)
        return;
    if (m->pool)
        FUZZ_OK(cuMemPoolDestroy(m->pool)); // its allocations stay
    m->pool = pool;
}

static void allocate(struct fuzz_input *in, struct model *m)
{
    struct range *r = &m->ranges[fuzz_below(in, RANGES)];
    if (r->address)
        return;
    r->of_pool = m->pool && !fuzz_chance(in, 3);
    if (r->of_pool)
        FUZZ_OK(cuMemAllocFromPoolAsync(&r->address, RANGE_B, m->pool, m->stream));
    else
        FUZZ_OK(cuMemAlloc(&r->address, RANGE_B));
    FUZZ_OK(cuMemsetD8Async(r->address, 0, RANGE_B, m->stream));
    memset(r->bytes, 0, RANGE_B);
}

static void free_range(struct range *r, struct model *m)
{
    if (r->of_pool)
        FUZZ_OK(cuMemFreeAsync(r->address, m->stream));
    else
        FUZZ_OK(cuMemFree(r->address));
    r->address = 0;
}

static void pool_attributes(struct fuzz_input *in, struct model *m)
{
    cuuint64_t used = 1, reserved = 0, keep = fuzz_take(in, 4);
    unsigned blocks = 0;
    if (!m->pool)
        return;
    FUZZ_OK(cuStreamSynchronize(m->stream));
    for (unsigned i = 0; i < RANGES; i++)
        blocks += m->ranges[i].address && m->ranges[i].of_pool;
    FUZZ_OK(cuMemPoolSetAttribute(m->pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &keep));
    FUZZ_OK(cuMemPoolGetAttribute(m->pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used));
    FUZZ_OK(cuMemPoolGetAttribute(m->pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &reserved));
    // Blocks may belong to an earlier pool, so this is a limit.
    FUZZ_CHECK(used % RANGE_B == 0 && used <= (cuuint64_t)blocks * RANGE_B && used <= reserved,
               "%llu bytes used of %llu, with %u blocks", (unsigned long long)used,
               (unsigned long long)reserved, blocks);
    FUZZ_OK(cuMemPoolTrimTo(m->pool, fuzz_take(in, 3)));
}

// ---- stream memory operations ----

// A condition that the word fulfils: others would stop the stream for ever.
static void add_wait(struct fuzz_input *in, CUstreamBatchMemOpParams *p, uint64_t now, bool wide)
{
    static const unsigned conditions[] = {CU_STREAM_WAIT_VALUE_GEQ, CU_STREAM_WAIT_VALUE_EQ,
                                          CU_STREAM_WAIT_VALUE_AND};
    p->waitValue.flags = conditions[fuzz_below(in, 3)];
    uint64_t value = now;
    if (p->waitValue.flags == CU_STREAM_WAIT_VALUE_GEQ) // "(int32_t)(*addr - value) >= 0"
        value = now - fuzz_take(in, 2);
    else if (p->waitValue.flags == CU_STREAM_WAIT_VALUE_AND && !now)
        p->waitValue.flags = CU_STREAM_WAIT_VALUE_EQ;
    p->waitValue.value64 = wide ? value : (uint32_t)value;
}

// One valid operation; `bytes` are those of the range after the operations before it.
static void add_operation(struct fuzz_input *in, struct range *r, uint8_t *bytes,
                          CUstreamBatchMemOpParams *p)
{
    unsigned word = fuzz_below(in, WORDS), kind = fuzz_below(in, 5);
    bool wide = kind % 2;
    unsigned size = wide ? 8 : 4;
    memset(p, 0, sizeof *p);
    if (kind == 4) {
        p->operation = CU_STREAM_MEM_OP_BARRIER;
        p->memoryBarrier.flags = fuzz_below(in, 2);
        return;
    }
    p->waitValue.address = r->address + word * 8;
    if (kind < 2) {
        p->operation = wide ? CU_STREAM_MEM_OP_WRITE_VALUE_64 : CU_STREAM_MEM_OP_WRITE_VALUE_32;
        p->writeValue.value64 = fuzz_take(in, size);
        memcpy(bytes + word * 8, &p->writeValue.value64, size);
        return;
    }
    uint64_t now = 0;
    memcpy(&now, bytes + word * 8, size);
    p->operation = wide ? CU_STREAM_MEM_OP_WAIT_VALUE_64 : CU_STREAM_MEM_OP_WAIT_VALUE_32;
    add_wait(in, p, now, wide);
}

// Makes the operation invalid.
static void damage(struct fuzz_input *in, CUstreamBatchMemOpParams *p)
{
    bool word = p->operation != CU_STREAM_MEM_OP_BARRIER;
    switch (word ? fuzz_below(in, 4) : 3) {
    case 0:
        p->waitValue.address += 1 + fuzz_below(in, 3);
        break;
    case 1:
        p->waitValue.address = 8 * (1 + fuzz_take(in, 1)); // no memory
        break;
    case 2:
        p->waitValue.flags = 0x100 | fuzz_below(in, 256);
        break;
    default:
        p->operation = (CUstreamBatchMemOpType)(100 + fuzz_take(in, 2));
    }
}

static void operate(struct fuzz_input *in, struct model *m)
{
    CUstreamBatchMemOpParams list[BATCH];
    uint8_t after[RANGE_B];
    struct range *r = any_range(in, m);
    unsigned count = fuzz_below(in, BATCH + 1), flags = 0;
    bool valid = true;
    if (!r)
        return;
    memcpy(after, r->bytes, RANGE_B);
    for (unsigned i = 0; i < count; i++)
        add_operation(in, r, after, &list[i]);
    if (count && fuzz_chance(in, 6)) {
        damage(in, &list[fuzz_below(in, count)]);
        valid = false;
    }
    if (fuzz_chance(in, 24)) {
        flags = 1 + fuzz_below(in, 200);
        valid = false;
    }
    CUresult got = cuStreamBatchMemOp(m->stream, count, list, flags);
    FUZZ_CHECK(!got == valid, "%u operations, flags %#x: %d", count, flags, (int)got);
    if (!got) // "all operations are checked before the first one is issued"
        memcpy(r->bytes, after, RANGE_B);
}

// ---- batches of copies ----

// Copies between ranges; each range is a target or sources, because a batch has no order.
static void copy_batch(struct fuzz_input *in, struct model *m)
{
    CUdeviceptr to[BATCH], from[BATCH];
    size_t sizes[BATCH], starts[BATCH];
    CUmemcpyAttributes attributes[BATCH];
    struct range *target = any_range(in, m), *source = any_range(in, m);
    unsigned count = 1 + fuzz_below(in, BATCH), groups = 1 + fuzz_below(in, 2);
    uint8_t after[RANGE_B];
    bool valid = true;
    if (!target || !source || target == source)
        return;
    memcpy(after, target->bytes, RANGE_B);
    memset(attributes, 0, sizeof attributes);
    for (unsigned i = 0; i < count; i++) { // parts of the target that do not overlap
        size_t part = RANGE_B / BATCH, offset = fuzz_below(in, RANGE_B / 2);
        sizes[i] = 1 + fuzz_below(in, (unsigned)part);
        to[i] = target->address + i * part;
        from[i] = source->address + offset;
        memcpy(after + i * part, source->bytes + offset, sizes[i]);
        starts[i] = i;
        attributes[i].srcAccessOrder = (CUmemcpySrcAccessOrder)(1 + fuzz_below(in, 3));
    }
    if (groups > count)
        groups = count;
    CUstream stream = m->stream;
    switch (fuzz_below(in, 16)) {
    case 0:
        sizes[count - 1] = 0; // the copies before it have been issued
        target = NULL;
        valid = false;
        break;
    case 1:
        starts[groups - 1] = groups == 1 ? 1 : 0;
        valid = false;
        break;
    case 2:
        attributes[groups - 1].srcAccessOrder = (CUmemcpySrcAccessOrder)(4 + fuzz_below(in, 9));
        valid = false;
        break;
    case 3:
        groups = count + 1 > BATCH ? 0 : count + 1;
        starts[count < BATCH ? count : 0] = count;
        valid = false;
        break;
    case 4:
        stream = NULL; // "hStream … must not be the legacy default stream"
        valid = false;
        break;
    default:
        break;
    }
    CUresult r = cuMemcpyBatchAsync(to, from, sizes, count, attributes, starts, groups, stream);
    FUZZ_CHECK(!r == valid, "%u copies, %u groups: %d", count, groups, (int)r);
    if (!r)
        memcpy(target->bytes, after, RANGE_B);
    if (target)
        return;
    for (unsigned i = 0; i < RANGES; i++) { // look at the copies that were made
        FUZZ_OK(cuStreamSynchronize(m->stream));
        if (m->ranges[i].address)
            FUZZ_OK(cuMemcpyDtoH(m->ranges[i].bytes, m->ranges[i].address, RANGE_B));
    }
}

// ---- one input ----

static void compare(const struct model *m)
{
    uint8_t got[RANGE_B];
    FUZZ_OK(cuStreamSynchronize(m->stream));
    for (unsigned i = 0; i < RANGES; i++) {
        const struct range *r = &m->ranges[i];
        if (!r->address)
            continue;
        FUZZ_OK(cuMemcpyDtoH(got, r->address, RANGE_B));
        for (unsigned k = 0; k < RANGE_B; k++)
            FUZZ_CHECK(got[k] == r->bytes[k], "range %u, byte %u: %#x, expected %#x", i, k, got[k],
                       r->bytes[k]);
    }
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    fuzz_start();
    return 0;
}

static void step(struct fuzz_input *in, struct model *m)
{
    struct range *r;
    switch (fuzz_below(in, 10)) {
    case 0:
        make_pool(in, m);
        break;
    case 1:
    case 2:
        allocate(in, m);
        break;
    case 3:
        r = any_range(in, m);
        if (r && fuzz_chance(in, 3))
            free_range(r, m);
        break;
    case 4:
        pool_attributes(in, m);
        break;
    case 5:
    case 6:
    case 7:
        operate(in, m);
        break;
    case 8:
        copy_batch(in, m);
        break;
    default:
        compare(m);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct model m;
    struct fuzz_input in = {data, data + size};
    memset(&m, 0, sizeof m);
    CUcontext context = fuzz_context();
    FUZZ_OK(cuStreamCreate(&m.stream, CU_STREAM_NON_BLOCKING));
    for (unsigned i = 0; i < 2; i++)
        allocate(&in, &m);
    for (unsigned i = 0; i < STEPS && fuzz_more(&in); i++)
        step(&in, &m);
    compare(&m);
    for (unsigned i = 0; i < RANGES; i++) {
        if (m.ranges[i].address)
            free_range(&m.ranges[i], &m);
    }
    FUZZ_OK(cuStreamSynchronize(m.stream));
    if (m.pool)
        FUZZ_OK(cuMemPoolDestroy(m.pool));
    FUZZ_OK(cuCtxDestroy(context));
    return 0;
}
