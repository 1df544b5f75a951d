// SPDX-License-Identifier: MIT
// The devices that a program's threads use without a choice of their own, in their order.
#pragma once

// The device at `index` of the list of cudaSetValidDevices, else of all devices. -1 after the last.
int rt_valid_device(int index);
