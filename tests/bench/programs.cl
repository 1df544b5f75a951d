// SPDX-License-Identifier: MIT
// The benchmark's kernels for OpenCL: the same work as those of programs.ptx.
#define ARGUMENTS global float *a, global float *b, global float *c, int n

kernel void saxpy(ARGUMENTS)
{
    const int i = get_global_id(0);
    if (i < n)
        c[i] = 1.5f * a[i] + b[i];
}

kernel void transpose(ARGUMENTS)
{
    local float tile[16][17];
    const int x = get_local_id(0), y = get_local_id(1);
    const int row = get_group_id(1) * 16, column = get_group_id(0) * 16;
    tile[y][x] = a[(row + y) * n + column + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    c[(column + y) * n + row + x] = tile[x][y];
}

kernel void multiply(ARGUMENTS)
{
    local float left[16][16], right[16][16];
    const int x = get_local_id(0), y = get_local_id(1);
    const int row = get_global_id(1), column = get_global_id(0);
    float sum = 0;
    for (int k = 0; k < n; k += 16) {
        left[y][x] = a[row * n + k + x];
        right[y][x] = b[(k + y) * n + column];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int i = 0; i < 16; i++)
            sum = fma(left[y][i], right[i][x], sum);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    c[row * n + column] = sum;
}

// Bodies have a position and a mass in a[4 i] to a[4 i + 3].
kernel void bodies(ARGUMENTS)
{
    local float4 tile[256];
    global const float4 *all = (global const float4 *)a;
    const int i = get_global_id(0), t = get_local_id(0);
    const float4 own = all[i];
    float x = 0, y = 0, z = 0;
    for (int k = 0; k < n; k += 256) {
        tile[t] = all[k + t];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int j = 0; j < 256; j++) {
            const float4 other = tile[j];
            const float dx = other.x - own.x, dy = other.y - own.y, dz = other.z - own.z;
            const float r = rsqrt(fma(dz, dz, fma(dy, dy, fma(dx, dx, 0.0078125f))));
            const float s = other.w * r * r * r;
            x = fma(dx, s, x);
            y = fma(dy, s, y);
            z = fma(dz, s, z);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    c[3 * i] = x;
    c[3 * i + 1] = y;
    c[3 * i + 2] = z;
}

kernel void reduce(ARGUMENTS)
{
    local float sums[256];
    const int t = get_local_id(0);
    sums[t] = a[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int half_count = 128; half_count > 0; half_count >>= 1) {
        if (t < half_count)
            sums[t] += sums[t + half_count];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (t == 0)
        c[get_group_id(0)] = sums[0];
}

kernel void count(ARGUMENTS)
{
    local unsigned bins[256];
    global const unsigned *words = (global const unsigned *)a;
    global unsigned *all = (global unsigned *)c;
    const int t = get_local_id(0);
    bins[t] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < 16; k++)
        atomic_inc(&bins[words[(get_group_id(0) * 16 + k) * 256 + t] >> 8 & 255]);
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_add(&all[t], bins[t]);
}

kernel void functions(ARGUMENTS)
{
    const int i = get_global_id(0);
    const float x = a[i];
    if (i < n)
        c[i] = native_sin(x) + native_exp2(x) * native_log2(x + 1) + native_sqrt(x);
}

// The number of steps of z = z^2 + p until it leaves a circle.
kernel void iterate(ARGUMENTS)
{
    const int column = get_global_id(0), row = get_global_id(1);
    const float px = column * 0.0078125f - 2.5f, py = row * 0.0078125f - 1;
    float x = 0, y = 0;
    int k = 0;
    for (; k < 128; k++) {
        const float xx = x * x, yy = y * y;
        if (xx + yy > 4)
            break;
        y = fma(2 * x, y, py);
        x = xx - yy + px;
    }
    c[row * n + column] = k;
}
