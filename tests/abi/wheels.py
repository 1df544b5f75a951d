# SPDX-License-Identifier: MIT
"""NVIDIA's headers, compiler and runtime of CUDA 12.9, and its headers of NVML 13.0, from PyPI.
Nothing of them enters the repository: tests compare with the headers, and run programs that the
compiler makes."""
import fcntl
import subprocess
import sys
from pathlib import Path

CUDA_12 = ['nvidia-cuda-runtime-cu12==12.9.79', 'nvidia-cuda-nvcc-cu12==12.9.86']
NVML = ['nvidia-nvml-dev==13.0.87']


def install(folder, packages):
    """Installs the packages into the folder, if no test has done that before. Returns the folder
    that has those of NVIDIA; None if pip fails."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / 'lock', 'w', encoding='utf-8') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / 'complete').exists():
            command = [sys.executable, '-m', 'pip', 'install', '--quiet', '--no-deps', '--retries',
                       '1', '--timeout', '15', '--upgrade', '--target', folder / 'packages']
            r = subprocess.run([*command, *packages], capture_output=True, text=True)
            if r.returncode:
                print(r.stderr.strip()[-500:])
                return None
            (folder / 'complete').touch()
    return folder / 'packages' / 'nvidia'


def cuda_12(folder):
    """Returns the folders of the runtime and of the compiler; None if pip fails."""
    nvidia = install(folder, CUDA_12)
    return nvidia and (nvidia / 'cuda_runtime', nvidia / 'cuda_nvcc')


def nvml(folder):
    """Returns the folder of nvml.h; None if pip fails."""
    nvidia = install(folder, NVML)
    return nvidia and next(nvidia.rglob('nvml.h')).parent
