// SPDX-License-Identifier: MIT
// The timeline: lanes of host threads, streams, semaphores and graphics resources, with arrows for
// ordering. Only what is in sight is drawn; what is narrower than a pixel is drawn together.
'use strict';

const RULER_PX = 26, ROW_PX = 18, HEADING_PX = 20, FLAGS_PX = 20, ARROWS_MOST = 500;

class Timeline {
    constructor(app, canvas) {
        this.app = app;
        this.canvas = canvas;
        this.axis = app.axis;
        this.scroll = 0;
        this.lanes = this.make_lanes();
        this.place_lanes();
    }

    make_lanes() {
        const {model} = this.app, lanes = [];
        if (model.diagnostics.length)
            lanes.push({type: 'diagnostics', name: 'Diagnostics', rows: 1, height: FLAGS_PX + 6});
        lanes.push({type: 'heading', name: 'Host threads'});
        model.threads.forEach((thread, index) => {
            const items = model.calls_of_thread.get(thread.id) || [];
            const rows = items.reduce((most, i) => Math.max(most, model.calls.depth[i] + 1), 1);
            lanes.push({type: 'calls', name: thread.name, item: {type: 'thread', index}, rows,
                items: this.sort_items(items, model.calls.start), note: 'calls'});
        });
        if (model.streams.length)
            lanes.push({type: 'heading', name: 'Streams'});
        model.streams.forEach((stream, index) => {
            const items = model.commands_of_stream.get(stream.id) || [];
            lanes.push({type: 'commands', name: stream.name, item: {type: 'stream', index},
                rows: 1, items: this.sort_items(items, model.commands.start), note: 'commands'});
        });
        this.add_objects(lanes, 'semaphore', 'Semaphores');
        this.add_objects(lanes, 'graphics', 'Graphics');
        return lanes;
    }

    add_objects(lanes, kind, title) {
        const {model} = this.app, found = model.objects.filter(o => o.kind.startsWith(kind));
        if (found.length)
            lanes.push({type: 'heading', name: title});
        for (const object of found) {
            const index = model.objects.indexOf(object);
            const items = model.commands_of_object.get(object.id) || [];
            lanes.push({type: kind, name: object.name, item: {type: 'object', index}, rows: 1,
                items: this.sort_items(items, model.commands.start), note: 'uses'});
        }
    }

    sort_items(items, start) {
        const sorted = items.every((item, i) => !i || start[items[i - 1]] <= start[item]);
        const made = Uint32Array.from(items);
        return sorted ? made : made.sort((x, y) => start[x] - start[y] || x - y);
    }

    place_lanes() {
        let y = 4;
        this.lane_of = new Map();
        for (const lane of this.lanes) {
            lane.y = y;
            lane.height = lane.height ||
                (lane.type === 'heading' ? HEADING_PX : lane.rows * ROW_PX + 8);
            y += lane.height;
            if (lane.item)
                this.lane_of.set(key_of(lane.item), lane);
        }
        this.content_height = y + 6;
    }

    // The place of a call or command, in pixels: {x0, x1, y, height}, or null if it has no lane.
    box_of({type, index}) {
        const {model} = this.app;
        const table = type === 'call' ? model.calls : model.commands;
        const lane = type === 'call' ?
            this.lane_of.get(`thread-${model.thread_by_id.get(table.thread[index])}`) :
            this.lane_of.get(`stream-${model.stream_by_id.get(table.stream[index])}`);
        if (!lane || (type !== 'call' && type !== 'command'))
            return null;
        const row = type === 'call' ? table.depth[index] : 0;
        return {x0: this.axis.x(table.from[index]), x1: this.axis.x(table.to[index]),
            y: RULER_PX + lane.y - this.scroll + 4 + row * ROW_PX, height: ROW_PX - 2};
    }

