// SPDX-License-Identifier: MIT
// The pane with the pictures of an array: its levels and layers, the texels of one of them, and the
// bytes of all. Pointing at a texel shows its bytes, pointing at a byte shows its texel.
'use strict';

const ROW_CHOICES_B = [16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384];

class ArrayPane {
    constructor(app) {
        this.app = app;
        this.index = -1;
        this.level = this.z = 0;
        this.byte = this.place = null;
        this.texels = new TexelPicture(this, by_id('texels'));
        this.bytes = new BytePicture(this, by_id('bytes'));
        this.pictures = [this.texels, this.bytes];
        this.fill_choices();
        for (const picture of this.pictures)
            this.listen(picture);
        by_id('levels').addEventListener('click', event => this.choose_by_click(event));
        by_id('levels').addEventListener('keydown', event => this.choose_by_key(event));
    }

    fill_choices() {
        const {model} = this.app, choice = by_id('array-choice');
        model.arrays.forEach((_, i) => choice.append(element('option', {value: i},
            `${model.array_name(i)} (#${model.arrays[i].id})`)));
        choice.addEventListener('change', () =>
            this.app.select({type: 'array', index: Number(choice.value)}));
        const rows = by_id('row-choice');
        rows.append(element('option', {value: 0}, 'to fit'),
            ...ROW_CHOICES_B.map(n => element('option', {value: n}, format_size(n))));
        rows.addEventListener('change', () => {
            this.row_choice = Number(rows.value);
            this.set_rows();
            this.app.redraw();
        });
        by_id('array-pane').classList.toggle('empty', !model.arrays.length);
        if (model.arrays.length)
            this.show(0);
    }

    get layout() {
        return this.app.model.arrays[this.index].layout;
    }

    // What decides about the colours of the pictures.
    get key() {
        return [this.index, this.level, this.z, this.row_B, theme.dark].join();
    }

    show(index, level = 0, z = 0) {
        if (index === this.index && level === this.level && z === this.z)
            return;
        this.index = index;
        this.level = clamp(level, 0, this.layout.levels.length - 1);
        this.z = clamp(z, 0, layout_depth(this.layout, this.level) - 1);
        by_id('array-choice').value = index;
        this.byte = this.place = null;
        this.parts = this.find_parts();
        this.find_range();
        this.set_rows();
        this.texels.fitted = false;
        this.say();
        this.app.redraw();
    }

    show_level(level, z) {
        const {byte, place} = this;
        this.level = clamp(level, 0, this.layout.levels.length - 1);
        this.z = clamp(z, 0, layout_depth(this.layout, this.level) - 1);
        this.texels.fitted = false;
        this.find_range();
        this.byte = byte;
        this.place = place;
        this.say();
        this.app.redraw();
    }

    set_rows() {
        const {size_B} = this.layout, canvas = this.bytes.canvas;
        const cell_px = n => Math.min((canvas.clientWidth - 16) / n,
            (canvas.clientHeight - 16) / Math.ceil(size_B / n));
        this.row_B = this.row_choice ||
            ROW_CHOICES_B.reduce((best, n) => cell_px(n) > cell_px(best) ? n : best);
        this.bytes.fitted = false;
    }

    // The first bytes of all levels of all layers, those of level 0 first.
    find_parts() {
        const {layout} = this, parts = [];
        const layers = layout.layered ? Math.min(layout.layers, 64) : 1;
        layout.levels.forEach((v, level) => {
            for (let layer = 0; layer < layers; layer++)
                parts.push({offset_B: v.offset_B + layer * v.layer_stride_B,
                    text: `level ${level}${layout.layered ? `, layer ${layer}` : ''}`});
        });
        return parts;
    }

    // The first and last byte of the slice or layer that is shown, for its colours.
    find_range() {
        const {layout, level, z} = this, v = layout.levels[level];
        this.first_B = layout_locate(layout, level, 0, 0, z);
        this.last_B = layout_locate(layout, level, v.width_el - 1, v.height_el - 1, z);
        this.colours = new Uint32Array(512);
        for (let i = 0; i < 512; i++)
            this.colours[i] = packed(ramp_colour(i / 511));
    }

    part_of_byte(offset_B) {
        return this.last_B > this.first_B ?
            (offset_B - this.first_B) / (this.last_B - this.first_B) : 0.3;
    }

    colour_of_byte(offset_B) {
        return this.colours[clamp(Math.floor(this.part_of_byte(offset_B) * 511), 0, 511)];
    }

    point_at_texel(x, y, level = this.level, z = this.z) {
        const at = layout_locate(this.layout, level, x, y, z);
        this.byte = at < 0 ? null : at;
        this.place = at < 0 ? null : {level, x_el: x, y, z, byte: 0};
        this.say();
        this.app.redraw();
    }

    point_at_byte(offset_B) {
        this.byte = offset_B >= 0 && offset_B < this.layout.size_B ? offset_B : null;
        this.place = this.byte === null ? null : layout_find(this.layout, offset_B);
        this.say();
        this.app.redraw();
    }

