# SPDX-License-Identifier: MIT
"""Makes the Python package cuda-bindings use Cardless's libcudart.so.13 or libcudart.so.12.

The package has a static runtime without symbols. Its modules find each other's functions in tables
of capsules (`__pyx_capi__`), so after the module with the runtime has been loaded, its capsules get
the addresses of Cardless's functions. `cardless run` puts this file into PYTHONPATH, where Python
imports it at its start; then it runs the sitecustomize that it hides.
"""
import os
import sys
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from os.path import abspath, dirname, join

HERE = dirname(abspath(__file__))
RUNTIMES = {'cuda.bindings._bindings.cyruntime', 'cuda.bindings._bindings.cyruntime_ptds',
            'cuda.bindings._internal.runtime', 'cuda.bindings._internal.runtime_ptds'}


def redirect(module):
    import ctypes
    api = ctypes.pythonapi
    api.PyCapsule_GetName.restype = ctypes.c_char_p
    api.PyCapsule_GetName.argtypes = [ctypes.py_object]
    api.PyCapsule_SetPointer.argtypes = [ctypes.py_object, ctypes.c_void_p]
    # Only CUDA 12 names the newest form of this function with a suffix.
    is_12 = any(name.endswith('cudaGetDeviceProperties_v2') for name in module.__pyx_capi__)
    soname = 'libcudart.so.12' if is_12 else 'libcudart.so.13'
    try:
        library = ctypes.CDLL(join(dirname(HERE), soname), mode=ctypes.RTLD_GLOBAL)
    except OSError as e:
        print(f'cardless: {module.__name__} is not redirected: {e}', file=sys.stderr)
        return
    # The package's variable for per-thread default streams chooses the twins of functions that use
    # such a stream.
    per_thread = bool(os.getenv('CUDA_PYTHON_CUDA_PER_THREAD_DEFAULT_STREAM'))
    twins = ('_ptds', '_ptsz', '') if per_thread else ('',)
    for name, capsule in module.__pyx_capi__.items():
        found = (getattr(library, name.lstrip('_') + twin, None) for twin in twins)
        function = next((f for f in found if f is not None), None)
        # A type that Cython has made may differ from the runtime's.
        own_type = b'__pyx_t_' in api.PyCapsule_GetName(capsule)
        if name.lstrip('_').startswith('cuda') and function is not None and not own_type:
            api.PyCapsule_SetPointer(capsule, ctypes.cast(function, ctypes.c_void_p))


class Loader:
    def __init__(self, loader):
        self.loader = loader

    def __getattr__(self, name):
        return getattr(self.loader, name)

    def create_module(self, spec):
        return self.loader.create_module(spec)

    def exec_module(self, module):
        self.loader.exec_module(module)
        if hasattr(module, '__pyx_capi__'):
            redirect(module)


class Finder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        spec = PathFinder.find_spec(name, path, target) if name in RUNTIMES else None
        if spec and spec.loader:
            spec.loader = Loader(spec.loader)
        return spec


def run_hidden():
    rest = [p for p in sys.path if abspath(p) != HERE]
    spec = PathFinder.find_spec('sitecustomize', rest)
    if spec and spec.loader:
        hidden = module_from_spec(spec)
        sys.modules['sitecustomize'] = hidden
        spec.loader.exec_module(hidden)


sys.meta_path.insert(0, Finder)
run_hidden()
