#!/bin/sh
# SPDX-License-Identifier: MIT
# transparent.sh CARDLESS: vulkaninfo prints the same about instance and devices with and without
# the Vulkan layer, except for the list of layers and values that change by themselves.
command -v vulkaninfo >/dev/null || { echo "SKIPPED: vulkaninfo (vulkan-tools) is not installed"; exit 77; }
for icd in /usr/share/vulkan/icd.d/lvp_icd*.json /etc/vulkan/icd.d/lvp_icd*.json; do
    [ -f "$icd" ] && export VK_DRIVER_FILES="$icd" VK_ICD_FILENAMES="$icd"
done
[ -n "$VK_DRIVER_FILES" ] || { echo "SKIPPED: lavapipe (mesa-vulkan-drivers) is not installed"; exit 77; }
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
for layer in off on; do
    "$1" run --vulkan-layer $layer -- vulkaninfo 2>"$folder/errors-$layer" >"$folder/raw-$layer" || { echo "vulkaninfo fails, layer $layer"; exit 1; }
    sed '/^Layers: count/,/^Presentable Surfaces:\|^Groups:\|^Device Groups:/d; /budget *=/d; /usage *=.*B)$/d; /Surface/d' \
        "$folder/raw-$layer" >"$folder/$layer"
done
grep -q VK_LAYER_CARDLESS_interop "$folder/raw-on" || { echo "vulkaninfo does not list the layer"; exit 1; }
diff "$folder/off" "$folder/on" && diff "$folder/errors-off" "$folder/errors-on" && echo "the same: $(wc -l <"$folder/on") lines"
