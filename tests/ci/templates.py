#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The files that users' CI reads: the action for GitHub, the template for GitLab and the container
file. Runs the commands of the first two with a `tools/setup_ci` that installs nothing, because the
program is built, and checks that the container installs all packages of tools/setup.sh.

Reading the YAML needs Python's yaml (Debian: python3-yaml).

  templates.py ROOT CARDLESS PROGRAM
"""
import os
import re
import subprocess
import sys
import tempfile

ROOT, CARDLESS, PROGRAM = (os.path.abspath(p) for p in sys.argv[1:4])


def read(*path):
    with open(os.path.join(ROOT, *path), encoding='utf-8') as file:
        return file.read()


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'w', encoding='utf-8') as file:
        file.write(text)
    os.chmod(path, 0o755)


def bash(script, folder, code=0, **variables):
    r = subprocess.run(['bash', '-eo', 'pipefail', '-c', script], cwd=folder, text=True, timeout=60,
                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
                       env={**os.environ, **variables})
    assert r.returncode == code, (script, variables, r)
    return r.stdout


def stand_in(folder):
    """A tools/setup_ci that says what it is asked for."""
    write(os.path.join(folder, 'tools', 'setup_ci'),
          f'#!/bin/sh\necho "$@" >>{folder}/asked\necho {os.path.dirname(CARDLESS)}\n')


def asked(folder):
    with open(os.path.join(folder, 'asked'), encoding='utf-8') as file:
        return file.read().splitlines()


def action(yaml, folder):
    it = yaml.safe_load(read('action.yml'))
    assert it['runs']['using'] == 'composite' and it['name'] and it['description']
    steps = it['runs']['steps']
    assert all('shell' in step for step in steps if 'run' in step)
    assert all('description' in value and 'default' in value for value in it['inputs'].values())
    # Texts of users reach the commands in variables, never as a part of a command.
    assert not any('${{' in step['run'] for step in steps if 'run' in step)
    used = {name for step in steps for value in [*step.get('env', {}).values(), step.get('if', ''),
            step.get('working-directory', '')] for name in re.findall(r'inputs\.([\w-]+)', value)}
    assert used == set(it['inputs']), used ^ set(it['inputs'])
    stand_in(folder)
    output, path = os.path.join(folder, 'output'), os.path.join(folder, 'path')
    bash(steps[0]['run'], folder, ACTION=folder, GITHUB_OUTPUT=output)
    assert re.fullmatch(r'hash=[0-9a-f]{64}\n', open(output, encoding='utf-8').read())
    for vulkan in ('true', 'false'):
        bash(steps[2]['run'], folder, ACTION=folder, FOLDER='here', VULKAN=vulkan, GITHUB_PATH=path)
    assert asked(folder) == ['here', '--no-vulkan here'], asked(folder)
    with open(path, encoding='utf-8') as file:
        found = file.read().splitlines()
    assert found == 2 * [os.path.dirname(CARDLESS)], found
    defaults = {name.upper().replace('-', '_'): value['default']
                for name, value in it['inputs'].items()}
    variables = {**defaults, 'PATH': f'{found[0]}:{os.environ["PATH"]}'}

    def run(code, **changes):
        return bash(steps[3]['run'], folder, code, **{**variables, **changes})
    run(0, COMMAND=f'"{PROGRAM}" surface', ERROR_ON='error')
    run(66, COMMAND=f'cd / && "{PROGRAM}" map | cat')
    run(5, COMMAND=f'"{PROGRAM}" map exit5')
    write(folder + '/rules', 'B01\n')
    said = run(0, COMMAND=f'"{PROGRAM}" map', SUPPRESSIONS='rules', JUNIT='a b.xml',
               SARIF='c.sarif', OPTIONS='--diagnostics text --unused-suppressions')
    assert not said, said
    assert {'a b.xml', 'c.sarif'} <= set(os.listdir(folder))


def template(yaml, folder):
    [job] = yaml.safe_load(read('templates', 'cardless.gitlab-ci.yml')).values()
    stand_in(os.path.join(folder, 'cardless'))
    variables = {name: str(value) for name, value in job['variables'].items()}
    script = '\n'.join(job['before_script'])
    bash(f'{script}\ncardless run --error-on=error -- "{PROGRAM}" map', folder, 66, **variables)
    bash(script, folder, **{**variables, 'CARDLESS_SETUP': '--no-vulkan'})
    assert asked(folder + '/cardless') == ['.cardless', '--no-vulkan .cardless']
    assert job['artifacts']['reports']['junit'] in job['artifacts']['paths']


def container():
    text = read('Containerfile').replace('\\\n', ' ')
    first = text[:text.index('\nFROM', text.index('FROM') + 1)]
    needed = re.search(r'^build_packages=\(([^)]*)\)', read('tools', 'setup.sh'), re.M)[1].split()
    missing = [p for p in needed if not re.search(rf' {re.escape(p)}( |$)', first, re.M)]
    assert not missing, missing
    for command in re.findall(r'^RUN (.*)', text, re.M):
        subprocess.run(['bash', '-n', '-c', command], check=True)
    for path in re.findall(r'\b(tools/\w+)', text):
        assert os.access(os.path.join(ROOT, path), os.X_OK), path


container()
print('Containerfile: packages and commands')
try:
    import yaml as yaml_module
except ImportError:
    print('NOT TESTED, yaml of Python is missing: the action and the template')
    sys.exit()
for test in (action, template):
    with tempfile.TemporaryDirectory() as made:
        test(yaml_module, made)
    print(f'{test.__name__}: its commands run')
