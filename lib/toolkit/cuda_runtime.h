// SPDX-License-Identifier: MIT
// Build systems look for the runtime API's header here. It only reports that Cardless does not have
// that API yet.
#error "Cardless has no runtime API (cuda_runtime.h) yet: include <cuda.h> and call cu* functions"
