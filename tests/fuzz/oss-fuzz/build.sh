#!/bin/bash -eu
# SPDX-License-Identifier: MIT
exec "$SRC/cardless/.clusterfuzzlite/build.sh"
