# SPDX-License-Identifier: MIT
"""The pages that the test opens, and the places of things on them."""
import json
import os
import subprocess
import sys

import synthetic


class Pages:
    """Makes the pages in a temporary folder."""

    def __init__(self, root, programs, folder):
        self.folder, self.made = folder, {}
        self.program, self.tool, self.traced, self.runtime = programs
        self.layouts = json.loads(self.run('demo'))
        self.template = subprocess.run(
            [sys.executable, os.path.join(root, 'tools/gen/trace_page.py'),
             os.path.join(root, 'tools/cardless/page'), '--template'],
            check=True, capture_output=True, text=True).stdout

    def run(self, *arguments):
        return subprocess.run([self.program, *arguments], check=True, capture_output=True,
                              text=True).stdout

    def recorded_url(self, *arguments, program=None, options=()):
        """The page of a real run."""
        recorded, page = (os.path.join(self.folder, f'real.{end}') for end in ('cardless', 'html'))
        for command in (['run', '--diagnostics', 'off', '--trace', recorded, *options, '--',
                         program or self.traced, *arguments], ['trace', '--html', page, recorded]):
            subprocess.run([self.tool, *command], check=True)
        return 'file://' + page

    def url(self, kind):
        if kind not in self.made:
            self.made[kind] = os.path.join(self.folder, f'{kind}.html')
            text = json.dumps(synthetic.make(kind, self.layouts), ensure_ascii=False)
            with open(self.made[kind], 'w', encoding='utf-8') as f:
                f.write(self.template.replace('<!--DATA-->', text.replace('<', '\\u003c')))
        return 'file://' + self.made[kind]


def box(page, selector):
    """The middle of an element."""
    return page.evaluate(f"""(() => {{ const r = document.querySelector({json.dumps(selector)})
        .getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; }})()""")


def click_on(page, selector):
    page.click(*box(page, selector))


def place_of(page, kind, number):
    """The middle of the bar of a call or command on the screen."""
    return page.evaluate(f"""(() => {{
        const b = cardless.timeline.box_of(cardless.model.find('{kind}', {number}));
        const r = document.getElementById('timeline').getBoundingClientRect();
        return [r.x + (Math.max(b.x0, cardless.axis.gutter) + b.x1) / 2, r.y + b.y + b.height / 2];
    }})()""")


def place_of_memory(page, number):
    return page.evaluate(f"""(() => {{
        const b = cardless.space.box_of(cardless.model.find('memory', {number}).index);
        const r = document.getElementById('space').getBoundingClientRect();
        return [r.x + b.x0 + 3, r.y + (b.y0 + b.y1) / 2];
    }})()""")


def place_of_cell(page, picture, column, row):
    """The middle of a texel or byte on the screen, after cells were made large enough for that."""
    return page.evaluate(f"""(() => {{ const p = cardless.arrays.{picture};
        p.cell = Math.max(p.cell, 4);
        [p.left, p.top] = [{column} - 10, {row} - 10];
        const r = p.canvas.getBoundingClientRect(), c = p.canvas;
        return [r.x + c.clientLeft + p.x({column} + 0.5), r.y + c.clientTop + p.y({row} + 0.5)];
    }})()""")


def selected(page):
    return page.evaluate('cardless.selected ? cardless.selected.type + "-" + '
                         'cardless.model.id_of(cardless.selected) : null')


def text_of(page, selector):
    return page.evaluate(f'document.querySelector({json.dumps(selector)}).innerText')
