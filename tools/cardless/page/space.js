// SPDX-License-Identifier: MIT
// The address space over time: above, memory that has no address (imports, handles) by offset, and
// below, device addresses. Unused ranges are cut short. A bar begins when the memory is made or
// mapped, and ends when it is freed.
'use strict';

const BAND_PX = 24, NESTED_MOST = 1200, ACCESSES_MOST = 400;

class Space {
    constructor(app, canvas) {
        this.app = app;
        this.canvas = canvas;
        this.axis = app.axis;
        this.scroll = 0;
        this.height = 0;
        this.order_items();
        this.make_scales();
    }

    // Large memory first, so that memory inside it is drawn on top; and how deep each is nested.
    order_items() {
        const m = this.app.model.memory;
        this.items = Uint32Array.from({length: m.count}, (_, i) => i).sort((x, y) =>
            m.size[y] - m.size[x] || (m.kind[x] === 'reservation' ? -1 : 0) -
            (m.kind[y] === 'reservation' ? -1 : 0) || m.start[x] - m.start[y]);
        this.depth = new Uint8Array(m.count);
        // In a trace of much memory, only reservations count as what other memory is in.
        const outer = [];
        this.items.forEach(i => {
            for (const j of m.address[i] ? outer : []) {
                if (m.address[j] <= m.address[i] &&
                    m.address[i] + m.size[i] <= m.address[j] + m.size[j] &&
                    m.start[j] <= m.start[i] && m.start[i] < m.end[j])
                    this.depth[i] = Math.min(3, Math.max(this.depth[i], this.depth[j] + 1));
            }
            if (m.address[i] && (m.kind[i] === 'reservation' || m.count <= NESTED_MOST) &&
                outer.length < NESTED_MOST)
                outer.push(i);
        });
    }

    make_scales() {
        const m = this.app.model.memory, addressed = [];
        this.scales = [];
        this.scale_of = new Map(); // of memory without an address
        for (let i = 0; i < m.count; i++) {
            if (m.address[i]) {
                addressed.push([m.address[i], m.address[i] + m.size[i]]);
            } else if (m.root[i] === i) {
                const ranges = (m.in_root.get(i) || [i]).map(j => [m.base[j],
                    Math.min(m.base[j] + m.size[j], m.size[i])]);
                const scale = new Scale(ranges, memory_name(m, i));
                scale.item = i;
                this.scale_of.set(i, scale);
                this.scales.push(scale);
            }
        }
        this.addresses = addressed.length ? new Scale(addressed, 'addresses') : null;
    }

    place() {
        const room = this.height - RULER_PX - 60;
        let factor = 1, y = 0;
        for (const attempt of [1.5, 1.2, 1, 0.8, 0.65]) {
            factor = attempt;
            y = 6;
            if (this.scales.length)
                y += BAND_PX;
            for (const scale of this.scales)
                y = scale.place(y, factor * 0.8) + 7;
            this.addresses_y = y;
            if (this.addresses)
                y = this.addresses.place(y + BAND_PX, factor) + 10;
            if (y <= room)
                break;
        }
        this.content_height = y + 10;
        const m = this.app.model.memory;
        this.top = new Float64Array(m.count);
        this.bottom = new Float64Array(m.count);
        for (let i = 0; i < m.count; i++) {
            const scale = m.address[i] ? this.addresses : this.scale_of.get(m.root[i]);
            const first = m.address[i] || m.base[i], inset = m.address[i] ? this.depth[i] * 3 : 0;
            if (!scale)
                continue;
            this.top[i] = scale.at(first) + inset;
            this.bottom[i] = Math.max(scale.at(first + m.size[i]) - inset, this.top[i] + 3);
        }
        this.placed_for = this.height;
    }

