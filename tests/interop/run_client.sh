#!/bin/sh
# SPDX-License-Identifier: MIT
# run_client.sh CARDLESS FOLDER PROGRAM PACKAGE…: runs a Python program on Cardless with packages
# of PyPI, which are installed into a virtual environment in FOLDER first. Setting pip up takes
# longer than most packages, so python3's own is used if there is one; if not, all environments of
# a build folder share one.
cardless=$1 folder=$2 program=$3
shift 3
shared=${folder%/*/*}/pip
install_packages() {
    python=python3
    if ! python3 -m pip --version; then
        (
            flock 9 && [ -x "$shared/bin/pip" ] && exit # made by another test
            python3 -m venv "$shared"
        ) 9>"$shared.lock" || return
        python=$shared/bin/python
    fi
    python3 -m venv --without-pip "$folder" &&
        "$python" -m pip install --quiet --retries 1 --timeout 15 --ignore-installed --no-compile \
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
