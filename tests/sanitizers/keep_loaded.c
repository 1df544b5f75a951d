// SPDX-License-Identifier: MIT
// Preloaded into tests that run under LeakSanitizer: libraries stay loaded until the process ends.
//
// LeakSanitizer looks for leaks at exit. If a graphics driver has been unloaded by then, its stack
// frames have no names, so a suppression cannot tell its leaks from ours.
#include <dlfcn.h>

int dlclose(void *library);

__attribute__((visibility("default"))) int dlclose(void *library)
{
    (void)library;
    return 0;
}
