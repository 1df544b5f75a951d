#!/bin/sh
# SPDX-License-Identifier: MIT
# run_rust.sh CARDLESS LIBRARIES SOURCE PROGRAM: builds a Rust program and runs it on Cardless.
cardless=$1 libraries=$2 source=$3 program=$4
if ! rustc --version >/dev/null 2>&1; then
    echo "SKIPPED: rustc is not installed"
    exit 77
fi
rustc -D warnings -C opt-level=1 -L "$libraries" -o "$program" "$source" || exit 1
exec "$cardless" run -- "$program"
