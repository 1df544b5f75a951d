// SPDX-License-Identifier: MIT
// For the self-test of rooms.py: `stream` uses a function of `core`, which it may.
int planted_upper(void);
int planted_lower(void);
int planted_upper(void)
{
    return planted_lower();
}