    draw() {
        const {context: c, width, height} = prepare_canvas(this.canvas);
        this.width = width;
        this.height = height;
        this.scroll = clamp(this.scroll, 0,
            Math.max(0, this.content_height + RULER_PX - height));
        c.fillStyle = theme.panel;
        c.fillRect(0, 0, width, height);
        c.textBaseline = 'middle';
        this.draw_lanes(c);
        c.save();
        c.beginPath();
        c.rect(this.axis.gutter, RULER_PX, width - this.axis.gutter, height - RULER_PX);
        c.clip();
        this.draw_arrows(c);
        this.draw_marked(c);
        c.restore();
        this.draw_labels(c);
        draw_ruler(c, this.axis, width, height);
        draw_scrollbar(c, this, width, height - RULER_PX, RULER_PX);
        if (!this.app.model.calls.count && !this.app.model.commands.count)
            draw_empty(c, width + this.axis.gutter, height, 'No calls were recorded.');
    }

    lanes_in_sight() {
        return this.lanes.filter(lane => lane.y + lane.height > this.scroll &&
            lane.y < this.scroll + this.height - RULER_PX);
    }

    draw_lanes(c) {
        const {axis} = this;
        c.save();
        c.beginPath();
        c.rect(axis.gutter, RULER_PX, this.width - axis.gutter, this.height - RULER_PX);
        c.clip();
        draw_grid(c, axis, RULER_PX, this.height);
        for (const lane of this.lanes_in_sight()) {
            const y = RULER_PX + lane.y - this.scroll;
            if (lane.type !== 'heading' && lane.type !== 'diagnostics') {
                c.fillStyle = theme.grid;
                c.fillRect(axis.gutter, Math.round(y + lane.height) - 0.5, this.width, 1);
            }
            if (lane.type === 'calls')
                this.draw_bars(c, lane, y, this.app.model.calls, this.app.look_of_call);
            else if (lane.type === 'commands')
                this.draw_bars(c, lane, y, this.app.model.commands, this.app.look_of_command);
            else if (lane.type === 'semaphore')
                this.draw_semaphore(c, lane, y);
            else if (lane.type === 'graphics')
                this.draw_graphics(c, lane, y);
            else if (lane.type === 'diagnostics')
                this.flags = draw_flags(c, this, y);
        }
        c.restore();
    }

    // The first item of a lane that may reach into sight. Items may be nested or overlap, so the
    // search begins at an earlier one that is long.
    first_in_sight(lane, table, first) {
        if (!lane.reach || lane.reach_of !== table.to) {
            lane.reach = new Float64Array(lane.items.length); // the latest end so far
            lane.reach_of = table.to;
            let reach = -Infinity;
            lane.items.forEach((item, i) => lane.reach[i] = reach = Math.max(reach,
                table.to[item]));
        }
        return lower_bound(lane.reach, first);
    }

    // While a search is on, what does not match is drawn first, and faint.
    draw_bars(c, lane, y, table, look_of) {
        const dim = this.app.dims(table);
        c.font = this.app.font;
        this.texts = !dim;
        if (dim) {
            c.globalAlpha = 0.2;
            this.draw_some_bars(c, lane, y, table, look_of, i => !dim[i]);
            c.globalAlpha = 1;
            this.texts = true;
        }
        this.draw_some_bars(c, lane, y, table, look_of, dim ? i => dim[i] : null);
    }

    draw_some_bars(c, lane, y, table, look_of, chosen) {
        const {axis, app} = this, {items} = lane, {from, to} = table, scale = axis.scale;
        const base = axis.gutter - axis.first * scale, last = axis.end;
        const reached = new Float64Array(8).fill(-1), least_px = table.depth ? 1 : 2;
        for (let at = this.first_in_sight(lane, table, axis.first); at < items.length; at++) {
            const i = items[at];
            if (from[i] > last)
                break;
            const row = table.depth ? table.depth[i] : 0, failed = table.failed && table.failed[i];
            let x0 = base + from[i] * scale, x1 = base + to[i] * scale;
            if (x1 < reached[row] && !failed) // within a pixel that is already drawn
                continue;
            if ((chosen && !chosen(i)) || !app.is_shown(table, i))
                continue;
            x0 = Math.max(x0, axis.gutter - 4);
            x1 = Math.min(Math.max(x1, x0 + least_px), this.width + 4);
            const top = y + 4 + row * ROW_PX, w = Math.max(x1 - x0 - (x1 - x0 > 4), least_px);
            if (w > 5) {
                this.draw_bar(c, x0, top, w, look_of(i));
            } else {
                c.fillStyle = look_of(i).colour;
                c.fillRect(x0, top, w, ROW_PX - 2);
                reached[row] = Math.ceil(x0 + w);
            }
        }
    }

