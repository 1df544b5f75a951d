# SPDX-License-Identifier: MIT
"""A fixed part of the tests that are in numba-cuda's wheel.

numba compiles kernels to LTO-IR, which libnvJitLink turns into an image.
"""
import sys
import unittest
import warnings

PARTS = ['cudadrv.test_array_attr', 'cudadrv.test_context_stack', 'cudadrv.test_cuda_memory',
         'cudadrv.test_deallocations', 'cudadrv.test_events', 'cudadrv.test_host_alloc',
         'cudadrv.test_inline_ptx', 'cudadrv.test_nvrtc', 'cudadrv.test_nvvm_driver',
         'cudadrv.test_pinned', 'cudapy.test_alignment', 'cudapy.test_array_args',
         'cudapy.test_constmem', 'cudapy.test_localmem', 'cudapy.test_montecarlo',
         'cudapy.test_print', 'cudapy.test_sync', 'cudapy.test_warp_ops']

warnings.simplefilter('ignore')
tests = unittest.defaultTestLoader.loadTestsFromNames(f'numba.cuda.tests.{p}' for p in PARTS)
result = unittest.TextTestRunner(verbosity=0).run(tests)
passed = result.testsRun - len(result.failures) - len(result.errors) - len(result.skipped)
print(f'{passed} of {result.testsRun} tests pass, {len(result.skipped)} are skipped')
sys.exit(not result.wasSuccessful() or passed < 50)
