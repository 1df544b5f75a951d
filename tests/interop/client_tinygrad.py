# SPDX-License-Identifier: MIT
"""tinygrad computes with CUDA: its own PTX renderer makes the kernels. numpy is the reference."""
import numpy as np
from tinygrad import Device, Tensor, dtypes

generator = np.random.default_rng(1)
failed = 0


def check(name, got, want, tolerance=1e-4):
    global failed
    got, want = np.asarray(got), np.asarray(want)
    good = got.shape == want.shape and np.allclose(got, want, rtol=tolerance, atol=tolerance,
                                                   equal_nan=True)
    failed += not good
    print('ok' if good else 'not ok', name)
    if not good:
        print('  got', got.ravel()[:6], 'want', want.ravel()[:6])


def floats(*shape):
    return generator.standard_normal(shape).astype(np.float32)


def main():
    assert Device.DEFAULT == 'CUDA', Device.DEFAULT
    a, b = floats(64, 96), floats(96, 48)
    x, y = Tensor(a), Tensor(b)
    check('matmul', (x @ y).numpy(), a @ b)
    half = (x.cast(dtypes.half) @ y.cast(dtypes.half)).cast(dtypes.float)
    check('matmul of halves', half.numpy(), a @ b, 0.1)
    check('relu and sum', x.relu().sum(axis=0).numpy(), np.maximum(a, 0).sum(axis=0))
    soft = np.exp(a - a.max(axis=1, keepdims=True))
    check('softmax', x.softmax(axis=1).numpy(), soft / soft.sum(axis=1, keepdims=True))
    for name, reference in (('sin', np.sin), ('exp', np.exp), ('tanh', np.tanh), ('sqrt', np.sqrt),
                            ('log', np.log), ('abs', np.abs), ('floor', np.floor)):
        source = np.abs(a) if name in ('sqrt', 'log') else a
        check(name, getattr(Tensor(source), name)().numpy(), reference(source))
    check('argmax', x.argmax(axis=1).numpy(), a.argmax(axis=1))
    check('sort', Tensor(a[0]).sort()[0].numpy(), np.sort(a[0]))
    check('cumulative sum', x.cumsum(axis=1).numpy(), a.cumsum(axis=1), 1e-3)
    check('transposed and cut', x.T[3:40:2].numpy(), a.T[3:40:2])
    check('where', (x > 0).where(x, 0 * x - 1).numpy(), np.where(a > 0, a, -1))
    image, kernel = floats(2, 3, 20, 20), floats(4, 3, 3, 3)
    windows = np.lib.stride_tricks.sliding_window_view(image, (3, 3), axis=(2, 3))
    check('convolution', Tensor(image).conv2d(Tensor(kernel)).numpy(),
          np.einsum('bchwij,ocij->bohw', windows, kernel), 1e-3)
    for kind in (np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64):
        n = generator.integers(1, 9, (33, 17)).astype(kind)
        m = generator.integers(1, 9, (33, 17)).astype(kind)
        check(f'{kind.__name__} arithmetic', ((Tensor(n) * Tensor(m) + 7) // Tensor(m)).numpy(),
              (n * m + kind(7)) // m)
    check('casts', Tensor(a * 20).cast(dtypes.int8).cast(dtypes.double).numpy(),
          (a * 20).astype(np.int8).astype(np.float64))
    raise SystemExit(failed > 0)


main()
