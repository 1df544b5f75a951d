#!/bin/sh
# SPDX-License-Identifier: MIT
# run_vulkan.sh [--swiftshader] CARDLESS PROGRAM…: runs a test program on lavapipe, or on the
# SwiftShader of Debian's chromium, with the Vulkan layer if it was built.
find_driver() {
    for icd in "$@"; do
        [ -f "$icd" ] && export VK_DRIVER_FILES="$icd" VK_ICD_FILENAMES="$icd"
    done
}
skip() {
    echo "1..0 # SKIP $1 is not installed"
    exit 0
}
if [ "$1" = --swiftshader ]; then
    shift
    unset VK_DRIVER_FILES VK_ICD_FILENAMES
    find_driver /usr/lib/chromium/vk_swiftshader_icd.json
    [ -n "$VK_DRIVER_FILES" ] || skip "SwiftShader (chromium)"
else
    find_driver /usr/share/vulkan/icd.d/lvp_icd*.json /etc/vulkan/icd.d/lvp_icd*.json
    [ -n "$VK_DRIVER_FILES" ] || skip "lavapipe (mesa-vulkan-drivers)"
fi
cardless=$1
shift
exec "$cardless" run -- "$@"
