// SPDX-License-Identifier: MIT
// Signals of semaphores and waits for them, as commands of a stream.
#pragma once
#include <cuda.h>

#include "command.h"

struct em_external_semaphore;

// cuSignalExternalSemaphoresAsync and cuWaitExternalSemaphoresAsync: check everything before they
// submit one command for all `count` semaphores. `count` is not 0. Take the lock.
CUresult em_semaphores_signal(struct em_stream *stream, unsigned count,
                              const CUexternalSemaphore *list,
                              const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS *params);
CUresult em_semaphores_wait(struct em_stream *stream, unsigned count,
                            const CUexternalSemaphore *list,
                            const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS *params);

// The same for commands that are kept, as a graph's nodes are: check the arguments for a context
// and make a command that can be cloned and issued. Its accesses are empty. The command holds
// references to the semaphores, so that it can run after they were destroyed. em_command_free
// releases it. If `count` is 0, the command does nothing. Precondition: em_lock held.
CUresult em_semaphores_signal_prepare(const struct em_context *context, unsigned count,
                                      const CUexternalSemaphore *list,
                                      const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS *params,
                                      struct em_command **out);
CUresult em_semaphores_wait_prepare(const struct em_context *context, unsigned count,
                                    const CUexternalSemaphore *list,
                                    const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS *params,
                                    struct em_command **out);

// A submitted command that signals the semaphore or waits for it and has not completed, or NULL.
// Precondition: em_lock held.
const struct em_command *em_semaphore_pending(const struct em_external_semaphore *semaphore);
