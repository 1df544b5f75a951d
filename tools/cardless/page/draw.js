// SPDX-License-Identifier: MIT
// Parts that the timeline and the address space both draw: ruler, grid, cursor, scroll bar,
// overview.
'use strict';

function draw_ruler(c, axis, width, height) {
    c.fillStyle = theme.panel;
    c.fillRect(0, 0, width, RULER_PX);
    c.fillStyle = theme.line;
    c.fillRect(0, RULER_PX - 1, width, 1);
    c.font = '11px system-ui, sans-serif';
    c.fillStyle = theme.soft;
    c.textAlign = 'right';
    c.fillText(axis.ordered ? 'order of events' : 'time', axis.gutter - 10, RULER_PX / 2);
    c.textAlign = 'left';
    let free = axis.gutter;
    for (const {x, text} of axis.ticks()) {
        if (x < axis.gutter - 1)
            continue;
        c.fillStyle = theme.line;
        c.fillRect(Math.round(x), RULER_PX - 6, 1, 6);
        const wide = c.measureText(text).width;
        if (x + 4 < free || x + 4 + wide > width)
            continue;
        c.fillStyle = theme.soft;
        c.fillText(text, x + 4, RULER_PX / 2);
        free = x + wide + 14;
    }
}

function draw_grid(c, axis, top, bottom) {
    c.fillStyle = theme.grid;
    for (const {x} of axis.ticks())
        if (x >= axis.gutter)
            c.fillRect(Math.round(x), top, 1, bottom - top);
    const end = axis.x_of_time(axis.model.end);
    if (end < axis.width) { // nothing was recorded after the end
        c.globalAlpha = 0.5;
        c.fillRect(end, top, axis.width - end, bottom - top);
        c.globalAlpha = 1;
    }
    const begin = axis.x(0);
    if (begin > axis.gutter) {
        c.globalAlpha = 0.5;
        c.fillRect(axis.gutter, top, begin - axis.gutter, bottom - top);
        c.globalAlpha = 1;
    }
}

// The line at the pointer, in both views, and the span that a drag chooses.
function draw_cursor(c, app, top, bottom) {
    if (app.span) {
        const [x0, x1] = [Math.min(...app.span), Math.max(...app.span)];
        c.fillStyle = theme.accent;
        c.globalAlpha = 0.16;
        c.fillRect(x0, top, x1 - x0, bottom - top);
        c.globalAlpha = 1;
        c.fillRect(x0, top, 1, bottom - top);
        c.fillRect(x1, top, 1, bottom - top);
    }
    if (app.cursor === null || app.cursor < app.axis.gutter)
        return;
    c.fillStyle = theme.faint;
    c.fillRect(Math.round(app.cursor), top, 1, bottom - top);
}

function draw_scrollbar(c, view, width, height, top) {
    const content = view.content_height;
    if (content <= height) {
        view.thumb = null;
        return;
    }
    const size = Math.max(24, height * height / content);
    const y = top + (height - size) * view.scroll / (content - height);
    view.thumb = {y, size, track: height - size, most: content - height};
    c.fillStyle = theme.faint;
    c.globalAlpha = 0.55;
    c.beginPath();
    c.roundRect(width - 9, y + 2, 6, size - 4, 3);
    c.fill();
    c.globalAlpha = 1;
}

// The whole run in one strip: how busy the host and the streams were, diagnostics, and the part
// that is in sight.
class Overview {
    constructor(app, canvas) {
        this.app = app;
        this.canvas = canvas;
    }

    x(position) {
        const {gutter, width, length} = this.app.axis;
        return gutter + position / length * (width - gutter - 6);
    }

    position_at(x) {
        const {gutter, width, length} = this.app.axis;
        return (x - gutter) / (width - gutter - 6) * length;
    }

    // The share of each column in which something ran, for each class of the table's rows.
    shares(table, classes, columns) {
        const {length} = this.app.axis, sums = new Float32Array(columns + 1);
        const shares = Array.from({length: classes}, () => new Float32Array(columns + 1));
        for (let i = 0; i < table.count; i++) {
            const a = table.from[i] / length * columns;
            const b = Math.min(Math.max(table.to[i] / length * columns, a + 0.05), columns);
            for (let column = Math.floor(a); column < b; column++) {
                const share = Math.min(b, column + 1) - Math.max(a, column);
                shares[classes > 1 ? table.class[i] : 0][column] += share;
                sums[column] += share;
            }
        }
        const most = sums.reduce((x, y) => Math.max(x, y), 1); // several lanes may be busy
        return {shares, sums, most};
    }

    // A bar for each column, with the classes above each other in their colours.
    draw_shares(c, {shares, sums, most}, colours, bottom, height) {
        sums.forEach((sum, column) => {
            let y = bottom;
            for (let i = 0; i < colours.length; i++) {
                const tall = shares[i][column] / sum * Math.max(sum / most * height, 1);
                if (!(tall > 0))
                    continue;
                c.fillStyle = colours[i];
                c.fillRect(column, y - tall, 1, tall);
                y -= tall;
            }
        });
    }

    // How busy the run was, in a picture of its own, because it rarely changes.
    draw_run(width, height) {
        const {axis, model} = this.app;
        const columns = Math.max(1, Math.floor(width - axis.gutter - 6)), half = (height - 6) / 2;
        const made = [columns, height, axis.ordered, theme.dark].join();
        if (this.made === made)
            return;
        this.made = made;
        this.run = this.run || document.createElement('canvas');
        this.run.width = columns;
        this.run.height = height;
        const c = this.run.getContext('2d');
        const kinds = COMMAND_KINDS.map(([, name]) => theme[name]);
        for (const [table, colours, top] of [[model.calls, [theme.call], 3],
            [model.commands, kinds, 3 + half]])
            this.draw_shares(c, this.shares(table, colours.length, columns), colours,
                top + half - 1, half - 1);
        c.fillStyle = theme.bad;
        for (const d of model.diagnostics)
            c.fillRect(axis.position(d.t) / axis.length * columns - 1, 0, 2, height);
    }

    draw() {
        const {context: c, width, height} = prepare_canvas(this.canvas), {app} = this;
        const {axis, model} = app;
        c.fillStyle = theme.raised;
        c.fillRect(0, 0, width, height);
        this.draw_run(width, height);
        c.drawImage(this.run, axis.gutter, 0);
        this.draw_window(c, height, width);
        c.font = app.small_font;
        c.textBaseline = 'middle';
        c.fillStyle = theme.soft;
        c.fillText('WHOLE RUN', 12, height / 2);
        c.textAlign = 'right';
        c.fillText(format_ns(model.duration), axis.gutter - 10, height / 2);
        c.textAlign = 'left';
    }

    draw_window(c, height, width) {
        const {axis} = this.app;
        const x0 = clamp(this.x(axis.first), axis.gutter, width - 6);
        const x1 = clamp(this.x(axis.end), x0 + 3, width - 2);
        c.fillStyle = theme.raised;
        c.globalAlpha = 0.7;
        c.fillRect(axis.gutter, 0, x0 - axis.gutter, height);
        c.fillRect(x1, 0, width - x1, height);
        c.globalAlpha = 1;
        c.strokeStyle = theme.accent;
        c.lineWidth = 1.5;
        c.beginPath();
        c.roundRect(x0, 1, x1 - x0, height - 2, 3);
        c.stroke();
        c.lineWidth = 1;
    }
}
