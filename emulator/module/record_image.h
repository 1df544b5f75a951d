// SPDX-License-Identifier: MIT
#pragma once

// Records the bytes of an image in the program's memory. To be called if em_recording_contents is
// set. Images of host functions are not recorded, because they mean nothing in another process.
void em_record_image(const void *image);