    draw() {
        const {context: c, width, height} = prepare_canvas(this.canvas);
        this.width = width;
        if (this.placed_for !== height) {
            this.height = height;
            this.place();
        }
        this.scroll = clamp(this.scroll, 0, Math.max(0, this.content_height + RULER_PX - height));
        c.fillStyle = theme.panel;
        c.fillRect(0, 0, width, height);
        c.textBaseline = 'middle';
        c.save();
        c.beginPath();
        c.rect(0, RULER_PX, width, height - RULER_PX);
        c.clip();
        this.draw_scales(c);
        c.beginPath();
        c.rect(this.axis.gutter, RULER_PX, width, height);
        c.clip();
        draw_grid(c, this.axis, RULER_PX, height);
        this.draw_items(c);
        this.draw_accesses(c);
        this.draw_marked(c);
        c.restore();
        draw_ruler(c, this.axis, width, height);
        draw_scrollbar(c, this, width, height - RULER_PX, RULER_PX);
        if (!this.items.length)
            draw_empty(c, width, height, 'No device memory was allocated or mapped in this run.');
    }

    // Bars that are too short to see are drawn once for each place.
    draw_items(c) {
        const {axis} = this, m = this.app.model.memory, drawn = new Set();
        const top = this.scroll - 4, bottom = this.scroll + this.height;
        const slack = 30 / axis.scale; // of the shade after the end
        const shown = this.items.filter(i => m.to[i] >= axis.first - slack &&
            m.from[i] <= axis.end && this.bottom[i] >= top && this.top[i] <= bottom);
        for (const i of shown)
            this.draw_shade(c, i);
        for (const i of shown) {
            const x = axis.x(m.from[i]);
            if (axis.x(m.to[i]) - x < 2) {
                const place = Math.floor(this.top[i]) * 8192 + Math.floor(x);
                if (drawn.has(place))
                    continue;
                drawn.add(place);
            }
            this.draw_item(c, i);
        }
    }

    screen(y) {
        return y + RULER_PX - this.scroll;
    }

    draw_scales(c) {
        const {app, axis} = this;
        c.fillStyle = theme.line;
        c.fillRect(axis.gutter - 1, RULER_PX, 1, this.height);
        if (this.scales.length)
            this.draw_heading(c, 6, 'Memory, by offset');
        for (const scale of this.scales)
            this.draw_marks(c, scale, cut => `+${format_address(cut)}`);
        if (this.addresses) {
            this.draw_heading(c, this.addresses_y, 'Device addresses');
            this.draw_marks(c, this.addresses, format_address);
        }
        c.font = app.font;
    }

    draw_heading(c, y, text) {
        c.font = this.app.small_font;
        c.fillStyle = theme.soft;
        c.fillText(text.toUpperCase(), 12, this.screen(y + BAND_PX / 2 - 2));
    }

    draw_marks(c, scale, text_of) {
        const {cuts, gap, y} = scale, {axis} = this;
        let free = -Infinity;
        c.textAlign = 'right';
        for (let i = lower_bound(y, this.scroll - 100); i < cuts.length; i++) {
            const at = this.screen(y[i]);
            if (at > this.height + 20)
                break;
            if (i + 1 < cuts.length && gap[i]) {
                c.font = this.app.small_font;
                c.fillStyle = theme.faint;
                c.fillText(`${format_size(cuts[i + 1] - cuts[i])} unused`, axis.gutter - 10,
                    at + GAP_PX / 2);
                free = at + GAP_PX - 2;
                c.strokeStyle = theme.line;
                c.setLineDash([3, 5]);
                c.beginPath();
                c.moveTo(axis.gutter, Math.round(at + GAP_PX / 2) + 0.5);
                c.lineTo(this.width, Math.round(at + GAP_PX / 2) + 0.5);
                c.stroke();
                c.setLineDash([]);
            } else if (i + 1 < cuts.length && at >= free) {
                c.font = this.app.mono_font;
                c.fillStyle = theme.soft;
                c.fillText(text_of(cuts[i]), axis.gutter - 10, at + 7);
                free = at + 13;
                c.fillStyle = theme.line;
                c.fillRect(axis.gutter - 6, at, 5, 1);
            }
        }
        c.textAlign = 'left';
    }

    box_of(i) {
        const {axis} = this, m = this.app.model.memory;
        const end = Math.min(m.to[i], axis.position(this.app.model.end));
        return {x0: axis.x(m.from[i]), x1: axis.x(end), y0: this.screen(this.top[i]) + 0.5,
            y1: this.screen(this.bottom[i]) - 1};
    }

