#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Fuzzes the example's import layer with libFuzzer: each planted mistake is found, with the
diagnostic that it deserves, and the corrected layer survives as many runs.

    find_planted.py SOURCE_FOLDER BUILD_FOLDER

AFL++ finds one of them too, if it is installed. Skipped if clang or its libFuzzer is missing.
"""

import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

source, build = sys.argv[1:]
# Versions of libFuzzer draw different inputs from one seed.
SEEDS, MOST_RUNS = range(1, 11), 400000
# The part of the sentence that shows the mistake.
PLANTED = {
    1: r'\[M07\] cuImportExternalMemory: size',
    2: r'exceeds the imported size|offset .* exceeds',
    3: r'left: CUexternalMemory #',
    4: r'cuMem(Free_v2|setD8)',
    5: r'cuExternalMemoryGetMappedMipmappedArray: offset',
}


def skip(reason):
    print(f'skipped: {reason}')
    sys.exit(77)


def compile_target(plant, folder, compiler=('clang', '-fsanitize=fuzzer')):
    target = os.path.join(folder, f'fuzz_{plant}_{compiler[0]}')
    command = [*compiler, '-g1', '-O1', '-std=gnu11', '-D_GNU_SOURCE', f'-DPLANT={plant}',
               f'-I{build}/include', f'{source}/layer.c',
               f'{source}/fuzz_layer.c', f'-L{build}/lib', '-lcuda', f'-Wl,-rpath,{build}/lib',
               '-o', target]
    made = subprocess.run(command, capture_output=True, text=True, check=False)
    if made.returncode:
        if 'libclang_rt.fuzzer' in made.stderr:
            skip('clang has no libFuzzer (package libclang-rt-*-dev)')
        sys.exit(f'clang failed:\n{made.stderr}')
    return target


def fuzz(target, folder, runs, seed):
    command = [target, f'-seed={seed}', f'-runs={runs}', '-max_len=64', '-len_control=0',
               '-use_value_profile=1', '-rss_limit_mb=4096', '-print_final_stats=1',
               f'-artifact_prefix={folder}/']
    return subprocess.run(command, capture_output=True, text=True, errors='replace', check=False)


def fuzz_with_afl(folder):
    """Whether AFL++ finds one page too many in its persistent mode."""
    target = compile_target(2, folder, ('afl-clang-fast',))
    os.mkdir(f'{folder}/in')
    with open(f'{folder}/in/message', 'wb') as f:
        f.write(bytes([0, 0, 32, 0, 0, 0, 0, 0, 1, 0, 1, 0, 1, 0]))
    settings = {'AFL_NO_UI': '1', 'AFL_SKIP_CPUFREQ': '1', 'AFL_NO_AFFINITY': '1',
                'AFL_BENCH_UNTIL_CRASH': '1', 'AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES': '1'}
    subprocess.run(['afl-fuzz', '-i', f'{folder}/in', '-o', f'{folder}/out', '-s', str(SEEDS[0]),
                    '-V', '40', '-t', '1000', '-m', 'none', '--', target],
                   capture_output=True, check=False, env={**os.environ, **settings})
    found = glob.glob(f'{folder}/out/default/crashes/id:*')
    print(f'AFL++: {"found mistake 2" if found else "found nothing"}')
    return bool(found)


if not shutil.which('clang'):
    skip('there is no clang')
failures = 0
with tempfile.TemporaryDirectory() as folder:
    most = 0
    for plant, sentence in PLANTED.items():
        target = compile_target(plant, folder)
        count = 0
        for seed in SEEDS:
            r = fuzz(target, folder, MOST_RUNS, seed)
            said = re.search(r'cardless: fuzzing stops here: .*', r.stderr)
            runs = re.search(r'stat::number_of_executed_units: (\d+)', r.stderr)
            count += int(runs.group(1)) if runs else 0
            if r.returncode:
                break
        most = max(most, count)
        good = r.returncode != 0 and said and re.search(sentence, said.group(0))
        print(f'mistake {plant}: {count} runs: {said.group(0) if said else "not found"}')
        if not good:
            failures += 1
            print(r.stderr[-2000:])
    most = min(max(2 * most, 20000), MOST_RUNS)
    r = fuzz(compile_target(0, folder), folder, most, SEEDS[0])
    print(f'without mistakes: result {r.returncode} after {most} runs')
    if r.returncode:
        failures += 1
        print(r.stderr[-3000:])
    if shutil.which('afl-clang-fast') and shutil.which('afl-fuzz'):
        failures += not fuzz_with_afl(folder)
    else:
        print('AFL++: not tested, because it is not installed')
sys.exit(failures)
