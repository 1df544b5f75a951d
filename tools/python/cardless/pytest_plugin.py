# SPDX-License-Identifier: MIT
"""A plugin for pytest: a test during which Cardless reports a mistake fails, and names it.

The driver appends its diagnostics to the file of CARDLESS_FINDINGS (docs/reference/reports.md).
`cardless run` names the file if it writes reports; otherwise the plugin makes one before any test
is imported. Each process with tests reads the lines that came during a test, and takes those of its
own process and of processes that the test has started, so it works with pytest-xdist.
"""
import fnmatch
import json
import os
import re
import tempfile

import pytest

VARIABLE = 'CARDLESS_FINDINGS'
WORDS = ('warning', 'error', 'never')
RANKS = {'portability': 1, 'undefined': 2, 'error': 2}


def pytest_addoption(parser):
    group = parser.getgroup('cardless', 'diagnostics of Cardless')
    group.addoption('--cardless-error-on', metavar='WHAT',
                    help='fail a test after: warning (any mistake of the catalogue), error (not '
                         'portability mistakes), never, or ids separated by commas')
    group.addoption('--cardless-allow', metavar='ID', action='append', default=[],
                    help='never fail a test because of this id; may be a pattern such as K*')
    parser.addini('cardless_error_on', 'the same as --cardless-error-on', default='warning')
    parser.addini('cardless_allow', 'ids that never fail a test', type='args', default=[])


def pytest_configure(config):
    config.addinivalue_line('markers', 'cardless_allow(id, ...): diagnostics of Cardless that this '
                                       'test may cause')
    plugin = Plugin(config)
    config.pluginmanager.register(plugin, 'cardless-diagnostics')


def catalogue():
    """The ids of the driver's diagnostics. Beside the plugin in the wheel, or in its sources."""
    here = os.path.dirname(os.path.abspath(__file__))
    for folder in (here, os.path.join(here, '..', '..', '..', 'emulator', 'core')):
        try:
            with open(os.path.join(folder, 'diagnostics.def'), encoding='utf-8') as file:
                return re.findall(r'^EM_DIAGNOSTIC\((\w+),', file.read(), re.MULTILINE)
        except OSError:
            continue
    raise pytest.UsageError('cardless: diagnostics.def, the list of diagnostics, is missing: '
                            'install the wheel again')


def check_error_on(value, name):
    if value in WORDS:
        return
    ids = catalogue()
    for part in value.split(','):
        if part not in ids:
            raise pytest.UsageError(f'cardless: {name} takes never, warning, error, or ids of '
                                    f"diagnostics separated by commas; '{part}' is not an id")


def check_allowed(patterns, name):
    ids = catalogue() if patterns else []
    for pattern in patterns:
        if not fnmatch.filter(ids, pattern):
            raise pytest.UsageError(f'cardless: {name} takes an id of a diagnostic, or a pattern '
                                    f"as K*; '{pattern}' is not an id and matches none")


class Plugin:
    def __init__(self, config):
        self.set_options(config)
        self.path, self.own = os.environ.get(VARIABLE), False
        if not self.path:
            handle, self.path = tempfile.mkstemp(prefix='cardless-pytest-')
            os.close(handle)
            self.own = True
            os.environ[VARIABLE] = self.path  # for this process and those that it starts
        self.at = 0
        self.read()

    def set_options(self, config):
        """Refuses a mistyped value, which would let every test pass."""
        option, setting = (config.getoption('--cardless-error-on'),
                           config.getini('cardless_error_on'))
        self.error_on = setting if option is None else option
        check_error_on(setting, 'cardless_error_on')
        check_error_on(self.error_on, '--cardless-error-on')
        self.allowed = []
        for patterns, name in ((config.getoption('--cardless-allow'), '--cardless-allow'),
                               (config.getini('cardless_allow'), 'cardless_allow')):
            check_allowed(patterns, name)
            self.allowed += patterns

    def read(self):
        """The complete lines that came since the last call, as objects."""
        try:
            with open(self.path, 'rb') as file:
                file.seek(self.at)
                data = file.read()
        except OSError:
            return []
        data = data[:data.rfind(b'\n') + 1]
        self.at += len(data)
        found = []
        for line in data.decode('utf-8', 'replace').splitlines():
            try:
                found.append(json.loads(line, strict=False))
            except ValueError:
                pass  # not a line of Cardless
        return [line for line in found if isinstance(line, dict)]

    def of_test(self, item):
        """The diagnostics of a test: of this process, or of one that the test has started."""
        return [f for f in self.read() if 'finding' in f and
                (f.get('pid') == os.getpid() or
                 f.get('test', '').rpartition(' (')[0] == item.nodeid)]

    def fails(self, finding, allowed):
        name = finding.get('id', '')
        if any(fnmatch.fnmatchcase(name, pattern) for pattern in allowed):
            return False
        if self.error_on in ('warning', 'error'):
            rank = 0 if name == 'GENERAL' else RANKS.get(finding.get('severity'), 2)
            return rank >= (1 if self.error_on == 'warning' else 2)
        return self.error_on != 'never' and name in self.error_on.split(',')

    def tell(self, nodeid):
        """For reports: the test that this process is in from now on."""
        if self.own:
            return
        line = json.dumps({'now in test': nodeid, 'pid': os.getpid()}, ensure_ascii=False) + '\n'
        try:
            with open(self.path, 'ab', buffering=0) as file:
                file.write(line.encode('utf-8', 'surrogateescape'))
        except (OSError, UnicodeError):
            pass

    def phase(self, item, outcome, when):
        """After a part of a test: fails it if there are diagnostics that are not allowed."""
        allowed = list(self.allowed)
        for mark in item.iter_markers('cardless_allow'):
            allowed += mark.args
        bad = [f for f in self.of_test(item) if self.fails(f, allowed)]
        if not bad:
            return
        text = describe(bad)
        if outcome.excinfo is not None:  # it has failed already
            item.add_report_section(when, 'Cardless', text)
            return
        try:
            pytest.fail(text, pytrace=False)
        except pytest.fail.Exception as failure:
            if hasattr(outcome, 'force_exception'):
                outcome.force_exception(failure)
            else:  # pluggy before 1.1
                outcome._excinfo = (type(failure), failure, failure.__traceback__)

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item):
        self.tell(item.nodeid)
        yield
        self.tell('')

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_setup(self, item):
        self.read()  # what came between tests belongs to none
        self.phase(item, (yield), 'setup')

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_call(self, item):
        self.phase(item, (yield), 'call')

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_teardown(self, item):
        self.phase(item, (yield), 'teardown')

    def pytest_unconfigure(self):
        if self.own:
            os.environ.pop(VARIABLE, None)
            os.unlink(self.path)


def describe(findings):
    """The text of a failure: each different diagnostic, with how often it came."""
    counts = {}
    for f in findings:
        name = f.get('id', '?')
        if name == 'GENERAL':
            text = f'{f.get("entry")} ({f.get("call")}): {f.get("result")}: {f.get("text")}'
        else:
            text = (f'[{name} {f.get("severity")}] {f.get("entry")} ({f.get("call")}): '
                    f'{f.get("result")}: {f.get("text")}\n    {f.get("title")}; {f.get("advice")}')
        key = (name, f.get('entry'), f.get('object'), f.get('offset'))
        first, count = counts.get(key, (text, 0))
        counts[key] = (first, count + 1)
    ids = sorted({f.get('id', '?') for f in findings})
    lines = [f'Cardless has reported {", ".join(ids)} during this test']
    for text, count in counts.values():
        lines.append(text + (f'\n    reported {count} times' if count > 1 else ''))
    return '\n'.join(lines)