    draw_bar(c, x, y, width, look) {
        c.fillStyle = look.colour;
        c.beginPath();
        c.roundRect(x, y, width, ROW_PX - 2, 3);
        c.fill();
        if (width > 26 && this.texts) {
            c.fillStyle = look.ink;
            c.fillText(fit_text(c, look.text(), width - 10), x + 5, y + ROW_PX / 2 - 0.5);
        }
    }

    // Signals are filled triangles with their values, waits are bars from queueing to the end.
    draw_semaphore(c, lane, y) {
        const {axis, app} = this, k = app.model.commands, middle = y + lane.height / 2;
        this.draw_life(c, lane, y);
        let label_end = -1;
        lane.items.forEach((i, at) => {
            const x = axis.x(k.to[i]);
            if (x < axis.gutter - 60 || x > this.width + 60 && axis.x(k.asked[i]) > this.width)
                return;
            const waits = k.class[i] === WAIT_CLASS;
            c.fillStyle = c.strokeStyle = waits ? theme.wait : theme.signal;
            if (waits) {
                const begin = axis.x(k.asked[i]);
                c.globalAlpha = 0.3;
                c.fillRect(begin, middle - 4, Math.max(x - begin, 1), 8);
                c.globalAlpha = 1;
                c.fillRect(x - 1, middle - 6, 2, 12);
            } else {
                c.beginPath();
                c.moveTo(x, middle - 6);
                c.lineTo(x + 5, middle + 4);
                c.lineTo(x - 5, middle + 4);
                c.fill();
            }
            const value = k.value ? k.value[i] : null;
            const next = at + 1 < lane.items.length ? axis.x(k.to[lane.items[at + 1]]) : Infinity;
            const text = waits ? `≥ ${value}` : `= ${value}`;
            c.font = app.font;
            const end = x + 13 + c.measureText(text).width;
            if (value !== null && value !== undefined && x + 7 > label_end && end < next) {
                c.fillStyle = theme.soft;
                c.fillText(text, x + 7, middle);
                label_end = end;
            }
        });
    }

    // Bars where a graphics resource is mapped.
    draw_graphics(c, lane, y) {
        const {axis, app} = this, k = app.model.commands;
        this.draw_life(c, lane, y);
        lane.spans = lane.spans || app.model.objects[lane.item.index].spans ||
            mapped_spans(k, lane.items);
        for (const [from, to] of lane.spans) {
            const x0 = Math.max(axis.x_of_time(from), axis.gutter - 4);
            const x1 = Math.min(axis.x_of_time(to === null ? app.model.end : to), this.width + 4);
            if (x1 < axis.gutter || x0 > this.width)
                continue;
            c.fillStyle = theme.graphics;
            c.beginPath();
            c.roundRect(x0, y + 4, Math.max(x1 - x0, 2), ROW_PX - 2, 3);
            c.fill();
            c.fillStyle = theme['on-colour'];
            c.font = app.font;
            c.fillText(fit_text(c, 'mapped for CUDA', x1 - x0 - 10), x0 + 5,
                y + 3 + ROW_PX / 2);
        }
    }

    draw_life(c, lane, y) {
        const [born, died] = this.app.model.time_of(lane.item), {axis} = this;
        const x0 = Math.max(axis.x_of_time(born), axis.gutter - 4);
        const x1 = Math.min(died === Infinity ? axis.x_of_time(this.app.model.end) :
            axis.x_of_time(died), this.width + 4);
        c.fillStyle = theme.grid;
        c.fillRect(x0, y + lane.height / 2 - 1, x1 - x0, 2);
        if (died !== Infinity)
            c.fillRect(x1 - 2, y + lane.height / 2 - 6, 2, 12);
    }

