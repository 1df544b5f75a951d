#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Fails if a library carries the flag STATIC_TLS. static_tls.py READELF LIBRARY"""
import subprocess
import sys

readelf, library = sys.argv[1:]
dynamic = subprocess.run([readelf, '-dW', library], check=True, capture_output=True, text=True).stdout
if 'SONAME' not in dynamic:
    sys.exit(f'{library}: readelf printed no dynamic section')
flags = [line for line in dynamic.splitlines() if '(FLAGS)' in line]
if any('STATIC_TLS' in line for line in flags):
    sys.exit(f'{library} has the flag STATIC_TLS: a variable uses the model initial-exec')
