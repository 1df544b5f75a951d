#!/bin/sh
# SPDX-License-Identifier: MIT
# run_client.sh CARDLESS FOLDER PROGRAM PACKAGE…: runs a Python program on Cardless with packages
# of PyPI, which are installed into a virtual environment in FOLDER first. All environments of a
# build folder share one pip, because setting pip up takes longer than most packages.
cardless=$1 folder=$2 program=$3
shift 3
shared=${folder%/*/*}/pip
install_packages() {
    (
        flock 9 && [ -x "$shared/bin/pip" ] && exit # made by another test
        python3 -m venv "$shared"
    ) 9>"$shared.lock" &&
        python3 -m venv --without-pip "$folder" &&
        "$shared/bin/pip" install --quiet --retries 1 --timeout 15 --ignore-installed --no-compile \
            --prefix "$folder" "$@"
}
if ! [ -e "$folder/complete" ]; then
    rm -rf "$folder"
    if ! install_packages "$@" >"$folder.log" 2>&1; then
        tail -3 "$folder.log"
        echo "SKIPPED: pip cannot install $*"
        exit 77
    fi
    touch "$folder/complete"
fi
exec "$cardless" run -- "$folder/bin/python" "$program"
