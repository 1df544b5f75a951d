#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: run_frames.sh CARDLESS FRAMES MISTAKE ID: runs the example; without a mistake nothing is reported, else ID is.
set -u
out=$("$1" run -- "$2" ${3:+"$3"} 2>&1)
status=$?
printf '%s\n' "$out"
if [ -z "$3" ]; then
    [ $status = 0 ] && ! grep -q '^cardless: \[' <<<"$out" && grep -q '^frame 2: .*####' <<<"$out"
else
    grep -q "^cardless: \[$4 " <<<"$out"
fi
