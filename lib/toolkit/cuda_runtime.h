// SPDX-License-Identifier: MIT
// Stands where build systems look for the runtime API's header, and says that there is none yet.
#error "Cardless has no runtime API (cuda_runtime.h) yet: include <cuda.h> and call cu* functions"