    // Arrows of what is in sight if these are few, and always those of the selected thing and of
    // the one below the pointer.
    draw_arrows(c) {
        const {app, axis} = this, e = app.model.edges, strong = new Set();
        for (const item of [app.selected, app.hovered])
            if (item)
                for (const map of [app.model.into, app.model.out_of])
                    (map.get(key_of(item)) || []).forEach(i => strong.add(i));
        const first = lower_bound(e.drawn_at, axis.time(axis.first));
        const last = lower_bound(e.drawn_at, axis.time(axis.end));
        if (last - first <= ARROWS_MOST)
            for (let at = first; at < last; at++)
                if (!strong.has(e.drawn[at]))
                    this.draw_arrow(c, e.source[e.drawn[at]], e.target[e.drawn[at]],
                        e.why[e.drawn[at]], 0.45);
        for (const i of strong)
            this.draw_arrow(c, e.source[i], e.target[i], e.why[i], 1);
        if (app.selected && app.selected.type === 'command')
            this.draw_submission(c, app.selected);
        if (app.selected && app.selected.type === 'call')
            for (const index of app.model.commands_of_call.get(app.model.id_of(app.selected)) || [])
                this.draw_submission(c, {type: 'command', index});
    }

    draw_submission(c, command) {
        const call = this.app.model.find('call', this.app.model.commands.call[command.index]);
        if (call)
            this.draw_arrow(c, call, command, 'submission', 0.9);
    }

    draw_arrow(c, source, target, why, strength) {
        const a = this.box_of(source), b = this.box_of(target);
        if (!a || !b || (why === 'stream' && strength < 1))
            return;
        // A call submits before its end, and one that waits ends after what it waits for.
        const x0 = source.type === 'call' ? a.x0 : a.x1;
        const x1 = target.type === 'call' ? b.x1 : b.x0;
        const y0 = a.y + a.height / 2, y1 = b.y + b.height / 2;
        if (Math.max(x0, x1) < this.axis.gutter || Math.min(x0, x1) > this.width)
            return;
        const same_lane = Math.abs(y1 - y0) < 1;
        const bend = clamp(Math.abs(x1 - x0) * 0.5, 10, 60);
        c.globalAlpha = strength;
        c.strokeStyle = c.fillStyle = this.app.colour_of_edge(why);
        c.lineWidth = strength === 1 ? 2 : 1.25;
        c.setLineDash(why === 'submission' ? [3, 3] : []);
        c.beginPath();
        c.moveTo(x0, y0);
        if (same_lane)
            c.bezierCurveTo(x0 + 4, y0 - 14, x1 - 4, y1 - 14, x1, y1 - 5);
        else
            c.bezierCurveTo(x0 + bend, y0, x1 - bend, y1, x1 - 2, y1);
        c.stroke();
        c.setLineDash([]);
        c.beginPath();
        c.moveTo(x1 + 1, same_lane ? y1 - 4 : y1);
        c.lineTo(x1 - 6, (same_lane ? y1 - 6 : y1) - 3.5);
        c.lineTo(x1 - 6, (same_lane ? y1 - 6 : y1) + 3.5);
        c.fill();
        c.lineWidth = 1;
        c.globalAlpha = 1;
    }

    draw_marked(c) {
        const {app} = this;
        for (const [item, width] of [[app.hovered, 1.5], [app.selected, 2.5]]) {
            const box = item && this.box_of(item);
            if (!box)
                continue;
            const x0 = Math.max(box.x0, this.axis.gutter - 6);
            const w = Math.max(Math.min(box.x1, this.width + 6) - x0, 3);
            c.strokeStyle = item === app.hovered ? theme.text : theme.select;
            c.lineWidth = width;
            c.beginPath();
            c.roundRect(x0 - 1.5, box.y - 1.5, w + 2, box.height + 3, 4);
            c.stroke();
            c.lineWidth = 1;
        }
        draw_cursor(c, app, RULER_PX, this.height);
    }