    // The place in words: which texel it is, which bytes, and where these are.
    say() {
        const said = by_id('array-place'), {layout, place, byte} = this;
        by_id('array-facts').textContent = this.facts();
        by_id('texels-title').textContent = this.level_name(this.level, this.z);
        by_id('array-value').textContent = '';
        by_id('array-value').hidden = this.array.bytes === undefined;
        if (byte === null) {
            said.textContent = 'Point at a texel to see its bytes, or at a byte to see its texel.';
            return;
        }
        if (!place || place.padding) {
            said.textContent = `Byte ${format_address(byte)}${this.address_of(byte)} is ` +
                (place ? `padding of ${this.level_name(place.level, place.z)}.` :
                    'not part of any level.');
            by_id('array-value').textContent = this.value_of_byte(byte);
            return;
        }
        const first = byte - place.byte, last = first + layout.element_B - 1;
        const noun = layout.block_px > 1 ? 'Block of texels' : 'Texel';
        const bytes = last > first ? `bytes ${format_address(first)} to ${format_address(last)}` :
            `byte ${format_address(first)}`;
        said.textContent = `${noun} (${place.x_el}, ${place.y}) of ` +
            `${this.level_name(place.level, place.z)} is ${bytes}${this.address_of(first)}` +
            (layout.kind === 'block-linear' ? `, in ${this.gob_name(place, first)}.` : '.');
        by_id('array-value').textContent = this.value_of_texel(first);
    }

    get array() {
        return this.app.model.arrays[this.index];
    }

    // The value of the texel, and the moment at which it had this value.
    value_of_texel(first_B) {
        const {array} = this, text = texel_text(array, first_B);
        if (array.bytes === null)
            return 'Its value is not here, because the arrays before this one filled the page.';
        return text && `Its value ${this.moment_of_values()} is ${text}.`;
    }

    value_of_byte(offset_B) {
        const bytes = array_bytes(this.array);
        return bytes && offset_B < bytes.length ? `Its value ${this.moment_of_values()} is ` +
            `${format_bytes(bytes.subarray(offset_B, offset_B + 1))}.` : '';
    }

    moment_of_values() {
        const {ended_by} = this.array, {calls} = this.app.model;
        const call = ended_by === null ? undefined : calls.by_number.get(ended_by);
        return call === undefined ? 'at the end of the run' :
            `when ${calls.name[call]} (call ${ended_by}) ended it`;
    }

    gob_name({level}, offset_B) {
        const in_gob = offset_B % GOB_B;
        const gob = Math.floor((offset_B - this.layout.levels[level].offset_B) / GOB_B);
        return `GOB ${gob}, ${in_gob} bytes into it`;
    }

    address_of(offset_B) {
        const {model} = this.app, array = model.arrays[this.index];
        const memory = model.memory.by_id.get(array.memory);
        const base = memory === undefined ? 0 : model.memory.address[memory];
        return base ? ` (address ${format_address(base + (array.offset || 0) + offset_B)})` : '';
    }

    level_name(level, z) {
        const {layout} = this;
        const slice = layout.layered ? `, layer ${z}` : layout.dimensions === 3 ? `, slice ${z}` :
            '';
        return `level ${level}${slice}`;
    }

    facts() {
        const {layout, level} = this, v = layout.levels[level];
        const extent = [v.width_px, layout.dimensions > 1 && v.height_px,
            layout.dimensions > 2 && v.depth].filter(n => n).join('×');
        const facts = [`${extent} texels`, `${layout.element_B} bytes each`,
            `at byte ${format_address(v.offset_B)}`, format_size(v.size_B)];
        if (layout.kind === 'block-linear')
            facts.push(`${v.width_gob}×${v.height_gob} GOBs of 64 bytes × 8 rows`,
                `blocks of 1×${1 << v.block_height_log2_gob}×${1 << v.block_depth_log2_gob}`);
        else
            facts.push(`${layout.kind} rows of ${group_digits(v.pitch_B)} bytes`);
        return facts.join(' · ');
    }

    draw() {
        if (this.index < 0)
            return;
        this.draw_levels();
        this.texels.draw();
        this.bytes.draw();
    }

