# SPDX-License-Identifier: MIT
"""taichi compiles kernels to PTX with an LLVM of its own. numpy is the reference."""
import numpy as np
import taichi as ti

failed = 0


def check(name, got, want, tolerance=1e-4):
    global failed
    good = np.allclose(got, want, rtol=tolerance, atol=tolerance)
    failed += not good
    print('ok' if good else f'not ok (got {got}, want {want})', name)


ti.init(arch=ti.cuda, offline_cache=False, random_seed=1)
assert ti.cfg.arch == ti.cuda, ti.cfg.arch
COUNT = 3000
x = ti.field(ti.f32, COUNT)
histogram = ti.field(ti.i32, 16)
image = ti.field(ti.f32, (96, 64))
points = ti.Vector.field(3, ti.f32, COUNT)


@ti.kernel
def fill():
    for i in x:
        x[i] = ti.sin(i * 0.01) + ti.sqrt(ti.cast(i, ti.f32))


@ti.kernel
def total() -> ti.f32:
    s = 0.0
    for i in x:
        s += x[i]
    return s


@ti.kernel
def count():
    for i in range(COUNT):
        ti.atomic_add(histogram[(i * 7919) % 16], 1)


@ti.kernel
def mandelbrot():
    for i, j in image:
        c = ti.Vector([i / 48 - 1.5, j / 32 - 1.0])
        z = ti.Vector([0.0, 0.0])
        n = 0
        while z.norm_sqr() < 4 and n < 50:
            z = ti.Vector([z[0] * z[0] - z[1] * z[1], 2 * z[0] * z[1]]) + c
            n += 1
        image[i, j] = n


@ti.kernel
def rotate():
    for i in points:
        a = i * 0.001
        turn = ti.Matrix([[ti.cos(a), -ti.sin(a), 0], [ti.sin(a), ti.cos(a), 0], [0, 0, 1]])
        points[i] = turn @ ti.Vector([1.0, 2.0, 3.0])


@ti.kernel
def scale(a: ti.types.ndarray(), by: ti.f64):
    for i in range(a.shape[0]):
        a[i] = a[i] * by


def main():
    i = np.arange(COUNT)
    fill()
    want = np.sin(i * 0.01) + np.sqrt(i)
    check('fields', x.to_numpy(), want)
    check('reduction', total(), want.sum())
    count()
    check('atomics', histogram.to_numpy(), np.bincount(i * 7919 % 16, minlength=16))
    mandelbrot()
    c = (np.arange(96)[:, None] / 48 - 1.5) + 1j * (np.arange(64)[None, :] / 32 - 1.0)
    z, n = np.zeros_like(c), np.zeros(c.shape)
    for _ in range(50):
        inside = np.abs(z) < 2
        z[inside] = z[inside] ** 2 + c[inside]
        n[inside] += 1
    check('loops of different lengths', (image.to_numpy() != n).mean(), 0, 0.01)
    rotate()
    a = i * 0.001
    turned = np.stack([np.cos(a) - 2 * np.sin(a), np.sin(a) + 2 * np.cos(a), 3 + 0 * a], axis=1)
    check('vectors and matrices', points.to_numpy(), turned)
    b = np.linspace(0, 1, 100)
    twice = b.copy()
    scale(twice, 2.0)
    check('arrays of numpy', twice, b * 2)
    raise SystemExit(failed > 0)


main()