    draw_labels(c) {
        const {axis, app} = this;
        c.fillStyle = theme.panel;
        c.fillRect(0, RULER_PX, axis.gutter, this.height);
        c.fillStyle = theme.line;
        c.fillRect(axis.gutter - 1, RULER_PX, 1, this.height);
        for (const lane of this.lanes_in_sight()) {
            const y = RULER_PX + lane.y - this.scroll;
            if (lane.type === 'heading') {
                c.font = app.small_font;
                c.fillStyle = theme.soft;
                c.fillText(lane.name.toUpperCase(), 12, y + HEADING_PX / 2 + 3);
                c.fillStyle = theme.line;
                c.fillRect(0, Math.round(y), this.width, 1);
                continue;
            }
            const selected = lane.item && same_item(app.selected, lane.item);
            c.font = selected || lane.type === 'diagnostics' ? app.bold_font : app.font;
            c.fillStyle = lane.type === 'diagnostics' ? theme.bad : theme.text;
            const count = group_digits(lane.items ? lane.items.length :
                app.model.diagnostics.length);
            c.fillText(fit_name(c, lane.name, axis.gutter - 34 - 6 * count.length), 12,
                y + lane.height / 2);
            c.font = app.small_font;
            c.fillStyle = theme.faint;
            c.textAlign = 'right';
            c.fillText(count, axis.gutter - 10, y + lane.height / 2);
            c.textAlign = 'left';
        }
    }

    // What is at a place of the canvas: an item, or null.
    hit(x, y) {
        const {axis, app} = this;
        if (y < RULER_PX)
            return null;
        const lane = this.lanes.find(l => y >= RULER_PX + l.y - this.scroll &&
            y < RULER_PX + l.y + l.height - this.scroll);
        if (!lane)
            return null;
        if (lane.type === 'diagnostics') {
            const flag = (this.flags || []).findLast(f => x >= f.x0 && x <= f.x1);
            return flag ? {type: 'diagnostic', index: flag.index} : null;
        }
        if (x < axis.gutter)
            return lane.item || null;
        const table = lane.type === 'calls' ? app.model.calls : app.model.commands;
        const row = Math.floor((y - RULER_PX - lane.y + this.scroll - 3) / ROW_PX);
        const index = lane.items ? this.nearest(lane, table, x, lane.type === 'calls' ? row : 0) :
            -1;
        if (index >= 0)
            return {type: lane.type === 'calls' ? 'call' : 'command', index};
        return null;
    }

    nearest(lane, table, x, row) {
        const {axis, app} = this, slack = 4 / axis.scale, p = axis.position_at(x);
        let best = -1, distance = Infinity;
        for (let at = this.first_in_sight(lane, table, p - slack); at < lane.items.length; at++) {
            const i = lane.items[at];
            if (table.from[i] > p + slack)
                break;
            if ((table.depth && table.depth[i] !== row) || !app.is_shown(table, i))
                continue;
            const away = p < table.from[i] ? table.from[i] - p : p > table.to[i] ?
                p - table.to[i] : 0;
            if (away <= slack && away <= distance) {
                best = i;
                distance = away;
            }
        }
        return best;
    }

    // Scrolls so that the lane of an item is in sight.
    reveal(item) {
        const box = this.box_of(item);
        if (!box || !this.height)
            return;
        if (box.y < RULER_PX + 4)
            this.scroll -= RULER_PX + 30 - box.y;
        else if (box.y + box.height > this.height - 4)
            this.scroll += box.y + box.height - this.height + 24;
    }
}

// The times between `map` and `unmap` commands of a resource; null if it was never unmapped.
function mapped_spans(k, items) {
    const spans = [];
    for (const i of items)
        if (/unmap/.test(k.kind[i])) {
            if (spans.length && spans[spans.length - 1][1] === null)
                spans[spans.length - 1][1] = k.start[i];
        } else if (/map/.test(k.kind[i])) {
            spans.push([k.end[i], null]);
        }
    return spans;
}
