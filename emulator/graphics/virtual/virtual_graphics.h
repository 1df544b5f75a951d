// SPDX-License-Identifier: MIT
// The virtual graphics API (cardless.h): objects, commands and their clock, and how they are
// registered with CUDA. Every function takes em_lock.
#pragma once
#include <cardless.h>
#include <cuda.h>
#include <stdint.h>

// Which half of the API a handle belongs to.
enum em_virtual_kind { EM_VIRTUAL_BUFFER_OBJECT, EM_VIRTUAL_TEXTURE_OBJECT };

CUresult em_virtual_buffer_create(uint64_t size, cardlessBuffer *out);
CUresult em_virtual_buffer_resize(cardlessBuffer buffer, uint64_t size);
CUresult em_virtual_texture_create(const cardlessTextureDesc *desc, cardlessTexture *out);
CUresult em_virtual_texture_resize(cardlessTexture texture, const cardlessTextureDesc *desc);
CUresult em_virtual_destroy(enum em_virtual_kind kind, uint64_t handle);

// How a command uses its bytes.
enum em_virtual_work { EM_VIRTUAL_WRITE, EM_VIRTUAL_FILL };

CUresult em_virtual_write_buffer(cardlessBuffer buffer, uint64_t offset, uint64_t size,
                                 enum em_virtual_work work, const void *bytes);
CUresult em_virtual_write_texture(cardlessTexture texture, unsigned level, const cardlessBox *box,
                                  enum em_virtual_work work, const void *texels);
CUresult em_virtual_copy_buffer(cardlessBuffer to, uint64_t to_offset, cardlessBuffer from,
                                uint64_t from_offset, uint64_t size);
CUresult em_virtual_copy_texture(cardlessTexture to, unsigned to_level,
                                 const cardlessBox *to_corner, cardlessTexture from,
                                 unsigned from_level, const cardlessBox *box);
CUresult em_virtual_read_buffer(cardlessBuffer buffer, uint64_t offset, uint64_t size, void *bytes);
CUresult em_virtual_read_texture(cardlessTexture texture, unsigned level, const cardlessBox *box,
                                 void *texels);
CUresult em_virtual_finish(void);
CUresult em_virtual_query(void);
void em_virtual_clock(uint64_t *issued, uint64_t *done);

// In the current context.
CUresult em_virtual_register(enum em_virtual_kind kind, uint64_t handle, unsigned flags,
                             CUgraphicsResource *out);
