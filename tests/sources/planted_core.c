// SPDX-License-Identifier: MIT
// For the self-test of rooms.py: `core` uses a function of `stream`, a room above it.
int planted_upper(void);
int planted_lower(void);
int planted_lower(void)
{
    return planted_upper();
}
