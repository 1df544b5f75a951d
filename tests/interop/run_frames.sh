#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: run_frames.sh CARDLESS FRAMES MISTAKE ID: runs the example. Without a mistake nothing may
# be reported; with one, exactly ID must be.
set -u
out=$("$1" run -- "$2" ${3:+"$3"} 2>&1)
status=$?
printf '%s\n' "$out"
if [ -z "$3" ]; then
    [ $status = 0 ] && ! grep -q '^cardless: \[' <<<"$out" && grep -q '^frame 2: .*####' <<<"$out"
else
    grep -q "^cardless: \[$4 " <<<"$out"
fi
