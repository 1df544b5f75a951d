# SPDX-License-Identifier: MIT
# Sourced by tools/check, tools/demo and tools/bench: installs missing packages (Debian and Ubuntu),
# and finds the repository's root.
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# need PACKAGE…: installs those that are missing. If it cannot, it says so and goes on, because the
# build names the parts that it lacks.
need() {
    local missing=() package
    command -v dpkg-query >/dev/null || return 0
    for package in "$@"; do
        dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' ||
            missing+=("$package")
    done
    [ ${#missing[@]} = 0 ] && return 0
    local sudo=
    [ "$(id -u)" = 0 ] || sudo=sudo
    if [ -n "$sudo" ] && ! command -v sudo >/dev/null; then
        echo "missing packages, and no right to install them: ${missing[*]}" >&2
        return 0
    fi
    echo "installing ${missing[*]}" >&2
    export DEBIAN_FRONTEND=noninteractive
    local install=($sudo apt-get install -y -qq --no-install-recommends "${missing[@]}")
    "${install[@]}" >/dev/null 2>&1 ||
        { $sudo apt-get update -qq >/dev/null && "${install[@]}" >/dev/null; } ||
        echo "could not install all of: ${missing[*]}" >&2
}

build_packages=(gcc libc6-dev meson ninja-build python3 pkg-config uthash-dev libffi-dev)
graphics_packages=(libvulkan-dev mesa-vulkan-drivers glslang-tools libpng-dev libegl-dev
    libopengl-dev libgl-dev libglx-dev libx11-dev libegl1 libgl1 libgl1-mesa-dri xvfb xauth)
# What tests run, or run beside the programs under test.
test_packages=(vulkan-validationlayers ffmpeg libavutil-dev libzstd1 liblz4-1 python3-venv
    python3-pytest python3-yaml gstreamer1.0-tools gstreamer1.0-plugins-base
    gstreamer1.0-plugins-bad gstreamer1.0-gl)

# configure FOLDER [meson option…]: sets a build folder up, or brings an old one up to date.
configure() {
    local folder=$1
    shift
    if [ -f "$folder/build.ninja" ]; then
        local option options=()
        for option in "$@"; do # a build folder keeps its machine
            [[ $option = --cross-file=* ]] || options+=("$option")
        done
        meson setup --reconfigure "$folder" "$root" "${options[@]}" >/dev/null
    else
        if ! meson setup "$folder" "$root" "$@" >"$folder.log" 2>&1; then
            cat "$folder.log" >&2
            return 1
        fi
        rm -f "$folder.log"
    fi
}

# OpenGL in software too, and without a display.
use_llvmpipe() {
    export LIBGL_ALWAYS_SOFTWARE=1 GALLIUM_DRIVER=llvmpipe
}

# On lavapipe whatever else the machine has: the examples and tests share memory with it.
use_lavapipe() {
    local icd
    for icd in /usr/share/vulkan/icd.d/lvp_icd*.json /etc/vulkan/icd.d/lvp_icd*.json; do
        [ -f "$icd" ] && export VK_DRIVER_FILES="$icd" VK_ICD_FILENAMES="$icd" && return 0
    done
    return 0
}
