// SPDX-License-Identifier: MIT
// Makes commands of copies and issues them.
#include "copy.h"

#include "array.h"
#include "call.h"
#include "captured.h"
#include "context.h"
#include "copy_command.h"
#include "error.h"
#include "in_place.h"
#include "lock.h"
#include "memory.h"
#include "quirk.h"
#include "stage.h"
#include "stream.h"
#include "synchronised.h"

// The size of the driver's staging memory for pageable memory (recorded: staged_copies).
enum { STAGED_MOST_B = 2 << 20 };

static const struct em_command_ops copy_ops = {.name = "memcpy", .run = em_copy_run};
// For large copies that are issued at once.
static const struct em_command_ops direct_copy_ops = {
    .name = "memcpy", .run = em_copy_run, .fetches = true};

static bool is_empty(const struct em_copy *c)
{
    return !c->width_B || !c->height || !c->depth;
}

void em_copy_init(struct em_copy_command *c)
{
    em_command_init(&c->command, &copy_ops, sizeof *c);
    c->command.accesses_at = offsetof(struct em_copy_command, access);
}

// Checks a copy that is not empty. On failure the command owns nothing. Precondition: em_lock held.
static CUresult prepare(const struct em_copy *copy, struct em_copy_command *c)
{
    em_assert_locked();
    em_copy_init(c);
    c->extent = (struct dm_box_extent){copy->width_B, copy->height, copy->depth};
    CUresult r = em_copy_check_end(copy, true, "destination", c);
    if (r)
        return r;
    r = em_copy_check_end(copy, false, "source", c);
    if (r && c->dst.storage)
        em_storage_unref(c->dst.storage);
    c->command.access_count = EM_COPY_ACCESSES;
    return r;
}

CUresult em_copy_prepare(const struct em_copy *copy, struct em_command **out)
{
    em_assert_locked();
    struct em_copy_command c;
    *out = NULL;
    if (is_empty(copy))
        return CUDA_SUCCESS;
    CUresult r = prepare(copy, &c);
    if (r)
        return r;
    r = em_command_clone(&c.command, out);
    em_command_release(&c.command);
    return r;
}

// "The function will return once the pageable buffer has been copied to the staging memory for DMA
// transfer to device memory, but the DMA to final destination may not have completed": an
// error of that part is returned by the next call.
bool em_copy_is_found_later(const struct em_copy_command *c, CUresult r)
{
    const struct dm_box_extent *e = &c->extent;
    return r == CUDA_ERROR_LAUNCH_FAILED && em_quirk(STAGED_COPY_FAILS_LATER) && c->src.pageable &&
           c->dst.storage && e->width_B * e->height * e->depth <= STAGED_MOST_B;
}

// The parameters of a memcpy node name the kind of memory, but an address of the program may be of
// any kind.
static CUmemorytype type_of(const struct em_end *end)
{
    switch (end->kind) {
    case EM_END_ARRAY:
        return CU_MEMORYTYPE_ARRAY;
    case EM_END_DEVICE:
        return CU_MEMORYTYPE_DEVICE;
    case EM_END_ANY:
        em_lock();
        bool known = em_memory_find(end->address, 0) != NULL;
        em_unlock();
        return known ? CU_MEMORYTYPE_UNIFIED : CU_MEMORYTYPE_HOST;
    default:
        return (CUmemorytype)end->type;
    }
}

static CUresult capture_copy(const struct em_copy *copy, struct em_stream *stream)
{
    const struct em_end *d = &copy->dst, *s = &copy->src;
    const CUDA_MEMCPY3D c = {
        .srcXInBytes = s->x_B,
        .srcY = s->y,
        .srcZ = s->z,
        .srcMemoryType = type_of(s),
        .srcHost = (const void *)(uintptr_t)s->address,
        .srcDevice = s->address,
        .srcArray = s->array,
        .srcPitch = s->pitch_B,
        .srcHeight = s->rows,
        .dstXInBytes = d->x_B,
        .dstY = d->y,
        .dstZ = d->z,
        .dstMemoryType = type_of(d),
        .dstHost = (void *)(uintptr_t)d->address,
        .dstDevice = d->address,
        .dstArray = d->array,
        .dstPitch = d->pitch_B,
        .dstHeight = d->rows,
        .WidthInBytes = copy->width_B,
        .Height = copy->height,
        .Depth = copy->depth,
    };
    const CUgraphNodeParams p = {
        .type = CU_GRAPH_NODE_TYPE_MEMCPY,
        .memcpy = {.copyCtx = em_context_handle(stream->object.context), .copyParams = c}};
    return em_capture->add(stream, &p);
}

