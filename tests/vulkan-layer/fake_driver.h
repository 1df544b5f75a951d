// SPDX-License-Identifier: MIT
// A simulated driver with two queues, which notes each call as a line of text. Its fences are
// signalled at once.
#pragma once
#include "fake_log.h"

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_instance_proc(VkInstance instance, const char *name);
VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_device_proc(VkDevice device, const char *name);
