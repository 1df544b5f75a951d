// SPDX-License-Identifier: MIT
// Two pictures of an array: its texels as the program sees them, and its bytes as they lie in
// memory. The same byte has the same colour in both: its place in the level, from dark to light.
'use strict';

// Colours from dark blue through green to yellow, as [red, green, blue], for `part` from 0 to 1.
const RAMP = [[62, 74, 137], [49, 104, 142], [38, 130, 142], [31, 158, 137], [53, 183, 121],
    [110, 206, 88], [181, 222, 43], [240, 229, 60]];
function ramp_colour(part) {
    const at = clamp(part, 0, 0.9999) * (RAMP.length - 1), i = Math.floor(at), t = at - i;
    return RAMP[i].map((from, n) => Math.round(from + (RAMP[i + 1][n] - from) * t));
}

// A picture that one can drag and zoom: cells of `cell` pixels, with (left, top) at the corner.
class Picture {
    constructor(pane, canvas) {
        this.pane = pane;
        this.canvas = canvas;
        this.left = this.top = 0;
        this.cell = 1;
    }

    // Shows all of it.
    fit() {
        const width = this.canvas.clientWidth - 16, height = this.canvas.clientHeight - 16;
        if (width <= 0)
            return;
        this.cell = Math.min(width / this.columns, height / this.rows, 56);
        if (this.cell > 2)
            this.cell = Math.floor(this.cell * 2) / 2;
        this.left = -(width + 16 - this.columns * this.cell) / 2 / this.cell;
        this.top = -(height + 16 - this.rows * this.cell) / 2 / this.cell;
        this.least_cell = this.cell * 0.8;
        this.fitted = true;
    }

    zoom(factor, x, y) {
        const cell = clamp(this.cell * factor, this.least_cell || 0.01, 72);
        this.left += x / this.cell - x / cell;
        this.top += y / this.cell - y / cell;
        this.cell = cell;
        this.keep_in_sight();
    }

    pan(x, y) {
        this.left -= x / this.cell;
        this.top -= y / this.cell;
        this.keep_in_sight();
    }

    keep_in_sight() {
        const columns = this.canvas.clientWidth / this.cell;
        const rows = this.canvas.clientHeight / this.cell;
        const keep = (at, size, room) => size < room ? -(room - size) / 2 :
            clamp(at, -room * 0.05, size - room * 0.95);
        this.left = keep(this.left, this.columns, columns);
        this.top = keep(this.top, this.rows, rows);
    }

    // The cell at a place of the canvas; it may be outside of the picture.
    cell_at(x, y) {
        return [Math.floor(this.left + x / this.cell), Math.floor(this.top + y / this.cell)];
    }

    x(column) {
        return (column - this.left) * this.cell;
    }

    y(row) {
        return (row - this.top) * this.cell;
    }

    // Draws a coloured point for each cell in sight, or for some of them if they are too small.
    // The points are kept until the part in sight or `key`, which says what is shown, changes.
    draw_cells(c, width, height, key, colour_of) {
        const step = Math.max(1, Math.floor(1 / this.cell));
        const first_x = Math.max(0, Math.floor(this.left / step) * step);
        const first_y = Math.max(0, Math.floor(this.top / step) * step);
        const end_x = Math.min(this.columns, this.left + width / this.cell + 1);
        const end_y = Math.min(this.rows, this.top + height / this.cell + 1);
        const w = Math.ceil((end_x - first_x) / step), h = Math.ceil((end_y - first_y) / step);
        if (w <= 0 || h <= 0)
            return;
        const drawn = [key, first_x, first_y, w, h, step].join();
        if (this.drawn !== drawn)
            this.fill_buffer(w, h, (x, y) => colour_of(first_x + x * step, first_y + y * step));
        this.drawn = drawn;
        c.imageSmoothingEnabled = false;
        c.drawImage(this.buffer, this.x(first_x), this.y(first_y), w * step * this.cell,
            h * step * this.cell);
    }

    fill_buffer(width, height, colour_of) {
        const image = new ImageData(width, height), points = new Uint32Array(image.data.buffer);
        for (let y = 0; y < height; y++)
            for (let x = 0; x < width; x++)
                points[y * width + x] = colour_of(x, y);
        this.buffer = this.buffer || document.createElement('canvas');
        this.buffer.width = width;
        this.buffer.height = height;
        this.buffer.getContext('2d').putImageData(image, 0, 0);
    }

