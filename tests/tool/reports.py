#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`cardless run` with reports, exit codes and suppressions: what it writes about a program that
makes mistakes, is killed, has children, or has names that are not UTF-8.

The SARIF files are also checked against the official schema if the environment variable
SARIF_SCHEMA names it and Python has jsonschema.

  reports.py CARDLESS PROGRAM SOURCE PROGRAM_DWARF_4
"""
import json
import os
import random
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree

TOOL, PROGRAM, SOURCE, PROGRAM_4 = sys.argv[1:5]
with open(SOURCE, encoding='utf-8') as source:
    LINES = source.read().split('\n')
FOLDER = tempfile.TemporaryDirectory()
os.environ['TMPDIR'] = FOLDER.name
JUNIT, SARIF, RULES = (os.path.join(FOLDER.name, n) for n in ('r.xml', 'r.sarif', 'rules'))


def line_of(text):
    return 1 + next(i for i, line in enumerate(LINES) if text in line)


def run(*arguments, program=PROGRAM, options=(), code=0):
    r = subprocess.run([TOOL, 'run', *options, '--', program, *arguments], capture_output=True,
                       timeout=60)
    assert r.returncode == code, (arguments, options, code, r)
    left = [n for n in os.listdir(FOLDER.name) if n.startswith('cardless-')]
    assert not left, left
    return r.stderr.decode('utf-8', 'replace')


# What the standard requires of the objects that we write: their required properties, those that
# are allowed, and the values of enumerations (SARIF 2.1.0, the sections in comments).
OBJECTS = {
    'log': ({'version', 'runs'}, {'$schema'}),                                           # 3.13
    'run': ({'tool', 'results'}, {'columnKind', 'originalUriBaseIds', 'invocations'}),   # 3.14
    'driver': ({'name'}, {'version', 'rules'}),                                          # 3.19
    'rule': ({'id'}, {'shortDescription', 'defaultConfiguration', 'help', 'helpUri'}),   # 3.49
    'invocation': ({'executionSuccessful'}, {'arguments', 'exitCode', 'exitSignalName',  # 3.20
                                             'exitSignalNumber', 'startTimeUtc', 'endTimeUtc',
                                             'executableLocation'}),
    'result': ({'message'}, {'ruleId', 'ruleIndex', 'level', 'locations', 'occurrenceCount',  # 3.27
                             'partialFingerprints', 'suppressions', 'properties'}),
    'suppression': ({'kind'}, {'justification'}),                                        # 3.35
    'location': (set(), {'physicalLocation', 'logicalLocations'}),                       # 3.28
}


def expect_object(kind, value):
    required, allowed = OBJECTS[kind]
    assert required <= set(value) <= required | allowed, (kind, sorted(value))


def check_location(location):
    expect_object('location', location)
    artifact = location['physicalLocation']['artifactLocation']
    uri = artifact['uri']
    assert re.fullmatch(r"(file://)?[\w/.~@+%-]+", uri, re.A), uri
    assert uri.startswith('file:///') != (artifact.get('uriBaseId') == 'SRCROOT'), artifact
    assert location['physicalLocation'].get('region', {'startLine': 1})['startLine'] >= 1


def check_sarif(text):
    log = json.loads(text)
    expect_object('log', log)
    assert log['version'] == '2.1.0' and len(log['runs']) == 1
    it = log['runs'][0]
    expect_object('run', it)
    expect_object('driver', it['tool']['driver'])
    rules = it['tool']['driver']['rules']
    ids = [rule['id'] for rule in rules]
    assert len(set(ids)) == len(ids)
    for rule in rules:
        expect_object('rule', rule)
        assert rule['defaultConfiguration']['level'] in ('none', 'note', 'warning', 'error')
        assert rule['shortDescription']['text'] and rule['help']['text']
    for invocation in it['invocations']:
        expect_object('invocation', invocation)
        for key in ('startTimeUtc', 'endTimeUtc'):
            assert re.fullmatch(r'\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ', invocation[key])
    assert it['originalUriBaseIds']['SRCROOT']['uri'].endswith('/')
    prints = [r['partialFingerprints']['cardless/v1'] for r in it['results']]
    assert len(set(prints)) == len(prints), prints
    for result in it['results']:
        expect_object('result', result)
        assert ids[result['ruleIndex']] == result['ruleId'] and result['message']['text']
        assert result['level'] in ('none', 'note', 'warning', 'error')
        assert result['occurrenceCount'] >= 1
        for suppression in result.get('suppressions', ()):
            expect_object('suppression', suppression)
            assert suppression['kind'] in ('inSource', 'external')
        for location in result['locations']:
            check_location(location)
    if os.environ.get('SARIF_SCHEMA'):
        import jsonschema
        with open(os.environ['SARIF_SCHEMA'], encoding='utf-8') as f:
            jsonschema.validate(log, json.load(f))
    return it


def check_junit(path):
    suites = xml.etree.ElementTree.parse(path).getroot()
    assert suites.tag == 'testsuites' and [s.tag for s in suites] == ['testsuite']
    suite = suites[0]
    cases = list(suite)
    count = {kind: len(suite.findall('testcase/' + kind))
             for kind in ('failure', 'error', 'skipped')}
    for it in (suites, suite):
        assert int(it.get('tests')) == len(cases)
        assert int(it.get('failures')) == count['failure']
        assert int(it.get('errors')) == count['error']
        assert int(it.get('skipped')) == count['skipped']
        float(it.get('time'))
    for case in cases:
        assert case.tag == 'testcase' and case.get('name') and case.get('classname')
        assert len(case) <= 1
    names = [case.get('name') for case in cases]
    assert len(cases) == len({(c.get('name'), c.get('classname')) for c in cases}), names
    return cases


def reports(*arguments, options=(), program=PROGRAM, code=0):
    run(*arguments, program=program, code=code,
        options=(f'--report=junit:{JUNIT}', f'--report=sarif:{SARIF}', *options))
    with open(SARIF, encoding='utf-8') as f:
        return check_junit(JUNIT), check_sarif(f.read())


def write_rules(text):
    with open(RULES, 'w', encoding='utf-8') as f:
        f.write(text)
    return f'--suppressions={RULES}'


def places():
    """Each diagnostic names its line, also one of the runtime, and one that a child makes."""
    cases, it = reports('child', 'runtime', 'surface', 'kernel')
    found = {r['ruleId'] + ' ' + r['message']['text'].split(':')[0]: r for r in it['results']}
    expected = {'B01 cuExternalMemoryGetMappedBuffer': ('the line of B01', 'map_too_much', 'error'),
                'GENERAL cudaFree': ('the line of the runtime', 'main', 'note'),
                'I08 cuSurfObjectCreate': ('cuSurfObjectCreate(&', 'write_without_flag', 'warning'),
                'GENERAL cuCtxSynchronize': ('cuCtxSynchronize();', 'launch', 'note')}
    for name, (text, function, level) in expected.items():
        location = found[name]['locations'][0]
        physical = location['physicalLocation']
        assert physical['artifactLocation']['uri'].endswith('tests/tool/reported.c'), location
        assert physical['region']['startLine'] == line_of(text), (name, location)
        assert location['logicalLocations'][0]['fullyQualifiedName'] == function, location
        assert found[name]['level'] == level, found[name]
    processes = {r['properties']['process'] for r in it['results']}
    assert len(processes) == 2, processes
    assert it['invocations'][0]['exitCode'] == 0 and it['invocations'][0]['executionSuccessful']
    failed = {c.get('name').split()[0] for c in cases if c.find('failure') is not None}
    assert failed == {'[B01]', '[I08]', '[K01]'}, failed  # errors without an id may be expected
    [case] = [c for c in cases if c.get('name').startswith('[B01]')]
    assert case.get('file').endswith('reported.c') and int(case.get('line')) == line_of('of B01')
    assert 'keep offset + size within' in case[0].text and '#b01' in case[0].text
    kept = [r['partialFingerprints'] for r in it['results']]
    assert kept == [r['partialFingerprints'] for r in reports('child', 'runtime', 'surface',
                                                              'kernel')[1]['results']]


def line_tables(data):
    """Where .debug_line is in the bytes of an ELF file: its first byte and the one after it."""
    table, size, count, names = (struct.unpack_from(f, data, at)[0]
                                 for f, at in (('<Q', 40), ('<H', 58), ('<H', 60), ('<H', 62)))
    sections = [struct.unpack_from('<IIQQQQ', data, table + i * size) for i in range(count)]
    for name, _, _, _, offset, length in sections:
        at = sections[names][4] + name
        if data[at:data.index(b'\0', at)] == b'.debug_line':
            return offset, offset + length
    return None


def debug_information():
    """DWARF 4 gives the same lines, and damaged tables do no harm."""
    _, it = reports('map', program=PROGRAM_4)
    physical = it['results'][0]['locations'][0]['physicalLocation']
    assert physical['artifactLocation']['uri'].endswith('reported.c'), physical
    assert physical['region']['startLine'] == line_of('the line of B01'), physical
    damaged = os.path.join(FOLDER.name, 'damaged')
    shutil.copy(PROGRAM, damaged)
    with open(PROGRAM, 'rb') as file:
        data = file.read()
    begin, end = line_tables(data)
    for seed in range(12):
        some = random.Random(seed)
        changed = bytearray(data)
        for _ in range(1 + 5 * seed):
            changed[some.randrange(begin, end)] = some.choice((0, 0x7f, 0x80, 0xff))
        with open(damaged, 'wb') as file:
            file.write(changed)
        _, it = reports('map', program=damaged)
        [location] = it['results'][0]['locations']
        assert location['logicalLocations'][0]['fullyQualifiedName'] == 'map_too_much', location


def exit_codes():
    """--error-on changes the code of a program that succeeds, and of no other."""
    for on, arguments, code in (
            ('never', ['map'], 0), ('error', ['map'], 66), ('warning', ['map'], 66),
            ('error', ['surface'], 0), ('warning', ['surface'], 66), ('warning', ['runtime'], 0),
            ('GENERAL', ['runtime'], 66), ('B02,I08', ['map'], 0), ('B01,I08', ['map'], 66),
            ('warning', [], 0), ('error', ['map', 'exit5'], 5), ('error', ['child'], 66)):
        err = run(*arguments, options=(f'--error-on={on}',), code=code)
        assert ('--error-on: 1 diagnostic makes the run fail' in err) == (code == 66), err
    run('map', options=('--error-on=error', f'--report=junit:{JUNIT}'), code=66)
    assert run('map') == run('map', options=('--error-on', 'B02')), 'the messages stay'
    run(program='/nonexistent', options=('--error-on=error',), code=127)
    run(program='/etc', options=('--error-on=error',), code=126)
    for wrong, says in ((['--error-on=bogus'], "'bogus' is not an id"),
                        (['--error-on=B01,'], "'' is not an id"),
                        (['--report=html:x'], 'junit:FILE or sarif:FILE, not html:x'),
                        (['--report=junit:'], 'junit:FILE or sarif:FILE'),
                        (['--suppressions=/nonexistent'], 'cannot read /nonexistent')):
        assert says in run(options=wrong, code=2), wrong


def hiding():
    """Rules hide by id and call site, also the text on standard error."""
    for rule, matches in (('B01', True), ('B*', True), ('B01 function:map_*', True),
                          ('B01 function:other', False), ('B01 file:reported.c', True),
                          ('B01 file:*/tool/*', True), ('B01 file:tool', False),
                          ('B01 object:*/reported', True), ('B01 object:reported', True),
                          ('B01 object:*.so', False), ('B01 entry:cuExternal*', True),
                          ('B01 entry:cuMem*', False), ('I08', False),
                          ('B01 entry:cuExternal* function:map_too_much file:*.c', True)):
        options = [write_rules(f'# a comment\n\n  {rule}  # and why\n'), '--error-on=error']
        err = run('map', options=options, code=0 if matches else 66)
        assert ('[B01 error]' in err) != matches, (rule, err)
    unused = run('map', options=[write_rules('B01\nI08 file:x\n'), '--unused-suppressions'])
    assert unused == f'cardless: unused suppression at {RULES}:2: I08 file:x\n', unused
    cases, it = reports('map', options=[write_rules('B01')])
    [case] = [c for c in cases if c.get('name').startswith('[B01]')]
    assert case[0].tag == 'skipped' and f'{RULES}:1' in case[0].get('message')
    assert it['results'][0]['suppressions'][0]['justification'] == f'{RULES}:1'
    shown = run('many', 'map', options=[write_rules('I08')])
    assert shown.count('cuMemFree') == 8 and 'will not be shown' in shown, shown
    assert 'in map_too_much' in shown and shown.count('reported.c:') == 9, shown
    for wrong in ('X99', 'B01 function', 'B01 colour:x', 'B01 file:a file:b'):
        err = run(options=[write_rules('I08\n' + wrong)], code=2)
        assert err.startswith(f'cardless: {RULES}:2: '), err


def ends():
    """A program that a signal ends takes the tool with it, and the report is complete."""
    for number in (signal.SIGKILL, signal.SIGSEGV, signal.SIGTERM):
        cases, it = reports('map', f'signal{int(number)}', code=-number)
        assert cases[0].find('error').get('message').startswith(number.name)
        assert it['invocations'][0]['exitSignalName'] == number.name
        assert not it['invocations'][0]['executionSuccessful']
        assert [r['ruleId'] for r in it['results']] == ['B01']
    cases, _ = reports('map', 'exit3', code=3)
    assert cases[0].find('failure').get('message') == 'exit code 3'
    # A signal to the tool goes to the program.
    with subprocess.Popen([TOOL, 'run', f'--report=junit:{JUNIT}', '--', PROGRAM, 'map', 'sleep'],
                          stderr=subprocess.PIPE) as tool:
        assert b'[B01 error]' in tool.stderr.readline()
        tool.send_signal(signal.SIGTERM)
        assert tool.wait(10) == -signal.SIGTERM
    check_junit(JUNIT)
    # If the tool is killed, so is the program: the other end of the pipe closes.
    with subprocess.Popen([TOOL, 'run', f'--report=junit:{JUNIT}', '--', PROGRAM, 'map', 'sleep'],
                          stderr=subprocess.PIPE) as tool:
        assert b'[B01 error]' in tool.stderr.readline()
        begin = time.monotonic()
        tool.kill()
        tool.stderr.read()
        assert time.monotonic() - begin < 10
    for name in os.listdir(FOLDER.name):
        if name.startswith('cardless-'):
            shutil.rmtree(os.path.join(FOLDER.name, name))


def texts():
    """Names that are no UTF-8 or need escapes, thousands of diagnostics, files that fail."""
    program = os.fsencode(FOLDER.name) + b'/a \xff & <b>'
    shutil.copy(PROGRAM, program)
    cases, it = reports('name', program=program)
    assert '\ufffd <file> & ' in it['results'][0]['message']['text'], it['results']
    assert '<file> & ' in cases[1][0].text and '& <b>' in cases[0].get('name')
    os.remove(program)
    # After 10,000, only powers of two are written.
    _, it = reports('many')
    assert [r['occurrenceCount'] for r in it['results']] == [10000], it['results']
    # Without debug information and symbols, the object stands for the file.
    stripped = os.path.join(FOLDER.name, 'stripped')
    subprocess.run(['strip', '-o', stripped, PROGRAM], check=True)
    cases, it = reports('map', program=stripped)
    physical = it['results'][0]['locations'][0]['physicalLocation']
    assert physical['artifactLocation']['uri'] == 'file://' + stripped and 'region' not in physical
    assert 'cannot write /nonexistent/x' in run(options=('--report=junit:/nonexistent/x',),
                                                code=126)
    assert 'cannot write /dev/full' in run(options=('--report=junit:/dev/full',), code=126)
    assert 'cannot write /dev/full' in run('exit4', options=('--report=sarif:/dev/full',), code=4)
    # A program without CUDA has one test case.
    cases, it = reports(program='/bin/true')
    assert len(cases) == 1 and not it['results']


for test in (places, debug_information, exit_codes, hiding, ends, texts):
    test()
    print(f'{test.__name__}: {test.__doc__}')
FOLDER.cleanup()
