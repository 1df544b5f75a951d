// SPDX-License-Identifier: MIT
// Recognises images, and loads those that can run: tables of host functions, shared objects that
// contain such a table, and texts for whose kernels a table is registered.
#pragma once
#include <cuda.h>

#include "code.h"
#include "fat_binary.h"
#include "module.h"

struct em_device;

// Loads an image in memory, or a file. The caller owns one reference. Precondition: em_lock not
// held, because a shared object is loaded with the dynamic loader.
CUresult em_image_load(const void *image, const struct em_load *load, struct em_image **out);
CUresult em_image_load_file(const char *path, const struct em_load *load, struct em_image **out);

// Reads a file, with zeros after it, which dm_free should free. Precondition: em_lock not held.
CUresult em_image_read_file(const char *path, struct em_bytes *out);

// The device that images are loaded for: the current context's, or the first one. NULL if there is
// no device.
const struct em_device *em_image_device(void);

// Precondition of em_image_ref and em_image_unref: em_lock held. An image without references is
// freed later, because the dynamic loader may be needed, which must not be called under em_lock.
void em_image_ref(struct em_image *image);
void em_image_unref(struct em_image *image);
// Frees the images that have lost their last reference. Precondition: em_lock NOT held.
void em_images_free(void);

// ---- needs no lock, because images never change ----

// Returns the index of a kernel or a variable, or -1.
int em_image_find_code(const struct em_image *image, const char *name);
int em_image_find_variable(const struct em_image *image, const char *name);
