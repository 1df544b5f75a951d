// SPDX-License-Identifier: MIT
// Checks messages of the renderer, and maps the memory that they name. With -DPLANT=1 to 5 it has a
// mistake that programs of this kind have had; the fuzzer should find it.
#include "layer.h"

#include <string.h>
#include <unistd.h>

#ifndef PLANT
#define PLANT 0
#endif
enum {
    PLANT_WRONG_SIZE = 1,      // imports with the size that the message claims
    PLANT_OFF_BY_ONE = 2,      // allows one page more than there are
    PLANT_MISSING_DESTROY = 3, // does not close the memory if a message is not valid
    PLANT_USE_AFTER_UNMAP = 4, // keeps the pointer of a buffer that it has freed
    PLANT_OVERFLOW = 5,        // computes the size of an image's layers in 32 bits
};

// ---- messages ----

struct reader {
    const uint8_t *at, *end;
};

static bool take(struct reader *reader, unsigned bytes, unsigned *value)
{
    if ((size_t)(reader->end - reader->at) < bytes)
        return false;
    *value = 0;
    for (unsigned i = 0; i < bytes; i++)
        *value |= (unsigned)*reader->at++ << (8 * i);
    return true;
}

struct command {
    unsigned slot, what, first_page, pages, layers, blocks;
};

static bool take_command(struct reader *reader, struct command *command)
{
    return take(reader, 1, &command->slot) && take(reader, 1, &command->what) &&
           take(reader, 2, &command->first_page) && take(reader, 2, &command->pages) &&
           take(reader, 2, &command->layers) && take(reader, 2, &command->blocks);
}

// ---- checks ----

static bool pages_fit(const struct layer *layer, const struct command *command)
{
    uint64_t have = layer->allocation_B / LAYER_PAGE_B;
    if (PLANT == PLANT_OFF_BY_ONE)
        have++;
    return command->pages && command->first_page <= have &&
           command->pages <= have - command->first_page;
}

static unsigned rows(const struct command *command)
{
    return command->blocks * LAYER_BLOCK_ROWS;
}

static bool image_fits(const struct layer *layer, const struct command *command)
{
    const uint64_t layer_B = (uint64_t)rows(command) * LAYER_WIDTH * 4;
    if (!command->layers || command->layers > LAYER_LAYERS_MOST || !command->blocks ||
        rows(command) > LAYER_ROWS_MOST)
        return false;
    uint64_t size_B = layer_B * command->layers;
    if (PLANT == PLANT_OVERFLOW)
        size_B = (uint32_t)layer_B * command->layers;
    return pages_fit(layer, command) && size_B <= (uint64_t)command->pages * LAYER_PAGE_B;
}

// ---- mappings ----

static bool release(struct layer_slot *slot)
{
    CUresult r = CUDA_SUCCESS;
    if (slot->image)
        r = cuMipmappedArrayDestroy(slot->image);
    else if (slot->buffer)
        r = cuMemFree(slot->buffer);
    slot->image = NULL;
    if (PLANT != PLANT_USE_AFTER_UNMAP)
        slot->buffer = 0;
    return !r;
}

static bool map_buffer(struct layer *layer, struct layer_slot *slot, const struct command *command)
{
    if (!pages_fit(layer, command))
        return false;
    CUDA_EXTERNAL_MEMORY_BUFFER_DESC desc = {
        .offset = (uint64_t)command->first_page * LAYER_PAGE_B,
        .size = (uint64_t)command->pages * LAYER_PAGE_B,
    };
    slot->size_B = desc.size;
    return !cuExternalMemoryGetMappedBuffer(&slot->buffer, layer->memory, &desc);
}

static bool map_image(struct layer *layer, struct layer_slot *slot, const struct command *command)
{
    if (!image_fits(layer, command))
        return false;
    CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC desc = {
        .offset = (uint64_t)command->first_page * LAYER_PAGE_B,
        .arrayDesc = {.Width = LAYER_WIDTH,
                      .Height = rows(command),
                      .Depth = command->layers,
                      .Format = CU_AD_FORMAT_UNSIGNED_INT8,
                      .NumChannels = 4,
                      .Flags = CUDA_ARRAY3D_LAYERED},
        .numLevels = 1,
    };
    return !cuExternalMemoryGetMappedMipmappedArray(&slot->image, layer->memory, &desc);
}

static bool clear(const struct layer_slot *slot)
{
    static const unsigned char zeros[64];
    CUarray level;
    if (slot->buffer)
        return !cuMemsetD8(slot->buffer, 0, sizeof zeros);
    if (!slot->image)
        return true;
    if (cuMipmappedArrayGetLevel(&level, slot->image, 0))
        return false;
    CUDA_MEMCPY3D copy = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                          .srcHost = zeros,
                          .srcPitch = sizeof zeros,
                          .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                          .dstArray = level,
                          .WidthInBytes = sizeof zeros,
                          .Height = 1,
                          .Depth = 1};
    return !cuMemcpy3D(&copy);
}

// ---- the layer ----

static bool carry_out(struct layer *layer, const struct command *command)
{
    struct layer_slot *slot = &layer->slots[command->slot % LAYER_SLOTS];
    switch (command->what % LAYER_COMMANDS) {
    case LAYER_BUFFER:
        return release(slot) && map_buffer(layer, slot, command);
    case LAYER_IMAGE:
        if (!release(slot))
            return false;
        slot->buffer = 0;
        return map_image(layer, slot, command);
    case LAYER_RELEASE:
        return release(slot);
    default:
        return clear(slot);
    }
}

static bool open_memory(struct layer *layer, int fd, uint64_t claimed_B)
{
    CUDA_EXTERNAL_MEMORY_HANDLE_DESC desc = {
        .type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD,
        .handle.fd = fd,
        .size = PLANT == PLANT_WRONG_SIZE ? claimed_B : layer->allocation_B,
    };
    // "ownership of the file descriptor is transferred to the CUDA driver" if the call succeeds.
    if (!cuImportExternalMemory(&layer->memory, &desc))
        return true;
    close(fd);
    layer->memory = NULL;
    return false;
}

bool layer_receive(struct layer *layer, int fd, uint64_t allocation_B, const uint8_t *message,
                   size_t size)
{
    struct reader reader = {message, message + size};
    struct command command;
    unsigned pages;
    bool good = true;
    memset(layer, 0, sizeof *layer);
    layer->allocation_B = allocation_B;
    if (!take(&reader, 2, &pages) || !pages) {
        close(fd);
        return false;
    }
    if (!open_memory(layer, fd, (uint64_t)pages * LAYER_PAGE_B))
        return false;
    while (good && take_command(&reader, &command))
        good = carry_out(layer, &command);
    if (good)
        return true;
    if (PLANT == PLANT_MISSING_DESTROY)
        return false;
    layer_close(layer);
    return false;
}

void layer_close(struct layer *layer)
{
    for (unsigned i = 0; i < LAYER_SLOTS; i++) {
        release(&layer->slots[i]);
        layer->slots[i].buffer = 0;
    }
    if (layer->memory)
        cuDestroyExternalMemory(layer->memory);
    layer->memory = NULL;
}
