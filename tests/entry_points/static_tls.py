#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Fails if a library uses thread-local memory in a way that does not work everywhere.

    static_tls.py READELF LIBRARY [no-call]

The flag STATIC_TLS: programs whose other libraries have used up the C library's reserve cannot load
it. With `no-call`, __tls_get_addr: fully static programs that load it crash.
"""
import subprocess
import sys

readelf, library, *more = sys.argv[1:]


def read(option):
    run = subprocess.run([readelf, option, library], check=True, capture_output=True, text=True)
    return run.stdout.splitlines()


dynamic, symbols = read('-dW'), read('--dyn-syms')
if not any('SONAME' in line for line in dynamic) or len(symbols) < 100:
    sys.exit(f'{library}: readelf printed no dynamic section or no symbols')
if any('(FLAGS)' in line and 'STATIC_TLS' in line for line in dynamic):
    sys.exit(f'{library} has the flag STATIC_TLS: a variable uses the model initial-exec')
if more and any('__tls_get_addr' in line for line in symbols):
    sys.exit(f'{library} calls __tls_get_addr: move the variable into struct em_thread')
