#!/bin/sh
# SPDX-License-Identifier: MIT
# run_client.sh CARDLESS FOLDER PROGRAM PACKAGE…: runs a Python program on Cardless with packages of
# PyPI, which are installed into a virtual environment in FOLDER first.
cardless=$1 folder=$2 program=$3
shift 3
if ! [ -e "$folder/complete" ]; then
    rm -rf "$folder"
    if ! { python3 -m venv "$folder" &&
        "$folder/bin/pip" install --quiet --retries 1 --timeout 15 "$@"; } \
        >"$folder.log" 2>&1; then
        tail -3 "$folder.log"
        echo "SKIPPED: pip cannot install $*"
        exit 77
    fi
    touch "$folder/complete"
fi
exec "$cardless" run -- "$folder/bin/python" "$program"