    draw_item(c, i) {
        const {app, axis} = this, m = app.model.memory, box = this.box_of(i);
        if (box.y1 < RULER_PX || box.y0 > this.height || box.x1 < axis.gutter - 30 ||
            box.x0 > this.width)
            return;
        const x0 = Math.max(box.x0, axis.gutter - 6), x1 = Math.min(box.x1, this.width + 6);
        const w = Math.max(x1 - x0, 2), h = box.y1 - box.y0, dim = app.dims(m);
        const colour = memory_colour(m.kind[i]);
        c.globalAlpha = dim && !dim[i] ? 0.2 : 1;
        if (m.kind[i] === 'reservation') {
            c.strokeStyle = colour;
            c.setLineDash([4, 3]);
            c.strokeRect(x0 + 0.5, box.y0 + 0.5, w - 1, h - 1);
            c.setLineDash([]);
            c.globalAlpha *= 0.08;
            c.fillStyle = colour;
            c.fillRect(x0, box.y0, w, h);
        } else {
            this.fill_item(c, {x: x0, y: box.y0, w, h}, colour);
        }
        c.globalAlpha = dim && !dim[i] ? 0.2 : 1;
        if (!m.address[i])
            this.draw_windows(c, i);
        if (m.end[i] !== Infinity && w > 6) {
            c.fillStyle = theme.text;
            c.fillRect(box.x1 - 1, box.y0, 2, h);
        }
        if (h >= 11 && w > 30) {
            c.font = app.font;
            c.fillStyle = m.kind[i] === 'reservation' ? theme.soft : theme.text;
            const text = this.label_of(i);
            const y = m.kind[i] === 'reservation' ? box.y1 - 7 : (box.y0 + box.y1) / 2;
            const fitted = fit_text(c, text, w - 16), at = this.depth_text(i, y, box);
            c.strokeStyle = theme.panel;
            c.lineJoin = 'round';
            c.lineWidth = 3;
            c.globalAlpha *= 0.6;
            c.strokeText(fitted, x0 + 9, at);
            c.globalAlpha /= 0.6;
            c.lineWidth = 1;
            c.fillText(fitted, x0 + 9, at);
        }
        c.globalAlpha = 1;
    }

    // A tint, and a strong left edge where the memory begins.
    fill_item(c, {x, y, w, h}, colour) {
        const alpha = c.globalAlpha;
        c.fillStyle = theme.panel;
        c.fillRect(x, y, w, h);
        c.fillStyle = colour;
        if (w > 4) {
            c.globalAlpha = alpha * (theme.dark ? 0.3 : 0.24);
            c.fillRect(x, y, w, h);
            c.globalAlpha = alpha * 0.55;
            c.fillRect(x, y, w, 1);
            c.fillRect(x, y + h - 1, w, 1);
            c.globalAlpha = alpha;
        }
        c.fillRect(x, y, clamp(w / 3, Math.min(w, 2), 4), h);
    }

    // In memory without an address: the parts that mappings show, and when. Where two of them
    // overlap, the tint is twice as strong.
    draw_windows(c, i) {
        const {axis} = this, m = this.app.model.memory, alpha = c.globalAlpha;
        const scale = this.scale_of.get(i);
        for (const j of scale ? m.above.get(i) || [] : []) {
            const x0 = Math.max(axis.x(m.from[j]), axis.gutter - 6), y0 = this.screen(
                scale.at(m.base[j])) + 1;
            const x1 = Math.min(axis.x(Math.min(m.to[j], axis.position(this.app.model.end))),
                this.width + 6);
            const h = this.screen(scale.at(m.base[j] + m.size[j])) - y0 - 2;
            if (x1 < x0 || h < 2)
                continue;
            c.fillStyle = memory_colour(m.kind[j]);
            c.globalAlpha = alpha * (theme.dark ? 0.32 : 0.28);
            c.fillRect(x0, y0, x1 - x0, h);
            c.globalAlpha = alpha;
            c.fillRect(x0, y0, Math.min(3, x1 - x0), h);
            c.fillRect(x1 - 1, y0, 1, h);
        }
    }

