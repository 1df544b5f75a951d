#!/bin/sh
# SPDX-License-Identifier: MIT
# transparent.sh CARDLESS: vulkaninfo prints the same about instance and devices with and without
# the Vulkan layer, except for the list of layers, the extensions that the layer provides, and
# values that change by themselves.
skip() {
    echo "SKIPPED: $1 is not installed"
    exit 77
}
fail() {
    echo "$1"
    exit 1
}
command -v vulkaninfo >/dev/null || skip 'vulkaninfo (vulkan-tools)'
for icd in /usr/share/vulkan/icd.d/lvp_icd*.json /etc/vulkan/icd.d/lvp_icd*.json; do
    [ -f "$icd" ] && export VK_DRIVER_FILES="$icd" VK_ICD_FILENAMES="$icd"
done
[ -n "$VK_DRIVER_FILES" ] || skip 'lavapipe (mesa-vulkan-drivers)'
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
for layer in off on; do
    "$1" run --vulkan-layer $layer -- vulkaninfo 2>"$folder/errors-$layer" >"$folder/raw-$layer" ||
        fail "vulkaninfo fails, layer $layer"
    sed -E -e '/VK_KHR_external_(semaphore|fence)_fd /d; /^Device Extensions: count/d' \
        "$folder/raw-$layer" >"$folder/shared-$layer"
    sed -e '/^Layers: count/,/^Presentable Surfaces:\|^Groups:\|^Device Groups:/d' \
        -e '/budget *=/d; /usage *=.*B)$/d; /Surface/d' \
        "$folder/shared-$layer" >"$folder/$layer"
done
grep -q VK_LAYER_CARDLESS_interop "$folder/raw-on" ||
    fail 'vulkaninfo does not list the layer'
for extension in semaphore fence; do
    grep -q "VK_KHR_external_${extension}_fd" "$folder/raw-on" ||
        fail "vulkaninfo does not list VK_KHR_external_${extension}_fd"
done
diff "$folder/off" "$folder/on" && diff "$folder/errors-off" "$folder/errors-on" &&
    echo "the same: $(wc -l <"$folder/on") lines"
