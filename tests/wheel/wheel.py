#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Packs the build as a wheel, installs it into a fresh environment, and runs pytest there as a CI
job would: `cardless run -- pytest`, with the plugin.

Parts need the modules venv and pytest of Python (Debian: python3-venv, python3-pytest), and, for
tests in several processes, pytest-xdist.

  wheel.py WHEEL_TOOL BUILD
"""
import glob
import json
import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

TOOL, BUILD = sys.argv[1:3]
CLEAN = {k: v for k, v in os.environ.items()
         if not k.startswith(('CARDLESS', 'PYTEST', 'PYTHON', 'LD_'))}
# The suite of a user who calls the driver through ctypes.
TESTS = '''
import ctypes
import os
import subprocess
import sys
import pytest

cuda = ctypes.CDLL("libcuda.so.1")

class Memory(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("handle", ctypes.c_ulonglong * 2),
                ("size", ctypes.c_ulonglong), ("flags", ctypes.c_uint * 17)]

class Buffer(ctypes.Structure):
    _fields_ = [("offset", ctypes.c_ulonglong), ("size", ctypes.c_ulonglong),
                ("flags", ctypes.c_uint * 17)]

def start():
    context = ctypes.c_void_p()
    assert cuda.cuInit(0) == 0
    assert cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0
    assert cuda.cuCtxSetCurrent(context) == 0

def map_buffer(size):
    memory, pointer = ctypes.c_void_p(), ctypes.c_void_p()
    fd = os.memfd_create("m")
    os.ftruncate(fd, 65536)
    description = Memory(type=1, size=65536)
    description.handle[0] = fd
    assert cuda.cuImportExternalMemory(ctypes.byref(memory), ctypes.byref(description)) == 0
    buffer = Buffer(size=size)
    return cuda.cuExternalMemoryGetMappedBuffer(ctypes.byref(pointer), memory,
                                                ctypes.byref(buffer))

@pytest.fixture(autouse=True)
def card():
    start()

def test_right():
    assert map_buffer(65536) == 0

def test_mistake():
    assert map_buffer(65537) == 1

@pytest.mark.cardless_allow("B01")
def test_mistake_allowed():
    assert map_buffer(65537) == 1

@pytest.mark.xfail(strict=True)
def test_mistake_expected():
    assert map_buffer(65537) == 1

def test_mistake_and_failure():
    assert map_buffer(65537) == 0

def test_code_that_is_expected():
    assert cuda.cuMemFree_v2(ctypes.c_ulonglong(12345)) == 1

def test_child():
    code = "import test_it as t; t.start(); t.map_buffer(65537)"
    folder = os.path.dirname(__file__)
    subprocess.run([sys.executable, "-c", code], check=True, cwd=folder)

@pytest.fixture
def mistaken():
    yield
    map_buffer(65537)

def test_teardown(mistaken):
    pass
'''


def run(*command, code=0, **arguments):
    r = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                       timeout=100, env=CLEAN, **arguments)
    assert r.returncode == code, f'{command}\n{r.stdout}'
    return r.stdout


def has_module(python, name):
    return not subprocess.run([python, '-c', f'import {name}'], stderr=subprocess.DEVNULL,
                              check=False, env=CLEAN).returncode


def find_python():
    """An interpreter whose environments can have pytest, or any one that can make them."""
    found = [p for p in (sys.executable, '/usr/bin/python3') if os.access(p, os.X_OK) and
             has_module(p, 'venv, ensurepip')]
    return next((p for p in found if has_module(p, 'pytest')), found[0] if found else None)


def outcomes(path):
    """What JUnit of pytest says: {test: (kinds, text)}."""
    found = {}
    for case in xml.etree.ElementTree.parse(path).getroot().iter('testcase'):
        kinds, text = found.setdefault(case.get('name'), ([], []))
        kinds += [child.tag for child in case if child.tag in ('failure', 'error', 'skipped')]
        text += [child.get('message', '') + (child.text or '') for child in case]
    return {name: (sorted(kinds), '\n'.join(text)) for name, (kinds, text) in found.items()}


EXPECTED = {
    'test_right': [], 'test_mistake': ['failure'], 'test_mistake_allowed': [],
    'test_mistake_expected': ['skipped'], 'test_mistake_and_failure': ['failure'],
    'test_code_that_is_expected': [], 'test_child': ['failure'], 'test_teardown': ['error'],
}


def expect(path, **changes):
    found = outcomes(path)
    assert {name: kinds for name, (kinds, _) in found.items()} == {**EXPECTED, **changes}, \
        [(name, kinds, text[:200]) for name, (kinds, text) in found.items()]
    for name, (kinds, text) in found.items():
        named = 'Cardless has reported B01 during this test' in text
        assert named == bool(kinds) or name in (
            'test_mistake_expected', 'test_mistake_and_failure'), (name, text)
    return found


def plugin(python, cardless, folder):
    """A mistake fails the test that makes it, and no other."""
    with open(os.path.join(folder, 'test_it.py'), 'w', encoding='utf-8') as file:
        file.write(TESTS)
    result, junit, sarif = (os.path.join(folder, n) for n in ('own.xml', 'run.xml', 'run.sarif'))
    pytest = [python, '-m', 'pytest', '-q', '-p', 'no:cacheprovider', f'--junitxml={result}']
    said = run(cardless, 'run', '--', *pytest, code=1, cwd=folder)
    found = expect(result)
    # A test that fails anyway shows the diagnostic in a section of its own.
    assert 'Cardless call' in said, said
    assert said.count('Cardless has reported B01 during this test') == 4, said
    assert 'keep offset + size within' in found['test_mistake'][1]
    run(cardless, 'run', f'--report=junit:{junit}', f'--report=sarif:{sarif}', '--', *pytest,
        code=1, cwd=folder)
    expect(result)
    with open(sarif, encoding='utf-8') as file:
        results = json.load(file)['runs'][0]['results']
    tests = {r['properties'].get('test', '').split(' ')[0] for r in results if r['ruleId'] == 'B01'}
    assert tests == {f'test_it.py::{n}' for n in EXPECTED} - {
        'test_it.py::test_right', 'test_it.py::test_code_that_is_expected'}, tests
    nothing = {n: [] for n in ('test_mistake', 'test_child', 'test_teardown')}
    for option in ('--cardless-allow=B0?', '--cardless-error-on=never', '--cardless-error-on=I08',
                   '-ocardless_allow=B01', '-ocardless_error_on=never'):
        run(cardless, 'run', '--', *pytest, option, code=1, cwd=folder)
        kinds = {name: kinds for name, (kinds, _) in outcomes(result).items()}
        assert kinds == {**EXPECTED, **nothing, 'test_mistake_expected': ['failure']}, kinds
    run(cardless, 'run', '--', *pytest, '--cardless-error-on=GENERAL', '-k', 'code_that', code=1,
        cwd=folder)
    refusals(cardless, pytest, folder)
    if not has_module(python, 'xdist'):
        print('NOT TESTED, pytest-xdist is missing: tests in several processes')
        return
    run(cardless, 'run', '--', *pytest, '-n', '2', code=1, cwd=folder)
    expect(result)


def refusals(cardless, pytest, folder):
    """A typing mistake in an option or in a setting is refused before any test runs."""
    for option, wrong in (
            ('--cardless-error-on=worning', 'worning'), ('--cardless-error-on=B99', 'B99'),
            ('--cardless-error-on=eror,I08', 'eror'), ('--cardless-error-on=I08,', ''),
            ('--cardless-error-on=', ''), ('--cardless-error-on=K*', 'K*'),
            ('-ocardless_error_on=worning', 'worning'), ('--cardless-allow=ZZ9', 'ZZ9'),
            ('-ocardless_allow=B01 Z*', 'Z*')):
        said = run(cardless, 'run', '--', *pytest, option, code=4, cwd=folder)
        name = option.split('=')[0].replace('-ocardless', 'cardless')
        assert f'cardless: {name} takes ' in said and f"; '{wrong}' is not an id" in said, said
    run(cardless, 'run', '--', *pytest, '--cardless-error-on=B01,GENERAL', '-k', 'right',
        cwd=folder)


def main():
    with tempfile.TemporaryDirectory() as folder:
        CLEAN['TMPDIR'] = folder
        print(run(sys.executable, TOOL, '--from', BUILD, '--out', folder).strip())
        [wheel] = glob.glob(folder + '/*.whl')
        base = find_python()
        if not base:
            print('NOT TESTED, the module venv or ensurepip of Python is missing: installing')
            return
        environment = os.path.join(folder, 'environment')
        run(base, '-m', 'venv', '--system-site-packages', environment)
        python, cardless = (os.path.join(environment, 'bin', n) for n in ('python', 'cardless'))
        run(python, '-m', 'pip', 'install', '--no-index', '--no-deps', wheel)
        assert 'NVIDIA H100' in run(cardless, 'info')
        code = ('import ctypes; print(*[ctypes.CDLL(f"lib{n}")._name for n in ("cuda.so.1", '
                '"cudart.so.12", "cudart.so.13", "nvidia-ml.so.1")]); import os; '
                'print(os.environ["CARDLESS_VULKAN_LAYER"], os.environ["LD_AUDIT"])')
        said = run(cardless, 'run', '--', python, '-c', code)
        assert '\n1 ' + environment in said and 'libcardless-redirect.so' in said, said
        print('the wheel is installed, and its program runs others')
        if has_module(python, 'pytest'):
            plugin(python, cardless, folder)
            print('the plugin fails the tests that make mistakes')
        else:
            print('NOT TESTED, pytest is missing: the plugin')


main()
