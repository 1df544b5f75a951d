// SPDX-License-Identifier: MIT
// Conditions. A command waits for one if it depends on something other than the commands before it,
// such as the record of an event or a graphics resource that is still mapped elsewhere.
//
// A command whose turn has come, but whose `ready` operation returns false, is parked on its
// condition. Whoever changes the state that `ready` looks at notifies the condition, and only the
// commands that are parked there are asked again.
#pragma once
#include "context_work.h"

// Asks the commands that are parked on the condition whether they are ready now. The ones that are
// become runnable; em_progress runs them. Precondition: em_lock held.
void em_condition_notify(struct em_condition *condition);
// The same, but stops at the first command that is not ready: for conditions whose commands become
// ready in the order in which they were parked. Precondition: em_lock held.
void em_condition_notify_in_order(struct em_condition *condition);
// The same for at most `count` commands; those that are not ready go to the end of the line, so
// that calls in a row reach all of them. Precondition: em_lock held.
void em_condition_notify_some(struct em_condition *condition, unsigned count);
