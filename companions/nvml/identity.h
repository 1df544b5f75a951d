// SPDX-License-Identifier: MIT
// What identifies a card: its UUID and its address on the PCI bus.
#pragma once
#include "ml.h"

enum { ML_UUID_TEXT_SIZE = 41 };

// "GPU-xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx".
nvmlReturn_t ml_uuid_text(int card, char out[ML_UUID_TEXT_SIZE]);

struct ml_bus_id {
    unsigned domain, bus, device;
};
nvmlReturn_t ml_bus_id(int card, struct ml_bus_id *out);
