// SPDX-License-Identifier: MIT
// Reads lines of JSON that hold one object whose values are strings and whole numbers.
#pragma once
#include <stdbool.h>

struct json_member {
    const char *key, *value; // a number is its digits
};

enum { JSON_MEMBERS_MOST = 32 };

// Splits a line in place. Returns how many members it has, or -1 if it is not such an object. Bytes
// that are not UTF-8 stay as they are.
int json_split(char *line, struct json_member members[JSON_MEMBERS_MOST]);
// The value of a key, or "".
const char *json_value(const struct json_member *members, int count, const char *key);
