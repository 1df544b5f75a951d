# SPDX-License-Identifier: MIT
"""A small SVG canvas whose shapes carry the facts that they show.

Colours are classes, so that one file reads well on a light and on a dark page.
"""

import contextlib
from html import escape

COLOURS = {  # class: (light fill, light line, dark fill, dark line)
    'a': ('#ddf4ff', '#0969da', '#10314f', '#58a6ff'),
    'b': ('#fff1e5', '#bc4c00', '#4a2710', '#f0883e'),
    'c': ('#dafbe1', '#1a7f37', '#12381f', '#3fb950'),
    'd': ('#fbefff', '#8250df', '#35205a', '#bc8cff'),
    'bad': ('#ffebe9', '#cf222e', '#541b1b', '#ff7b72'),
    'gap': ('#f6f8fa', '#8c959f', '#161b22', '#6e7681'),
}


def style():
    def rules(ink, pale, first):
        colours = ''.join(
            f'.{name}{{fill:{c[first]};stroke:{c[first + 1]}}}'
            f'.edge-{name}{{stroke:{c[first + 1]}}}'
            for name, c in COLOURS.items()
        )
        return (
            f'text{{fill:{ink}}}.pale{{fill:{pale}}}.line{{stroke:{pale}}}'
            f'.wait{{stroke:{ink}}}#tip{{fill:{ink}}}{colours}'
        )

    return (
        'text{font:13px sans-serif;stroke:none}.code{font-family:monospace}.small{font-size:11px}'
        '.head{font-size:15px;font-weight:bold}.middle{text-anchor:middle}.end{text-anchor:end}'
        'rect,path{stroke-width:1.5}.line{fill:none}.wait{fill:none;stroke-width:2}'
        '.thick{stroke-width:3.5;fill:none}'
        '.dash{stroke-dasharray:5 4}'
        + rules('#1f2328', '#59636e', 0)
        + '@media(prefers-color-scheme:dark){'
        + rules('#e6edf3', '#9198a1', 2)
        + '}'
    )


class Drawing:
    def __init__(self, width, height, title, description):
        self.parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
            f'width="{width}" height="{height}" role="img" aria-label="{escape(title)}">',
            f'<title>{escape(title)}</title>',
            f'<desc>{escape(description)}</desc>',
            f'<style>{style()}</style>',
            '<defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" '
            'markerHeight="8" orient="auto-start-reverse"><path id="tip" d="M0 0 8 4 0 8z"/>'
            '</marker></defs>',
        ]

    @contextlib.contextmanager
    def fact(self, line):
        """The shapes made inside show this fact; the test looks it up again."""
        self.parts.append(f'<g data-fact="{escape(line)}">')
        yield
        self.parts.append('</g>')

    def rect(self, x, y, width, height, classes, radius=4):
        self.parts.append(
            f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" '
            f'rx="{radius}" class="{classes}"/>'
        )

    def text(self, x, y, string, classes=''):
        attribute = f' class="{classes}"' if classes else ''
        self.parts.append(f'<text x="{x:g}" y="{y:g}"{attribute}>{escape(str(string))}</text>')

    def path(self, points, classes='line', arrow=False):
        route = 'M' + ' '.join(f'{x:g} {y:g}' for x, y in points)
        tip = ' marker-end="url(#arrow)"' if arrow else ''
        self.parts.append(f'<path d="{route}" class="{classes}"{tip}/>')

    def curve(self, x1, y1, x2, y2, classes='line'):
        """An arrow from one shape's right side to another one's left side."""
        middle = (x1 + x2) / 2
        self.parts.append(
            f'<path d="M{x1:g} {y1:g}C{middle:g} {y1:g} {middle:g} {y2:g} {x2:g} {y2:g}" '
            f'class="{classes}" marker-end="url(#arrow)"/>'
        )

    def svg(self):
        return '\n'.join(self.parts + ['</svg>', ''])
