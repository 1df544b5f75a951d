#!/bin/sh
# SPDX-License-Identifier: MIT
# run_ffmpeg.sh CARDLESS: an unmodified ffmpeg copies frames from CUDA to Vulkan and back. Both
# directions are ordered by external semaphores. Every frame must come out as it went in.
#
# Newer releases (7.1 is one) copy only from Vulkan to CUDA, because their filter `hwupload` does
# not accept CUDA frames for a Vulkan device. frame_copies.c copies in both directions with them.
command -v ffmpeg >/dev/null || {
    echo 'SKIPPED: ffmpeg is not installed'
    exit 77
}
for icd in /usr/share/vulkan/icd.d/lvp_icd*.json /etc/vulkan/icd.d/lvp_icd*.json; do
    [ -f "$icd" ] && export VK_DRIVER_FILES="$icd" VK_ICD_FILENAMES="$icd"
done
[ -n "$VK_DRIVER_FILES" ] || {
    echo 'SKIPPED: lavapipe (mesa-vulkan-drivers) is not installed'
    exit 77
}
if ! ffmpeg -hide_banner -hwaccels 2>&1 | grep -q vulkan ||
    ! ffmpeg -hide_banner -filters 2>&1 | grep -q hwupload_cuda; then
    echo 'SKIPPED: this ffmpeg was built without CUDA or Vulkan'
    exit 77
fi
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
failed=0

# filter NAME FILTERS [command…]: writes the check sums of 5 frames to $folder/NAME.
filter() {
    name=$1 filters=$2
    shift 2
    "$@" ffmpeg -y -hide_banner -loglevel verbose $devices -f lavfi \
        -i testsrc=size=322x242:rate=5 -t 1 -vf "$filters" -f framemd5 "$folder/raw" \
        >"$folder/$name.log" 2>&1 </dev/null
    status=$?
    grep -v '^#' "$folder/raw" >"$folder/$name"
    return $status
}

# True if ffmpeg is newer than 5.1 and refused to connect its filters in the log NAME.
refuses_filters() {
    version=$(ffmpeg -version | sed -n 's/^libavutil  *\([0-9]*\)\..*/\1/p')
    [ "$version" -gt 57 ] && grep -q "^Impossible to convert between the formats" "$folder/$1.log"
}

# check NAME LINE FILTERS: the frames are those of the reference, and LINE, a regular expression, is
# in ffmpeg's log.
check() {
    if filter "$1" "$3" "$cardless" run --vulkan-as nvidia -- timeout 60 &&
        grep -q "$2" "$folder/$1.log" && cmp "$folder/$1" "$folder/reference"; then
        echo "$format, $1: $(wc -l <"$folder/$1") frames are the same"
    elif [ "$1" = to-vulkan ] && refuses_filters "$1"; then
        echo "$format, $1: not tested, because this ffmpeg does not connect these filters"
    else
        tail -20 "$folder/$1.log"
        echo "$format, $1: failed"
        failed=1
    fi
}

cardless=$1
for format in nv12 yuv420p; do
    devices=
    filter reference "format=$format" || {
        tail "$folder/reference.log"
        exit 1
    }
    devices='-init_hw_device cuda=cu:0 -init_hw_device vulkan=vk@cu -filter_hw_device cu'
    check to-vulkan 'Transferr*ed CUDA image to Vulkan' \
        "format=$format,hwupload_cuda,hwupload=derive_device=vulkan,hwdownload,format=$format"
    check to-cuda 'Transferr*ed Vulkan image to CUDA' \
        "format=$format,hwupload=derive_device=vulkan,hwupload=derive_device=cuda,hwdownload,\
format=$format"
done
exit $failed