    // The text of memory in which other memory lies is at its top.
    depth_text(i, y, box) {
        return y - box.y0 > 24 && this.app.model.memory.kind[i] !== 'reservation' ?
            box.y0 + 9 : y;
    }

    label_of(i) {
        const m = this.app.model.memory;
        this.labels = this.labels || [];
        if (!this.labels[i]) {
            const aliases = this.app.model.aliases_of(i).filter(j => m.address[j] && m.address[i] &&
                m.address[j] !== m.address[i]).length;
            const array = (this.app.model.arrays_of_memory.get(m.id[i]) || [])[0];
            this.labels[i] = (array === undefined ? memory_name(m, i) :
                this.app.model.array_name(array)) + (m.text[i] ? ` · ${m.text[i]}` : '') +
                (aliases ? ` · ${format_count(aliases, 'alias', 'aliases')}` : '');
        }
        return this.labels[i];
    }

    // After freed memory: a shade that fades.
    draw_shade(c, i) {
        const m = this.app.model.memory, box = this.box_of(i), {dark} = theme;
        if (m.end[i] === Infinity || box.x1 - box.x0 < 8 || box.x1 < this.axis.gutter - 22 ||
            box.x1 > this.width)
            return;
        const shade = c.createLinearGradient(box.x1, 0, box.x1 + 22, 0);
        shade.addColorStop(0, dark ? 'rgba(200,215,235,0.26)' : 'rgba(40,50,65,0.24)');
        shade.addColorStop(1, dark ? 'rgba(200,215,235,0)' : 'rgba(40,50,65,0)');
        c.fillStyle = shade;
        c.fillRect(box.x1, box.y0, 22, box.y1 - box.y0);
    }

    // Which bytes commands read and wrote: for all commands in sight if these are few.
    draw_accesses(c) {
        const {app, axis} = this, k = app.model.commands;
        for (const item of [app.selected, app.hovered])
            if (item && item.type === 'command')
                this.draw_access(c, item.index, true);
        let drawn = 0;
        for (let i = 0; i < k.count && drawn <= ACCESSES_MOST; i++)
            if (k.to[i] >= axis.first && k.from[i] <= axis.end)
                drawn++;
        for (let i = 0; i < k.count && drawn <= ACCESSES_MOST; i++)
            if (k.to[i] >= axis.first && k.from[i] <= axis.end && app.is_shown(k, i))
                this.draw_access(c, i, false);
    }

    draw_access(c, i, strong) {
        const k = this.app.model.commands;
        for (const [ranges, colour] of [[k.reads && k.reads[i], theme.read],
            [k.writes && k.writes[i], theme.write]])
            for (const [address, size] of ranges || [])
                this.draw_range(c, i, {address, size, colour, strong,
                    writes: colour === theme.write});
    }

    draw_range(c, i, {address, size, colour, strong, writes}) {
        const {app, axis} = this, k = app.model.commands, m = app.model.memory;
        const x0 = axis.x(k.from[i]), w = Math.max(axis.x(k.to[i]) - x0, 3);
        const box = (y0, y1, alpha) => {
            const top = this.screen(y0), h = Math.max(this.screen(y1) - top, 3);
            c.globalAlpha = alpha;
            c.strokeStyle = c.fillStyle = colour;
            c.lineWidth = strong ? 2 : 1;
            if (writes)
                c.fillRect(x0, top, w, h);
            c.strokeRect(x0, top, w, h);
        };
        if (this.addresses && this.addresses.covers(address))
            box(this.addresses.at(address), this.addresses.at(address + size), strong ? 0.95 : 0.6);
        if (strong) { // the same bytes through aliases, and in the memory below
            const at = app.model.memory_at(address, k.start[i]);
            const first = at < 0 ? 0 : m.base[at] + address - m.address[at];
            for (const j of at < 0 ? [] : app.model.aliases_of(at)) {
                const from = Math.max(first, m.base[j]);
                const to = Math.min(first + size, m.base[j] + m.size[j]);
                const scale = m.address[j] ? this.addresses : this.scale_of.get(m.root[j]);
                if (from < to && scale && m.start[j] <= k.end[i] && m.end[j] >= k.start[i]) {
                    const base = m.address[j] ? m.address[j] - m.base[j] : 0;
                    box(scale.at(from + base), scale.at(to + base), 0.75);
                }
            }
        }
        c.globalAlpha = 1;
        c.lineWidth = 1;
    }