    draw_lines(c, {step_x, step_y, colour, width}) {
        const right = Math.min(this.x(this.columns), this.canvas.clientWidth);
        const bottom = Math.min(this.y(this.rows), this.canvas.clientHeight);
        c.fillStyle = colour;
        for (let column = Math.max(0, Math.floor(this.left / step_x) * step_x);
            column <= this.columns && this.x(column) <= right + 1; column += step_x)
            c.fillRect(Math.round(this.x(column)) - width / 2, Math.max(0, this.y(0)), width,
                bottom - Math.max(0, this.y(0)));
        for (let row = Math.max(0, Math.floor(this.top / step_y) * step_y);
            row <= this.rows && this.y(row) <= bottom + 1; row += step_y)
            c.fillRect(Math.max(0, this.x(0)), Math.round(this.y(row)) - width / 2,
                right - Math.max(0, this.x(0)), width);
    }

    // A ring around a cell that stays visible on any colour.
    draw_ring(c, column, row, columns = 1) {
        const least = 7, w = Math.max(columns * this.cell, least), h = Math.max(this.cell, least);
        const x = this.x(column) + (columns * this.cell - w) / 2;
        const y = this.y(row) + (this.cell - h) / 2;
        for (const [colour, line] of [['#000', 4], ['#fff', 2]]) {
            c.strokeStyle = colour;
            c.lineWidth = line;
            c.strokeRect(x, y, w, h);
        }
        c.lineWidth = 1;
    }
}

function packed([r, g, b], alpha = 255) {
    return (alpha << 24 | b << 16 | g << 8 | r) >>> 0;
}

function hex_colour(text) {
    const n = parseInt(text.slice(1), 16);
    return [n >> 16 & 255, n >> 8 & 255, n & 255];
}

// The elements of one slice or layer of a level.
class TexelPicture extends Picture {
    get level() {
        return this.pane.layout.levels[this.pane.level];
    }

    get columns() {
        return this.level.width_el;
    }

    get rows() {
        return this.level.height_el;
    }

    draw() {
        const {context: c, width, height} = prepare_canvas(this.canvas), {pane} = this;
        if (!this.fitted)
            this.fit();
        c.fillStyle = theme.panel;
        c.fillRect(0, 0, width, height);
        this.draw_cells(c, width, height, pane.key, (x, y) => pane.colour_of_byte(
            layout_locate(pane.layout, pane.level, x, y, pane.z)));
        if (this.cell >= 7)
            this.draw_lines(c, {step_x: 1, step_y: 1, colour: 'rgba(0,0,0,0.16)', width: 1});
        if (pane.layout.kind === 'block-linear')
            this.draw_gobs(c);
        this.draw_numbers(c);
        this.draw_selection(c);
    }

    draw_gobs(c) {
        const {pane, level: v} = this, gob_el = GOB_WIDTH_B / pane.layout.element_B;
        const block_rows = GOB_HEIGHT << v.block_height_log2_gob;
        if (this.cell * GOB_HEIGHT >= 5)
            this.draw_lines(c, {step_x: gob_el, step_y: GOB_HEIGHT,
                colour: 'rgba(255,255,255,0.8)', width: 1});
        if (v.block_height_log2_gob && this.cell * block_rows >= 5)
            this.draw_lines(c, {step_x: gob_el, step_y: block_rows, colour: 'rgba(0,0,0,0.75)',
                width: 2});
        if (this.cell * gob_el >= 30 && this.cell * GOB_HEIGHT >= 22)
            this.draw_gob_numbers(c, gob_el);
    }

    // The number of each GOB in the level's memory, at its upper left corner.
    draw_gob_numbers(c, gob_el) {
        const {pane, level: v} = this, wide = this.cell * gob_el >= 64;
        c.font = pane.app.bold_font;
        c.save();
        c.beginPath();
        c.rect(this.x(0), this.y(0), this.columns * this.cell, this.rows * this.cell);
        c.clip();
        for (let gy = Math.max(0, Math.floor(this.top / GOB_HEIGHT)); gy * GOB_HEIGHT < this.rows &&
            this.y(gy * GOB_HEIGHT) < this.canvas.clientHeight; gy++)
            for (let gx = Math.max(0, Math.floor(this.left / gob_el)); gx * gob_el < this.columns &&
                this.x(gx * gob_el) < this.canvas.clientWidth; gx++) {
                const at = layout_locate(pane.layout, pane.level, gx * gob_el, gy * GOB_HEIGHT,
                    pane.z);
                const gob = Math.floor((at - v.offset_B) / GOB_B);
                c.fillStyle = pane.part_of_byte(at) > 0.45 ? '#000' : '#fff';
                c.fillText(wide ? `GOB ${gob}` : String(gob), this.x(gx * gob_el) + 5,
                    this.y(gy * GOB_HEIGHT) + 10);
            }
        c.restore();
    }

