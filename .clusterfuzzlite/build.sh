#!/bin/bash -eu
# SPDX-License-Identifier: MIT
# Builds the fuzz targets as ClusterFuzzLite and OSS-Fuzz ask: $CC, $CFLAGS and
# $LIB_FUZZING_ENGINE come from their base image, and programs, libraries, corpora, dictionaries and
# options go to $OUT. TARGETS may name some of the targets.
targets=${TARGETS:-import copy graphics graph vmm semaphore calls mipmap operations launch texture
    reference tensor sparse pool egl runtime runtime_12 ptx image jitlink trace}
source=$SRC/cardless build=$WORK/cardless
engine=${LIB_FUZZING_ENGINE// /,}
case $engine in
*.a) engine=$engine,-lc++ ;; # engines other than libFuzzer are C++ archives
esac
# Functions of graphics libraries are called without their headers, so the types that this check
# compares never agree (meson.build).
[ "${SANITIZER-}" != undefined ] || export CFLAGS="$CFLAGS -fno-sanitize=function"
options=(--buildtype=plain -Dfuzz=true "-Dfuzz_engine=$engine" -Db_lundef=false
    -Dquick_kernels=true)
export LDFLAGS="${LDFLAGS-} -Wl,-rpath,\$ORIGIN/lib:\$ORIGIN" # libraries are found from $OUT
rm -rf "$build"
meson setup "$build" "$source" "${options[@]}"
read -ra names <<<"$(echo $targets)"
needed=()
for name in "${names[@]}"; do
    needed+=("tests/fuzz/fuzz_$name")
    case $name in
    ptx) needed+=(ptx/ptx.dict) ;;
    runtime*) needed+=(lib/libcuda.so.1) ;; # which the runtime loads
    esac
done
ninja -C "$build" "${needed[@]}"

mkdir -p "$OUT/lib"
find "$build/lib" -maxdepth 1 -name 'lib*.so.[0-9]*' -xtype f -exec cp -Lt "$OUT/lib" {} +
# The image in which the targets run has few libraries. The driver loads these if they are there.
ldconfig -p | awk '$1 ~ /^lib(ffi|zstd|lz4)[.]so[.]/ && /x86-64/ {print $NF}' |
    xargs -r cp -Lt "$OUT/lib"
for name in "${names[@]}"; do
    cp "$build/tests/fuzz/fuzz_$name" "$OUT"
    packed=$source/tests/fuzz/corpus/${name%_12}.tar.gz folder=$WORK/corpus-$name
    if [ -f "$packed" ]; then
        rm -rf "$folder" "$OUT/fuzz_${name}_seed_corpus.zip"
        python3 "$source/tests/fuzz/corpus.py" unpack "$packed" "$folder"
        python3 -m zipfile -c "$OUT/fuzz_${name}_seed_corpus.zip" "$folder"/*
    fi
    case $name in
    ptx | trace) length=16384 ;;
    image | jitlink) length=65536 ;;
    *) length=1024 ;;
    esac
    printf '[libfuzzer]\nmax_len = %s\ntimeout = 60\nrss_limit_mb = 4096\n' "$length" \
        >"$OUT/fuzz_$name.options"
done
[[ " ${names[*]} " != *" ptx "* ]] || cp "$build/ptx/ptx.dict" "$OUT/fuzz_ptx.dict"
