// SPDX-License-Identifier: MIT
// Checks fills as the card does, and runs them as commands.
#include "fill.h"

#include "call.h"
#include "command.h"
#include "fault.h"
#include "graphics.h"
#include "kn_fill.h"
#include "lock.h"
#include "memory_device.h"
#include "pkey.h"
#include "quirk.h"
#include "workers.h"
#include "stream.h"

struct fill_command {
    struct em_command command;
    struct em_fill fill;
    bool may_fault; // somebody else may take the bytes away meanwhile
    bool watched;   // somebody wants to know when it is done
};

static void fill_bytes(void *argument)
{
    const struct em_fill *f = argument;
    void *at = (void *)(uintptr_t)f->address;
    switch (f->value_B) {
    case 1:
        kn_fill8_rows(at, f->pitch_B, (uint8_t)f->value, f->width, f->height);
        break;
    case 2:
        kn_fill16_rows(at, f->pitch_B, (uint16_t)f->value, f->width, f->height);
        break;
    default:
        kn_fill32_rows(at, f->pitch_B, f->value, f->width, f->height);
    }
}

// Splits a large fill, parts[0], into rows, or into pages of the only one. Returns how many parts.
static unsigned split(struct em_fill parts[EM_PARTS_MAX])
{
    const struct em_fill all = *parts;
    uint64_t bytes = all.width * all.value_B * all.height;
    if (bytes < EM_SECOND_CORE_MIN_B)
        return 1;
    bool rows = all.height > 1;
    unsigned count = em_parts(bytes, rows ? all.height : all.width / 4096);
    for (unsigned i = 0; i < count && count > 1; i++) {
        uint64_t from, some;
        parts[i] = all;
        em_part(rows ? all.height : all.width, rows ? 1 : 4096, i, count, &from, &some);
        if (rows)
            parts[i].address += from * all.pitch_B, parts[i].height = some;
        else
            parts[i].address += from * all.value_B, parts[i].width = some;
    }
    return count;
}

static CUresult run_fill(struct em_command *command)
{
    struct fill_command *c = (struct fill_command *)command;
    struct em_fill parts[EM_PARTS_MAX];
    struct dm_fault fault;
    parts[0] = c->fill;
    unsigned count = split(parts);
    uint32_t rights = dm_pkey_enter();
    int r = em_second_core_run(c->may_fault ? dm_guarded_foreign : dm_guarded, fill_bytes, parts,
                               sizeof *parts, count, &fault);
    dm_pkey_leave(rights);
    return r ? em_device_fault("a fill", &fault, c->may_fault) : CUDA_SUCCESS;
}

// The bytes from the first to the last one of the fill. False: they pass 2^64.
static bool span(const struct em_fill *f, uint64_t *size)
{
    uint64_t rows_B, width_B;
    return em_mul(f->width, f->value_B, &width_B) && em_mul(f->height - 1, f->pitch_B, &rows_B) &&
           em_add(rows_B, width_B, size);
}

static void finish_fill(struct em_command *command)
{
    const struct fill_command *c = (const struct fill_command *)command;
    uint64_t size;
    if (c->watched && span(&c->fill, &size))
        em_memory_written(c->fill.address, size, command->result);
}

static const struct em_command_ops fill_ops = {
    .name = "memset", .run = run_fill, .finish = finish_fill};

// The driver computes the end of the last row modulo 2^64 and checks nothing but that: such a fill
// succeeds if this end is in the memory. What it writes outside of that memory is not imitated:
// here only the first row is written.
static bool wraps_into(struct em_fill *f, const struct em_allocation *a)
{
    uint64_t width_B;
    if (!em_quirk(MEMSET_PITCH_WRAPS) || f->height < 2 || !em_mul(f->width, f->value_B, &width_B) ||
        width_B > a->size)
        return false;
    uint64_t end = f->address + (f->height - 1) * f->pitch_B + width_B;
    if (end < a->base || end - a->base > a->size)
        return false;
    f->height = 1;
    return true;
}

// Precondition: em_lock held.
static CUresult check_memory(struct fill_command *c, struct em_context *context)
{
    struct em_fill *f = &c->fill;
    struct em_allocation *a = em_memory_find(f->address, 0);
    uint64_t size;
    if (!span(f, &size)) {
        if (!a || !wraps_into(f, a) || !span(f, &size))
            return em_fail(
                CUDA_ERROR_INVALID_VALUE,
                "%llu rows of %llu values, %llu bytes apart, pass the end of all addresses",
                (unsigned long long)f->height, (unsigned long long)f->width,
                (unsigned long long)f->pitch_B);
    }
    struct em_reach reach;
    CUresult r = em_memory_reach(context, f->address, size, CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
                                 "dstDevice", CUDA_ERROR_INVALID_VALUE, &reach);
    if (r)
        return r;
    c->may_fault = reach.may_fault;
    c->watched = reach.first->watch != NULL;
    em_memory_touch(reach.first, f->address, size,
                    size == f->width * f->value_B * f->height ? EM_TOUCH_WRITE
                                                              : EM_TOUCH_WRITE_SOME);
    return CUDA_SUCCESS;
}

static CUresult check_shape(const struct em_fill *f)
{
    uint64_t width_B;
    // "dstDevice … must be aligned", to the size of a value; a pitch that is not used does not
    // matter.
    if (f->address % f->value_B)
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "dstDevice %#llx is not aligned to the %u bytes of a value",
                       (unsigned long long)f->address, f->value_B);
    if (f->height < 2)
        return CUDA_SUCCESS;
    if (f->pitch_B % f->value_B)
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "dstPitch %llu is not a multiple of the %u bytes of a value",
                       (unsigned long long)f->pitch_B, f->value_B);
    if (!em_mul(f->width, f->value_B, &width_B) || f->pitch_B < width_B)
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "dstPitch %llu is less than the %llu bytes of a row",
                       (unsigned long long)f->pitch_B, (unsigned long long)f->width * f->value_B);
    return CUDA_SUCCESS;
}

CUresult em_memory_fill(const struct em_fill *fill, struct em_stream *stream, int how)
{
    struct fill_command c = {.command = {.ops = &fill_ops, .size_B = sizeof c}, .fill = *fill};
    // Nothing to fill: then no address is looked at.
    if (!fill->width || !fill->height)
        return CUDA_SUCCESS;
    CUresult r = check_shape(fill);
    if (r)
        return r;
    em_lock();
    r = check_memory(&c, stream->object.context);
    bool waits = c.watched && em_stream_must_wait(stream);
    em_unlock();
    if (__builtin_expect(c.watched, 0))
        em_graphics_bring(waits);
    if (!r)
        r = em_submit(stream, &c.command, how);
    return r;
}