    // The byte offsets in the cells, if these are large.
    draw_numbers(c) {
        const {pane} = this;
        if (this.cell < 44)
            return;
        c.font = pane.app.mono_font;
        c.textBaseline = 'bottom';
        const right = this.canvas.clientWidth, bottom = this.canvas.clientHeight;
        for (let y = Math.max(0, Math.floor(this.top)); y < this.rows && this.y(y) < bottom; y++)
            for (let x = Math.max(0, Math.floor(this.left)); x < this.columns &&
                this.x(x) < right; x++) {
                const at = layout_locate(pane.layout, pane.level, x, y, pane.z);
                c.fillStyle = pane.part_of_byte(at) > 0.45 ? '#000' : '#fff';
                c.fillText(`+${at.toString(16)}`, this.x(x) + 4, this.y(y) + this.cell - 3);
            }
        c.textBaseline = 'middle';
    }

    draw_selection(c) {
        const {place} = this.pane;
        if (place && !place.padding && place.level === this.pane.level && place.z === this.pane.z)
            this.draw_ring(c, place.x_el, place.y);
    }
}

// All bytes of the array in rows of `row_B`.
class BytePicture extends Picture {
    get columns() {
        return this.pane.row_B;
    }

    get rows() {
        return Math.ceil(this.pane.layout.size_B / this.pane.row_B);
    }

    draw() {
        const {context: c, width, height} = prepare_canvas(this.canvas), {pane} = this;
        if (!this.fitted)
            this.fit();
        c.fillStyle = theme.panel;
        c.fillRect(0, 0, width, height);
        const {layout} = pane, none = packed(hex_colour(theme.panel));
        const padding = packed(hex_colour(theme.raised));
        const greys = [theme.line, theme.faint, theme.soft].map(hex_colour).map(c => packed(c));
        this.draw_cells(c, width, height, pane.key, (x, y) => {
            const at = y * pane.row_B + x;
            if (at >= layout.size_B)
                return none;
            const place = layout_find(layout, at);
            if (!place || place.padding)
                return padding;
            return place.level === pane.level && place.z === pane.z ? pane.colour_of_byte(at) :
                greys[place.level % 3];
        });
        if (this.cell >= 6)
            this.draw_lines(c, {step_x: 1, step_y: 1, colour: 'rgba(0,0,0,0.14)', width: 1});
        if (this.cell * 16 >= 9 && this.cell < 40)
            this.draw_lines(c, {step_x: 16, step_y: 1e9, colour: 'rgba(255,255,255,0.45)',
                width: 1});
        this.draw_parts(c);
        this.draw_selection(c);
    }

    // Where each level of each layer begins.
    draw_parts(c) {
        const {layout, row_B} = this.pane;
        c.font = this.pane.app.small_font;
        const starts = [];
        for (const {offset_B, text} of this.pane.parts) {
            const row = Math.floor(offset_B / row_B), y = this.y(row);
            if (y < -20 || y > this.canvas.clientHeight)
                continue;
            const x = this.x(offset_B % row_B), left = this.x(0);
            starts.push([x, y, text]);
            c.fillStyle = theme.text;
            c.fillRect(x, Math.round(y), this.x(this.columns) - x, 1);
            if (x > left) {
                c.fillRect(left, Math.round(this.y(row + 1)), x - left, 1);
                c.fillRect(x, Math.round(y), 1, this.cell);
            }
        }
        this.draw_part_names(c, starts);
    }

    // The names of the parts if there is room for them; those of level 0 come first.
    draw_part_names(c, starts) {
        const {layout, row_B} = this.pane, taken = [];
        for (const [x, y, text] of starts) {
            if (taken.some(other => Math.abs(other - y) < 15))
                continue;
            const wide = c.measureText(text).width + 8;
            c.fillStyle = theme.panel;
            c.globalAlpha = 0.88;
            c.fillRect(Math.max(x, 0) + 1, y + 1, wide, 14);
            c.globalAlpha = 1;
            c.fillStyle = theme.text;
            c.fillText(text, Math.max(x, 0) + 5, y + 8);
            taken.push(y);
        }
        const total_row = Math.floor(layout.total_B / row_B), end = this.y(total_row + 1);
        if (layout.total_B < layout.size_B && taken.every(y => Math.abs(y - end) >= 15)) {
            c.fillStyle = theme.soft;
            c.fillText('unused to the end', Math.max(this.x(0), 0) + 5, this.y(total_row + 1) + 8);
        }
    }

    draw_selection(c) {
        const {byte, place, layout, row_B} = this.pane;
        if (byte === null)
            return;
        if (place && !place.padding) {
            const first = byte - place.byte; // all bytes of the element
            for (let at = first; at < first + layout.element_B;) {
                const count = Math.min(row_B - at % row_B, first + layout.element_B - at);
                this.draw_ring(c, at % row_B, Math.floor(at / row_B), count);
                at += count;
            }
        } else {
            this.draw_ring(c, byte % row_B, Math.floor(byte / row_B));
        }
    }
}
