// SPDX-License-Identifier: MIT
// Functions of extensions of the simulated driver: swapchains, debug labels, vkQueueSubmit2, and
// SYNC_FD.
#pragma once
#include "fake_log.h"

extern unsigned images; // of all swapchains that can be acquired; a present adds one

// The function of an extension, or NULL.
PFN_vkVoidFunction extension_proc(const char *name);
