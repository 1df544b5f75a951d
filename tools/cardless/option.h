// SPDX-License-Identifier: MIT
// Values of options that several sub-commands take.
#pragma once
#include <stdbool.h>

// Whether it is a whole number, also in hexadecimal, as the driver reads it.
bool option_is_number(const char *value);
// Whether it is a value of --policy. Returns false after a message.
bool option_is_policy(const char *value);