// Whether the call returns only when the copy is done (manual, "API synchronization behavior").
bool em_copy_has_to_wait(const struct em_copy_command *c, bool async)
{
    const enum em_residence dst = c->dst.residence, src = c->src.residence;
    // "For transfers between device memory and pageable host memory, the function might be
    // synchronous with respect to host": the program may reuse that memory when the call returns.
    if (c->dst.pageable || c->src.pageable)
        return true;
    // "For transfers from any host memory to any host memory, the function is fully synchronous
    // with respect to the host."
    if (async)
        return dst == EM_ON_HOST && src == EM_ON_HOST;
    // "For transfers from device memory to device memory, no host-side synchronization is
    // performed." The host may look at managed memory when the call returns, so that waits.
    return dst != EM_ON_DEVICE || src != EM_ON_DEVICE;
}

static void waited(void)
{
    em_ordered();
    em_synchronised(EM_SYNC_COPY);
}

// Runs the copy and returns true, or leaves and returns false if it cannot be shared.
static __attribute__((noinline)) bool run_shared(struct em_share *share, const struct em_copy *copy,
                                                 struct em_stream *stream, bool async,
                                                 CUresult *result)
{
    struct em_copy_command c;
    if (!em_copy_check_row(copy, &c)) {
        em_share_leave(share);
        return false;
    }
    em_copy_init(&c);
    c.command.access_count = EM_COPY_ACCESSES;
    bool wait = em_copy_has_to_wait(&c, async);
    if (!em_issue_shared(share, stream, &c.command, wait ? EM_SUBMIT_SYNC : EM_SUBMIT_ASYNC,
                         result))
        return false;
    if (em_unlikely(*result) && em_copy_is_found_later(&c, *result))
        *result = CUDA_SUCCESS;
    if (wait || !async) // it has run
        waited();
    return true;
}

// Lets a copy that has to wait take its bytes along. Returns whether it does. *result: of a second
// check, because em_lock is released while the program's memory is read.
static __attribute__((noinline)) bool stage(const struct em_copy *copy, struct em_copy_command *c,
                                            CUresult *result)
{
    struct em_staged staged;
    if (!em_stage_reserve(c, &staged))
        return false;
    em_unlock();
    const bool filled = em_stage_fill(c, &staged);
    em_lock_again();
    em_command_release(&c->command);
    *result = prepare(copy, c);
    if (!*result && filled && em_stage_use(c, &staged))
        return true;
    em_stage_drop(&staged); // the copy itself reports a fault
    return false;
}

CUresult em_copy(const struct em_copy *copy, struct em_stream *stream, bool async)
{
    em_assert_unlocked();
    struct em_copy_command c;
    CUresult r;
    bool wait = !async, synchronous;
    if (is_empty(copy))
        return CUDA_SUCCESS;
    if (em_stream_is_captured(stream))
        return capture_copy(copy, stream);
    struct em_share *share = em_share_or_lock_briefly();
    if (em_unlikely(share)) {
        if (run_shared(share, copy, stream, async, &r))
            return r;
        em_lock();
    } else if (em_likely(em_copy_in_place(copy, stream, async, &synchronous, &r))) {
        if (!async || synchronous)
            waited();
        return r;
    }
    em_cancel_off();
    r = prepare(copy, &c);
    if (!r) {
        wait = em_copy_has_to_wait(&c, async);
        if (em_unlikely(wait && async && em_stream_must_wait(stream)))
            wait = !stage(copy, &c, &r);
    }
    if (!r) {
        if (c.command.ops == &copy_ops && em_copy_may_be_direct(&c))
            c.command.ops = &direct_copy_ops;
        const int how = wait ? EM_SUBMIT_SYNC : EM_SUBMIT_ASYNC;
        // A copy that nothing holds up is done too when the call returns.
        wait |= !async && !em_stream_must_wait(stream);
        r = em_issue(stream, &c.command, how);
        if (em_unlikely(r) && em_copy_is_found_later(&c, r))
            r = CUDA_SUCCESS;
    }
    em_offer_sharing(stream);
    em_unlock();
    if (wait)
        waited();
    return r;
}
