#!/bin/sh
# SPDX-License-Identifier: MIT
# run_vulkan.sh CARDLESS PROGRAM…: runs a test program on lavapipe, with the Vulkan layer if it was
# built.
for icd in /usr/share/vulkan/icd.d/lvp_icd*.json /etc/vulkan/icd.d/lvp_icd*.json; do
    [ -f "$icd" ] && export VK_DRIVER_FILES="$icd" VK_ICD_FILENAMES="$icd"
done
if [ -z "$VK_DRIVER_FILES" ]; then
    echo "1..0 # SKIP lavapipe (mesa-vulkan-drivers) is not installed"
    exit 0
fi
cardless=$1
shift
exec "$cardless" run -- "$@"
