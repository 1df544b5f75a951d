// SPDX-License-Identifier: MIT
// cuMemFreeAsync: frees memory in stream order. The address becomes invalid at once. The memory
// stays until the stream reaches the free:
//
//   cuMemFreeAsync(p, stream)           p is unknown to all later calls; a pool counts less memory
//           │                           in use
//           ▼
//   earlier work of the stream          may still use the bytes
//           │
//           ▼
//   the stream reaches the free         the addresses and the memory can be allocated again
//
// The same holds for memory of cuMemAlloc and cuMemAllocManaged (recorded: x_memory
// pool/free-async-of-plain; x_runtime waiting/free-async: the call returns while the stream is
// held).
#include "pool.h"

#include "call.h"
#include "captured.h"
#include "command.h"
#include "lock.h"
#include "memory_device.h"
#include "order.h"
#include "pool_memory.h"
#include "stream.h"

struct free_command {
    struct em_command command;
    uint64_t address, size_B;
    // One of these two, or neither before the command has entered its stream.
    struct em_piece *piece;           // from a pool of this process
    struct em_allocation *allocation; // any other memory
};

// Makes the address invalid. If the memory belongs to a graph, its address stays, and launches can
// allocate it again.
static CUresult enter_free(struct em_command *command)
{
    em_assert_locked();
    struct free_command *f = (struct free_command *)command;
    struct em_allocation *a;
    CUresult r = em_memory_get_to_free(f->address, &a);
    if (r)
        return r;
    if (a->kind == EM_MEMORY_IMPORTED)
        return em_fail(
            CUDA_ERROR_NOT_SUPPORTED,
            "dptr %#llx is a mapped external buffer, which cannot be freed in stream order; "
            "use cuMemFree",
            (unsigned long long)f->address);
    f->size_B = a->size;
    f->piece = em_piece_ref(a);
    if (a->free_at) {
        r = a->free_at(a, f->address);
    } else if (f->piece) {
        em_memory_remove(a);
    } else {
        em_memory_leave(a);
        em_pool_forget_import(a);
        f->allocation = a;
    }
    return r; // on failure finish_free drops the piece
}

static CUresult run_free(struct em_command *command)
{
    (void)command;
    return CUDA_SUCCESS;
}

// Frees the memory, even if the stream's context is in an error state or ends.
static void finish_free(struct em_command *command)
{
    em_assert_locked();
    struct free_command *f = (struct free_command *)command;
    if (em_unlikely(em_order_on))
        em_order_access(command, f->address, f->size_B, EM_ORDER_FREE);
    if (f->piece)
        em_piece_unref(f->piece);
    if (f->allocation && em_unlikely(em_order_on))
        em_order_forget(f->address, f->size_B);
    if (f->allocation)
        f->allocation->release(f->allocation);
}

static const struct em_command_ops free_ops = {
    .name = "free", .enter = enter_free, .run = run_free, .finish = finish_free, .once = true};

CUresult em_pool_free_async(uint64_t address, struct em_stream *stream)
{
    if (em_stream_is_captured(stream))
        return em_capture->add(stream, &(CUgraphNodeParams){.type = CU_GRAPH_NODE_TYPE_MEM_FREE,
                                                            .free = {.dptr = address}});
    struct free_command f = {.address = address};
    em_command_init(&f.command, &free_ops, sizeof f);
    return em_submit(stream, &f.command, EM_SUBMIT_ASYNC);
}
