#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The page of `cardless trace --html`, in a headless Chromium: mouse, keyboard, search, the
arithmetic of layouts, pictures, colours, and the speed with 100,000 events.

  test_page.py ROOT LAYOUTS_PROGRAM CARDLESS TRACED [--update] [NAME…]

`--update` writes the pictures anew with which the test compares (pictures.txt)."""
import json
import os
import re
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from browser import Browser, find_browser
from letters import letters
from pages import (Pages, click_on, place_of, place_of_cell, place_of_memory, selected, text_of)

PICTURES = os.path.join(HERE, 'pictures.txt')
SKIP = 77
WIDTH, HEIGHT = 1280, 800
ALIKE = 0.9  # part of a picture's cells that must agree; fonts differ from machine to machine
failures = []


def expect(condition, text):
    if not condition:
        failures.append(text)
        print(f'not ok: {text}', flush=True)


def equal(found, wanted, text):
    expect(found == wanted, f'{text}: {found!r}, not {wanted!r}')


def test_layouts(page, pages):
    """Each texel is at the byte that device-model computes, and each byte finds its texel."""
    cases = json.loads(pages.run('400'))
    page.evaluate('window.hash_places = ' + """layout => {
        let hash = 2166136261;
        layout.levels.forEach((v, level) => {
            for (let z = 0; z < layout_depth(layout, level); z++)
                for (let y = 0; y < v.height_el; y++)
                    for (let x = 0; x < v.width_el; x++)
                        hash = Math.imul(hash ^ layout_locate(layout, level, x, y, z), 16777619);
        });
        return hash >>> 0;
    }""")
    page.evaluate('window.check_bytes = ' + """layout => {
        let elements = 0;
        layout.levels.forEach((v, level) =>
            elements += v.width_el * v.height_el * layout_depth(layout, level));
        const step = Math.max(1, Math.floor(layout.size_B / 300000));
        let found = 0;
        for (let at = 0; at < layout.size_B; at += step) {
            const p = layout_find(layout, at);
            if (!p || p.padding)
                continue;
            found++;
            if (layout_locate(layout, p.level, p.x_el, p.y, p.z) + p.byte !== at)
                return `byte ${at} is not where its texel is`;
        }
        return step === 1 && found !== elements * layout.element_B ?
            `${found} bytes belong to texels, not ${elements * layout.element_B}` : '';
    }""")
    whole = 0
    for number, case in enumerate(cases):
        text = json.dumps(case['layout'])
        equal(page.evaluate(f'hash_places({text})'), case['hash'],
              f'layout {number}, {case["layout"]["kind"]}: places of its elements')
        wrong = page.evaluate(f'check_bytes({text})')
        expect(not wrong, f'layout {number}, {case["layout"]["kind"]}: {wrong}')
        whole += case['layout']['size_B'] < 600000
    kinds = {case['layout']['kind'] for case in cases}
    equal(len(kinds), 4, 'kinds of layouts')
    print(f'{len(cases)} layouts, of {whole} each byte')


def test_click(page, pages):
    page.open(pages.url('demo'))
    page.click(*place_of(page, 'command', 5))
    equal(selected(page), 'command-5', 'a click on a kernel')
    expect('shade' in text_of(page, '#details'), 'the details name the kernel')
    expect('Waits for' in text_of(page, '#details') or 'WAITS FOR' in text_of(page, '#details'),
           'the details have the ordering')
    equal(page.evaluate('location.hash'), '#command-5', 'the address names the selection')
    click_on(page, '#details [data-item^="call-"]')
    equal(page.evaluate('cardless.model.name_of(cardless.selected)'), 'cuLaunchKernel',
          'a click on the link to its call')
    click_on(page, '#details [data-item^="command-"]')
    equal(selected(page), 'command-5', 'and the link back')
    click_on(page, '#back')
    click_on(page, '#back')
    equal(selected(page), 'command-5', 'back twice')
    click_on(page, '#forward')
    equal(page.evaluate('cardless.selected.type'), 'call', 'forward')
    click_on(page, '#unselect')
    equal(selected(page), None, 'nothing is selected')
    page.open(pages.url('demo') + '#memory-3')
    equal(selected(page), 'memory-3', 'an address that names memory')


def test_memory(page, pages):
    page.open(pages.url('demo'))
    page.click(*place_of_memory(page, 1))
    equal(selected(page), 'memory-1', 'a click on an import')
    details = text_of(page, '#details')
    expect('vertices' in details and 'indices' in details, 'the import lists its mappings')
    expect('copy #1' in details, 'the import lists the commands that use it through mappings')
    equal(page.evaluate('cardless.model.aliases_of(cardless.model.find("memory", 2).index)'
                        '.map(i => cardless.model.memory.id[i])'), [1, 3], 'aliases')
    page.move(*place_of(page, 'command', 1))
    expect('4 MiB host' in text_of(page, '#tip'), 'a tip beside the pointer')


def test_diagnostics(page, pages):
    page.open(pages.url('demo'))
    click_on(page, '#tab-diagnostics')
    fits = page.evaluate("""[...document.querySelectorAll('.diagnostic')].map(card => {
        const range = document.createRange();
        range.selectNodeContents(card.children[0]);
        return range.getBoundingClientRect().right <= card.children[1].getBoundingClientRect().left;
    })""")
    equal(fits, [True] * len(fits), 'ids end before their texts')
    equal(text_of(page, '.diagnostic:nth-child(2) strong'), 'GENERAL', 'an id longer than others')
    click_on(page, '.diagnostic:nth-child(3)')
    equal(page.evaluate('cardless.name = cardless.model.name_of(cardless.selected)'), 'S03',
          'a click on a diagnostic')
    inside = page.evaluate("""(() => { const x = cardless.axis.x_of_time(
        cardless.model.diagnostics[2].t); return x > cardless.axis.gutter && x < 950; })()""")
    expect(inside, 'its moment is in sight')
    click_on(page, '#details [data-item^="call-"]')
    equal(page.evaluate('cardless.model.name_of(cardless.selected)'), 'cuStreamSynchronize',
          'the call in which it was reported')
    page.key('f')
    flag = page.evaluate("""(() => { const f = cardless.timeline.flags[0],
        r = by_id('timeline').getBoundingClientRect();
        return [r.x + (f.x0 + f.x1) / 2, r.y + (f.y0 + f.y1) / 2]; })()""")
    page.click(*flag)
    equal(selected(page), 'diagnostic-0', 'a click on a flag of the timeline')


def test_array(page, pages):
    """Pointing at a texel shows its bytes; pointing at a byte shows its texel."""
    page.open(pages.url('demo'))
    page.key('2')
    page.evaluate('cardless.arrays.show(0, 0, 0)')
    page.settle()
    layout = pages.layouts[0]
    page.move(*place_of_cell(page, 'texels', 13, 5))
    said = text_of(page, '#array-place')
    # by hand: x = 52 bytes, y = 5: x5 1, y2 1, x4 1, y1y0 01, x3-x0 0100
    wanted = 0b1_1_1_01_0100
    expect(f'Texel (13, 5) of level 0, layer 0 is bytes {wanted:#x} to {wanted + 3:#x}' in said,
           f'the place of texel (13, 5): {said}')
    expect('GOB 0' in said, f'its GOB: {said}')
    page.evaluate('document.getElementById("row-choice").value = "256";'
                  'document.getElementById("row-choice").dispatchEvent(new Event("change"))')
    page.settle()
    page.move(*place_of_cell(page, 'bytes', wanted % 256, wanted // 256))
    said = text_of(page, '#array-place')
    expect('Texel (13, 5) of level 0, layer 0' in said, f'the texel of a byte: {said}')
    second = layout['levels'][0]['layer_stride_B'] * 2 + layout['levels'][1]['offset_B']
    page.move(*place_of_cell(page, 'bytes', second % 256, second // 256))
    said = text_of(page, '#array-place')
    expect('Texel (0, 0) of level 1, layer 2' in said, f'a byte of another level: {said}')
    page.click(*place_of_cell(page, 'bytes', second % 256, second // 256))
    equal(page.evaluate('[cardless.arrays.level, cardless.arrays.z]'), [1, 2],
          'a click on a byte shows its level and layer')
    page.evaluate('document.getElementById("texels").focus()')
    page.evaluate('cardless.arrays.point_at_texel(0, 0)')
    page.key('ArrowRight')
    page.key('ArrowDown')
    said = text_of(page, '#array-place')
    expect('Texel (1, 1) of level 1, layer 2' in said, f'arrow keys move over texels: {said}')


def test_search(page, pages):
    page.open(pages.url('demo'))
    page.key('/')
    equal(page.evaluate('document.activeElement.id'), 'search', 'the key of the search')
    page.type('cuLaunch shade')
    equal(text_of(page, '#search-count'), '3 found', 'launches')
    page.key('Enter')
    equal(page.evaluate('cardless.model.name_of(cardless.selected)'), 'cuLaunchKernel',
          'Enter selects the first')
    page.key('Enter')
    equal(text_of(page, '#search-count'), '2 of 3', 'Enter again')
    equal(page.evaluate('cardless.listed.length'), 3, 'the list of calls has only these')
    page.key('Escape')
    page.key('Escape')
    equal(page.evaluate('cardless.search.matches'), None, 'Escape ends the search')
    for query, wanted in (('is:failed', ['cuMemAlloc_v2']), ('nothing of this kind', []),
                          ('0xa0001000010', ['copy', 'copy', 'copy', 'mapping'])):
        page.evaluate(f'by_id("search").value = {json.dumps(query)}; cardless.search_panel.run()')
        found = page.evaluate('cardless.search.found.map(i => cardless.model.name_of(i))')
        equal(sorted(name.split(' ')[0] for name in found), wanted, f'the search "{query}"')
    equal(text_of(page, '#search-count'), '4 found', 'the count')


def test_keys(page, pages):
    page.open(pages.url('demo'))
    page.key('ArrowRight')
    equal(selected(page), 'call-1', 'an arrow selects the first call')
    page.key('ArrowRight')
    equal(selected(page), 'call-2', 'the next call')
    page.key('ArrowDown')
    equal(page.evaluate('cardless.selected.type'), 'call', 'a call of the next thread')
    page.key('ArrowDown')
    equal(page.evaluate('cardless.selected.type'), 'command', 'a command of the first stream')
    before = page.evaluate('cardless.axis.end - cardless.axis.first')
    page.key('Enter')
    after = page.evaluate('cardless.axis.end - cardless.axis.first')
    expect(after < before / 2, 'Enter enlarges the selected thing')
    page.key('f')
    whole = page.evaluate('(cardless.axis.end - cardless.axis.first) / cardless.axis.length')
    expect(whole >= 1, 'F shows the whole run')
    page.key('+')
    expect(page.evaluate('cardless.axis.end - cardless.axis.first') < before, '+ enlarges')
    page.key('o')
    expect(page.evaluate('cardless.axis.ordered'), 'O switches to the order of events')
    page.key('Escape')
    equal(selected(page), None, 'Escape')
    page.key('?')
    expect(page.evaluate('by_id("keys").open'), '? explains the keys')
    page.key('Escape')
    for number, tab in enumerate(('space', 'arrays', 'calls', 'diagnostics'), 1):
        page.key(str(number))
        equal(page.evaluate('cardless.tab'), tab, f'key {number}')


def test_mouse(page, pages):
    page.open(pages.url('demo'))
    x, y = place_of(page, 'command', 5)
    at = page.evaluate(f'cardless.axis.position_at({x})')
    page.wheel(x, y, -400)
    expect(page.evaluate('cardless.axis.end - cardless.axis.first') <
           page.evaluate('cardless.axis.length') * 0.7, 'the wheel enlarges')
    moved = abs(page.evaluate(f'cardless.axis.x({at})') - x)
    expect(moved < 1, f'what is below the pointer stays there, but it moved by {moved}')
    first = page.evaluate('cardless.axis.first')
    page.drag(x, y, x + 80, y)
    expect(page.evaluate('cardless.axis.first') < first, 'a drag moves')
    page.click(x, y, 2)
    page.key('f')
    page.drag(300, 137, 500, 137)
    span = page.evaluate('[cardless.axis.x(0) < cardless.axis.gutter, '
                         'cardless.axis.end < cardless.axis.length]')
    equal(span, [True, True], 'a drag on the ruler enlarges a span')
    page.key('f')
    chips = page.evaluate('document.querySelectorAll(".chip").length')
    expect(chips >= 8, f'{chips} filters')
    page.evaluate('[...document.querySelectorAll(".chip")].find(c => '
                  'c.innerText.startsWith("kernel")).click()')
    page.settle()
    equal(page.evaluate('cardless.timeline.hit('
                        '...(() => { const b = cardless.timeline.box_of(cardless.model.find('
                        '"command", 5)); return [(b.x0 + b.x1) / 2, b.y + 8]; })())'), None,
          'a filter hides kernels')


def test_large(page, pages):
    """100,000 events load and move; the times are printed, and limits are for slow machines."""
    page.open(pages.url('100000'))
    load = page.evaluate('cardless.load_ms')
    times = page.evaluate("""new Promise(done => {
        const times = [], {axis} = cardless;
        let count = 0, last = performance.now();
        const step = () => {
            const now = performance.now();
            times.push(now - last);
            last = now;
            if (count < 40) axis.zoom(0.93, axis.length * 0.37);
            else if (count < 80) axis.pan(20);
            else if (count < 120) axis.zoom(1 / 0.93, axis.length * 0.37);
            else return done(times.sort((x, y) => x - y));
            count++;
            requestAnimationFrame(step);
        };
        requestAnimationFrame(step);
    })""")
    page.evaluate('by_id("search").value = "stream=0x3"; cardless.search_panel.run()')
    found = page.evaluate('cardless.search.found.length')
    print(f'100,000 events: {load:.0f} ms until the page works, frames of {times[60]:.1f} ms '
          f'(median) and {times[114]:.1f} ms (95 %), search finds {found}')
    expect(load < 10000, f'the page takes {load:.0f} ms to load')
    expect(times[60] < 150, f'a frame takes {times[60]:.0f} ms')
    expect(found > 1000, f'the search finds {found}')


def test_recorded(page, pages):
    """A real run: its calls, an array, the diagnostic, and what a call waits for."""
    page.open(pages.recorded_url('threads'))
    calls = page.evaluate('cardless.model.calls.count')
    expect(calls > 12000, f'{calls} calls of five threads')
    equal(page.evaluate('cardless.timeline.lanes.filter(l => l.type === "calls").length'), 5,
          'lanes of threads')
    page.key('2')
    page.move(*place_of_cell(page, 'texels', 1, 0))
    said = text_of(page, '#array-place')
    expect('is bytes 0x4 to 0x7' in said, f'the place of texel (1, 0): {said}')
    page.key('4')
    click_on(page, '.diagnostic')
    click_on(page, '#details [data-item^="call-"]')
    expect('CUDA_ERROR_INVALID_VALUE' in text_of(page, '#details'), 'the result of a failed call')
    page.evaluate('cardless.select({type: "call", index: '
                  'cardless.model.calls.name.indexOf("cuStreamSynchronize")}, true)')
    expect('memcpy' in text_of(page, '#details'), 'the command that a call waits for')


def test_values(page, pages):
    """Pointing at a texel or a byte shows its value, if the recording has it."""
    page.open(pages.recorded_url('texels', options=('--trace-contents',)))
    page.key('2')
    page.evaluate('cardless.arrays.show(1)')
    page.settle()
    page.move(*place_of_cell(page, 'texels', 13, 5))
    said = text_of(page, '#array-value')
    expect('Its value when cuArrayDestroy (call ' in said, f'the moment of a value: {said}')
    expect('is (13, 5, 0, 255), bytes 0d 05 00 ff.' in said, f'the value of a texel: {said}')
    page.evaluate('cardless.arrays.show(2)')
    page.settle()
    page.move(*place_of_cell(page, 'texels', 13, 5))
    said = text_of(page, '#array-value')
    expect('Its value at the end of the run is 11.75, bytes 00 00 3c 41.' in said,
           f'the value of a number: {said}')
    page.evaluate('cardless.arrays.point_at_byte(3)')
    said = text_of(page, '#array-value')
    expect('is 0, bytes 00 00 00 00.' in said, f'the value at a byte: {said}')
    channels = """['unorm', 'snorm', 'sint', 'float'].map(kind => texel_channels(
        {texel: {kind, channel_B: 2, channels: 2}, layout: {element_B: 4}},
        new Uint8Array([0, 0x3c, 0, 0xfc]), 0).join())"""
    equal(page.evaluate(channels), [f'{0x3c00 / 65535},{0xfc00 / 65535}',
                                    f'{0x3c00 / 32767},{-1024 / 32767}', '15360,-1024',
                                    '1,-Infinity'], 'kinds of channels')
    page.open(pages.recorded_url('texels'))
    page.key('2')
    page.move(*place_of_cell(page, 'texels', 13, 5))
    equal(text_of(page, '#array-value'), '', 'a recording without contents')


def test_runtime(page, pages):
    """A real run of the CUDA runtime: kinds of calls, failed ones, and what a call is made of."""
    page.open(pages.recorded_url(program=pages.runtime))
    equal(page.evaluate('cardless.model.calls.name.filter('
                        '(_, i) => cardless.model.calls.failed[i])'),
          ['cudaFree', 'cuMemFree_v2'], 'failed calls')
    equal(page.evaluate('cardless.class_of_call(0)'), 'runtime', 'the kind of cudaMalloc')
    page.evaluate('cardless.select({type: "call", index: '
                  'cardless.model.calls.name.indexOf("cudaMemcpy3D")}, true)')
    said = text_of(page, '#details')
    expect('cuMemcpy3D_v2' in said and 'extent={width=8, height=4, depth=2}' in said,
           f'details of cudaMemcpy3D: {said}')
    equal(page.evaluate('cardless.model.memory.count'), 3, 'allocations without common bytes')


def test_empty(page, pages):
    page.open(pages.url('empty'))
    equal(page.evaluate('cardless.model.calls.count'), 0, 'calls of an empty trace')
    for number in '1234':
        page.key(number)
    page.key('ArrowRight')
    page.key('f')
    page.wheel(500, 200, -300)
    expect('Nothing was reported' in text_of(page, '#details'), 'the page says that it is empty')


def test_alone(page, pages):
    """The page asks for nothing from elsewhere."""
    expect(not re.search(r'(?:src|href)="(?!data:)|https?:|@import|url\(', pages.template),
           'the page refers to something else')
    page.open(pages.url('demo'))
    equal(page.evaluate('performance.getEntriesByType("resource").filter(e => '
                        '!e.name.startsWith("data:")).length'), 0, 'files that were loaded')


def luminance(colour):
    parts = [int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(a, b):
    light, dark = sorted((luminance(a), luminance(b)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_accessible(page, pages):
    """Contrast of texts is that of WCAG 2 AA, and all that takes the focus has a name."""
    page.open(pages.url('demo'))
    for name in ('light', 'dark'):
        page.evaluate(f'cardless.set_theme("{name}")')
        colours = page.evaluate('theme')
        for text, least in (('text', 7), ('soft', 4.5), ('bad', 4.5), ('faint', 3)):
            for ground in ('panel', 'raised', 'page'):
                found = contrast(colours[text], colours[ground])
                expect(found >= least, f'{name}: {text} on {ground} has contrast {found:.2f}')
        for ground in ('kernel', 'copy', 'fill', 'host', 'signal', 'wait', 'event', 'graph',
                       'graphics', 'other'):
            found = contrast(colours['on-colour'], colours[ground])
            expect(found >= 4.5, f'{name}: text on {ground} has contrast {found:.2f}')
    unnamed = page.evaluate("""[...document.querySelectorAll(
        'button, input, select, [tabindex]')].filter(e => !e.getAttribute('aria-label') &&
        !e.innerText && !(e.labels && e.labels.length)).map(e => e.id || e.className)""")
    equal(unnamed, [], 'elements without a name')
    page.send('Accessibility.enable')
    tree = page.send('Accessibility.getFullAXTree')['nodes']
    roles = {node.get('role', {}).get('value') for node in tree}
    for role in ('tablist', 'tab', 'search', 'application', 'complementary', 'slider'):
        expect(role in roles, f'the accessibility tree has no {role}')
    page.evaluate('cardless.select(cardless.model.find("call", 29))')
    expect('cuLaunchKernel' in text_of(page, '#said'), 'a selection is said')
    order = []
    page.evaluate('document.activeElement.blur()')
    for _ in range(40):
        page.key('Tab')
        order.append(page.evaluate('document.activeElement.id'))
    for name in ('search', 'timeline', 'divider', 'tab-space', 'space', 'unselect'):
        expect(name in order, f'the tabulator does not reach {name}')


def shrunk(page, columns, rows):
    """The page in letters, one for each of columns by rows cells."""
    png = page.screenshot_part({'x': 0, 'y': 0, 'width': WIDTH, 'height': HEIGHT,
                                'scale': columns / WIDTH})
    lines = letters(png)
    equal((len(lines[0]), len(lines)), (columns, rows), 'the extent of a picture')
    return lines


VIEWS = {
    'light': '',
    'dark': 'cardless.set_theme("dark")',
    'order': 'cardless.set_theme("light"); cardless.axis.set_ordered(true); cardless.axis.fit()',
    'array': 'cardless.show_tab("arrays"); cardless.arrays.point_at_texel(13, 5)',
}


def pictures(page, pages):
    page.open(pages.url('demo'))
    found = {}
    for name, script in VIEWS.items():
        page.evaluate(script or '0')
        page.settle()
        found[name] = shrunk(page, 64, 40)
    return found


def test_pictures(page, pages):
    """The page looks as it did, apart from letters and small shifts."""
    with open(PICTURES, encoding='utf-8') as f:
        parts = re.split(r'^(\w+)\n', f.read(), flags=re.M)[1:]
    wanted = {name: text.split('\n')[:40] for name, text in zip(parts[::2], parts[1::2])}
    for name, lines in pictures(page, pages).items():
        pairs = [(x, y) for line, other in zip(lines, wanted[name]) for x, y in zip(line, other)]
        alike = sum(x == y for x, y in pairs) / (64 * 40)
        print(f'picture {name}: {alike * 100:.1f} % of the cells agree')
        expect(alike >= ALIKE, f'the picture {name} has changed:\n' + '\n'.join(lines))


def main():
    root, program, tool, traced, runtime, *names = sys.argv[1:]
    if not find_browser():
        print('SKIPPED: no Chromium (Debian: chromium-headless-shell): the page is not tested')
        return SKIP
    update = '--update' in names
    names = [name for name in names if name != '--update']
    tests = {name[5:]: test for name, test in globals().items() if name.startswith('test_')}
    with tempfile.TemporaryDirectory(prefix='cardless-page-') as folder, \
            Browser(WIDTH, HEIGHT) as page:
        pages = Pages(root, (program, tool, traced, runtime), folder)
        page.open(pages.url('demo'))
        if update:
            with open(PICTURES, 'w', encoding='utf-8') as f:
                f.write('\n'.join('\n'.join([name, *lines]) for name, lines in
                                  pictures(page, pages).items()) + '\n')
            return 0
        for name, test in tests.items():
            if not names or name in names:
                print(f'-- {name}', flush=True)
                page.errors.clear()
                test(page, pages)
                equal(page.errors, [], f'{name}: errors of the page')
    print(f'{len(failures)} failures')
    return 1 if failures else 0


if __name__ == '__main__':
    sys.exit(main())