    draw_marked(c) {
        const {app} = this;
        for (const [item, strong] of [[app.hovered, false], [app.selected, true]]) {
            const i = memory_of_item(app.model, item);
            if (i < 0)
                continue;
            this.draw_links(c, i, strong);
            this.outline(c, i, strong ? theme.select : theme.text, strong ? 2.5 : 1.5);
        }
        draw_cursor(c, app, RULER_PX, this.height);
    }

    outline(c, i, colour, width) {
        const box = this.box_of(i), x0 = Math.max(box.x0, this.axis.gutter - 6);
        c.strokeStyle = colour;
        c.lineWidth = width;
        c.beginPath();
        c.roundRect(x0 - 1, box.y0 - 1, Math.max(Math.min(box.x1, this.width + 6) - x0, 2) + 2,
            box.y1 - box.y0 + 2, 3);
        c.stroke();
        c.lineWidth = 1;
    }

    // Curves to all memory that shows the same bytes.
    draw_links(c, i, strong) {
        const a = this.box_of(i), m = this.app.model.memory;
        for (const j of this.app.model.aliases_of(i)) {
            if (m.start[j] > m.end[i] || m.start[i] > m.end[j])
                continue;
            const b = this.box_of(j), edge = this.axis.gutter + 10;
            const x = clamp(Math.max(a.x0, b.x0) + 10, edge, this.width - 30);
            const ya = (a.y0 + a.y1) / 2, yb = (b.y0 + b.y1) / 2;
            c.strokeStyle = theme.select;
            c.globalAlpha = strong ? 0.95 : 0.6;
            c.lineWidth = 2;
            c.beginPath();
            c.moveTo(x, ya);
            c.bezierCurveTo(x + 26, ya, x + 26, yb, x, yb);
            c.stroke();
            c.fillStyle = theme.select;
            for (const y of [ya, yb]) {
                c.beginPath();
                c.arc(x, y, 3.5, 0, 2 * Math.PI);
                c.fill();
            }
            c.globalAlpha = 1;
            c.lineWidth = 1;
            this.outline(c, j, theme.select, 1.5);
        }
    }

    hit(x, y) {
        if (y < RULER_PX || x < this.axis.gutter)
            return null;
        for (let at = this.items.length - 1; at >= 0; at--) {
            const i = this.items[at], box = this.box_of(i);
            if (x >= box.x0 - 2 && x <= Math.max(box.x1, box.x0 + 2) + 1 && y >= box.y0 - 1 &&
                y <= box.y1 + 1)
                return {type: 'memory', index: i};
        }
        return null;
    }

    reveal(item) {
        const i = memory_of_item(this.app.model, item);
        if (i < 0 || !this.height)
            return;
        const box = this.box_of(i);
        if (box.y0 < RULER_PX + 4 || box.y1 > this.height)
            this.scroll += (box.y0 + box.y1) / 2 - (this.height + RULER_PX) / 2;
    }
}

function memory_of_item(model, item) {
    if (!item)
        return -1;
    if (item.type === 'memory')
        return item.index;
    const id = item.type === 'array' ? model.arrays[item.index].memory :
        item.type === 'diagnostic' ? model.diagnostics[item.index].memory : null;
    const index = id ? model.memory.by_id.get(id) : undefined;
    return index === undefined ? -1 : index;
}

function memory_colour(kind) {
    const found = [[/reserv/, 'reservation'], [/import|shared|another process/, 'import'],
        [/graphics/, 'graphics'], [/array/, 'array'], [/mapping|mapped/, 'mapping'],
        [/./, 'allocation']].find(([words]) => words.test(kind));
    return theme[found[1]];
}

function draw_empty(c, width, height, text) {
    c.font = '13px system-ui, sans-serif';
    c.fillStyle = theme.soft;
    c.textAlign = 'center';
    c.fillText(text, width / 2, height / 2);
    c.textAlign = 'left';
}
