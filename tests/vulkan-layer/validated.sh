#!/bin/sh
# SPDX-License-Identifier: MIT
# validated.sh CARDLESS PROGRAM…: runs test programs with Khronos's validation layer
# between the Vulkan layer and lavapipe. It must find nothing wrong in what the layer passes on.
if [ ! -f /usr/share/vulkan/explicit_layer.d/VkLayer_khronos_validation.json ]; then
    echo 'SKIPPED: vulkan-validationlayers is not installed'
    exit 77
fi
run_vulkan=$(dirname "$0")/../run_vulkan.sh
cardless=$1
shift
export VK_INSTANCE_LAYERS=VK_LAYER_KHRONOS_validation VK_LOADER_DEBUG=layer
for program; do
    output=$("$run_vulkan" "$cardless" "$program" 2>&1)
    status=$?
    case $output in
    *'# SKIP lavapipe'*)
        echo 'SKIPPED: lavapipe (mesa-vulkan-drivers) is not installed'
        exit 77
        ;;
    esac
    if ! echo "$output" | grep -q 'Insert instance layer "VK_LAYER_KHRONOS_validation"'; then
        echo "the validation layer was not loaded into $program"
        exit 1
    fi
    if [ $status != 0 ] ||
        echo "$output" | grep -q -e 'Validation \(Error\|Warning\)' -e VUID-; then
        echo "$output" | grep -e '^not ok' -e '^#' -e Validation | head -40
        echo "$program: exit status $status"
        exit 1
    fi
    echo "$program: $(echo "$output" | grep -c '^ok') cases"
done
