#!/bin/sh
# SPDX-License-Identifier: MIT
# under_xvfb.sh PROGRAM: runs a test on an X server of its own.
if ! command -v xvfb-run >/dev/null; then
    echo "1..0 # SKIP xvfb-run (xvfb, xauth) is not installed"
    exit 0
fi
export LIBGL_ALWAYS_SOFTWARE=1 GALLIUM_DRIVER=llvmpipe
exec xvfb-run -a -s '-screen 0 640x480x24 -noreset' "$@"
