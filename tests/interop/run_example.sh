#!/bin/sh
# SPDX-License-Identifier: MIT
# run_example.sh CARDLESS PERSONALITY PROGRAM PICTURE: runs an example on lavapipe or llvmpipe. The
# example checks its own pixels. No mistake may be reported.
for icd in /usr/share/vulkan/icd.d/lvp_icd*.json /etc/vulkan/icd.d/lvp_icd*.json; do
    [ -f "$icd" ] && export VK_DRIVER_FILES="$icd" VK_ICD_FILENAMES="$icd"
done
if [ -z "$VK_DRIVER_FILES" ]; then
    echo "SKIPPED: lavapipe (mesa-vulkan-drivers) is not installed"
    exit 77
fi
export LIBGL_ALWAYS_SOFTWARE=1 GALLIUM_DRIVER=llvmpipe
export TSAN_OPTIONS="atexit_sleep_ms=0:suppressions=$(dirname "$0")/../gl/tsan.supp"
reports="$4.json"
rm -f "$reports"
"$1" run --personality "$2" --diagnostics "json:$reports" -- "$3" "$4" || exit 1
if [ -s "$reports" ]; then
    echo "mistakes were reported:"
    cat "$reports"
    exit 1
fi