    // Levels from left to right, layers or slices from top to bottom.
    draw_levels() {
        const {context: c, width, height} = prepare_canvas(by_id('levels')), {layout} = this;
        c.fillStyle = theme.panel;
        c.fillRect(0, 0, width, height);
        c.font = this.app.small_font;
        c.textBaseline = 'middle';
        this.level_boxes = [];
        const total_px = layout.levels.reduce((sum, v) => sum + v.width_px, 0);
        const many = layout.levels.length > 6, gap = many ? 2 : 6, least = many ? 5 : 7;
        const room = width - 34 - (gap + least / 2) * layout.levels.length;
        const depth = Math.max(...layout.levels.map((_, i) => layout_depth(layout, i)));
        const rows = Math.min(depth, Math.max(1, Math.floor((height - 24) / 30)));
        const first = clamp(this.z - (rows >> 1), 0, depth - rows);
        const row_px = Math.min((height - 26) / rows, 60);
        const scale = Math.min(room / total_px, (row_px - 8) / layout.levels[0].height_px);
        let x = 26, free = 0;
        layout.levels.forEach((v, level) => {
            const w = Math.max(v.width_px * scale, least);
            const h = Math.max(v.height_px * scale, least);
            c.fillStyle = theme.soft;
            if (x >= free) {
                c.fillText(String(level), x, 10);
                free = x + 12;
            }
            for (let row = 0; row < rows; row++)
                if (first + row < layout_depth(layout, level))
                    this.draw_level_box(c, {x, y: 20 + row * row_px, w, h, level,
                        z: first + row});
            x += w + gap;
        });
        c.fillStyle = theme.soft;
        for (let row = 0; row < rows && depth > 1; row++)
            c.fillText(String(first + row), 10, 20 + row * row_px + 8);
    }

    draw_level_box(c, box) {
        const {place, level, z} = this, shown = box.level === level && box.z === z;
        this.level_boxes.push(box);
        c.fillStyle = shown ? theme.array : theme.line;
        c.fillRect(box.x, box.y, box.w, box.h);
        if (shown) {
            c.strokeStyle = theme.select;
            c.lineWidth = 2;
            c.strokeRect(box.x - 1, box.y - 1, box.w + 2, box.h + 2);
            c.lineWidth = 1;
        }
        if (place && place.level === box.level && place.z === box.z && !place.padding) {
            const v = this.layout.levels[box.level];
            c.fillStyle = theme.bad;
            c.beginPath();
            c.arc(box.x + (place.x_el + 0.5) / v.width_el * box.w,
                box.y + (place.y + 0.5) / v.height_el * box.h, 3, 0, 2 * Math.PI);
            c.fill();
        }
    }

    choose_by_click(event) {
        const hit = (this.level_boxes || []).find(b => event.offsetX >= b.x - 3 &&
            event.offsetX <= b.x + b.w + 3 && event.offsetY >= b.y - 3 &&
            event.offsetY <= b.y + b.h + 3);
        if (hit)
            this.show_level(hit.level, hit.z);
    }

    choose_by_key(event) {
        const step = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1],
            ArrowDown: [0, 1]}[event.key];
        if (!step)
            return;
        event.preventDefault();
        this.show_level(this.level + step[0], this.z + step[1]);
    }

    listen(picture) {
        const {canvas} = picture;
        let drag = null;
        canvas.addEventListener('wheel', event => {
            event.preventDefault();
            picture.zoom(Math.exp(-event.deltaY * 0.0022), event.offsetX, event.offsetY);
            this.app.redraw();
        }, {passive: false});
        canvas.addEventListener('pointerdown', event => {
            canvas.setPointerCapture(event.pointerId);
            drag = {x: event.offsetX, y: event.offsetY, moved: false};
        });
        canvas.addEventListener('pointermove', event => {
            if (drag && Math.hypot(event.offsetX - drag.x, event.offsetY - drag.y) > 3) {
                picture.pan(event.offsetX - drag.x, event.offsetY - drag.y);
                drag = {x: event.offsetX, y: event.offsetY, moved: true};
                this.app.redraw();
            } else if (!drag) {
                this.point(picture, ...picture.cell_at(event.offsetX, event.offsetY));
            }
        });
        canvas.addEventListener('pointerup', () => {
            if (drag && !drag.moved && picture === this.bytes && this.place)
                this.show_level(this.place.level, this.place.z);
            drag = null;
        });
        canvas.addEventListener('dblclick', () => {
            picture.fit();
            this.app.redraw();
        });
        canvas.addEventListener('keydown', event => this.move_by_key(picture, event));
    }

    point(picture, column, row) {
        const inside = column >= 0 && column < picture.columns && row >= 0 && row < picture.rows;
        if (picture === this.texels)
            this.point_at_texel(inside ? column : -1, row);
        else
            this.point_at_byte(inside ? row * this.row_B + column : -1);
    }

    move_by_key(picture, event) {
        const step = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1],
            ArrowDown: [0, 1]}[event.key];
        const zoom = {'+': 1.5, '=': 1.5, '-': 1 / 1.5}[event.key];
        if (zoom)
            picture.zoom(zoom, picture.canvas.clientWidth / 2, picture.canvas.clientHeight / 2);
        if (step && picture === this.texels) {
            const from = this.place && this.place.level === this.level ? this.place :
                {x_el: 0 - step[0], y: 0 - step[1]};
            this.point_at_texel(clamp(from.x_el + step[0], 0, picture.columns - 1),
                clamp(from.y + step[1], 0, picture.rows - 1));
        } else if (step) {
            this.point_at_byte(clamp((this.byte || 0) + step[0] + step[1] * this.row_B, 0,
                this.layout.size_B - 1));
        }
        if (step || zoom) {
            event.preventDefault();
            event.stopPropagation();
            this.app.redraw();
        }
    }
}
