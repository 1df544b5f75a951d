// SPDX-License-Identifier: MIT
// Colour formats of frames: the number of planes and channels, and the array formats that each
// samples come in.
#pragma once
#include <stdbool.h>

// Returns the number of planes of a colour format, or 0 if the format does not exist.
unsigned em_egl_color_planes(unsigned color);
// Whether a frame of one plane may have this number of channels. Frames of more planes may have
// any.
bool em_egl_color_has_channels(unsigned color, unsigned channels);
// Whether the samples may be of that CUarray_format.
bool em_egl_color_takes(unsigned color, unsigned format);
// Whether a consumer can acquire such a frame (recorded: egl_streams, group colors).
bool em_egl_color_can_be_acquired(unsigned color, unsigned format);
// Replaces a frame's colour and array format, as the producer gave them, by the ones that the
// driver reports to the consumer. Some of them differ.
void em_egl_color_as_reported(unsigned *color, unsigned *format);
