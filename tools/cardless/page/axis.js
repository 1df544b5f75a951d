// SPDX-License-Identifier: MIT
// The horizontal axis that the timeline and the address space share: which part of the run is in
// sight. It shows either time, or the order of events, all at the same distance.
'use strict';

class Axis {
    constructor(model) {
        this.model = model;
        this.listeners = [];
        this.gutter = 168;
        this.width = 800;
        this.ordered = false;
        this.set_ordered(this.prefers_order());
    }

    // All distinct times at which something begins or ends, sorted; found when they are needed.
    get moments() {
        this.found_moments = this.found_moments || this.find_moments();
        return this.found_moments;
    }

    find_moments() {
        const {calls: c, commands: k, memory: m, duration} = this.model;
        const all = new Float64Array(2 * c.count + 3 * k.count + 2 * m.count + 2);
        let count = 0;
        for (const column of [c.start, c.end, k.queued, k.start, k.end, m.start, m.end])
            for (let i = 0; i < column.length; i++)
                if (column[i] !== Infinity)
                    all[count++] = column[i];
        all[count++] = 0;
        all[count++] = duration;
        const sorted = all.subarray(0, count).sort();
        let distinct = 0;
        for (let i = 0; i < count; i++)
            if (i === 0 || sorted[i] !== sorted[distinct - 1])
                sorted[distinct++] = sorted[i];
        return sorted.slice(0, distinct);
    }

    // In a short run with long pauses, most events would be too narrow to read.
    prefers_order() {
        const {calls: c, duration} = this.model;
        if (c.count === 0 || c.count > 400)
            return false;
        const lengths = Float64Array.from(c.start, (t, i) => c.end[i] - t).sort();
        return lengths[c.count >> 1] / duration * 1000 < 4;
    }

    set_ordered(ordered) {
        const centre = this.first === undefined ? null :
            this.time((this.first + this.end) / 2);
        const share = this.first === undefined ? 1 : (this.end - this.first) / this.length;
        this.ordered = ordered;
        this.length = ordered ? this.moments.length - 1 || 1 : this.model.duration;
        for (const table of [this.model.calls, this.model.commands, this.model.memory])
            this.place_table(table);
        if (centre === null) {
            this.first = 0;
            this.end = this.length;
        } else {
            const middle = this.position(centre), half = share * this.length / 2;
            this.show(middle - half, middle + half);
        }
        this.changed();
    }

    place_table(table) {
        table.from = this.ordered ? table.start.map(t => this.position(t)) : table.start;
        table.to = this.ordered ? table.end.map(t => this.position(t)) : table.end;
        if (table.queued)
            table.asked = this.ordered ? table.queued.map(t => this.position(t)) : table.queued;
    }

    // Between times, positions on the axis, and x in the views.
    position(time) {
        if (!this.ordered || time === Infinity)
            return time;
        const m = this.moments, next = lower_bound(m, time);
        if (next === 0 || m[next] === time)
            return next;
        if (next >= m.length)
            return m.length - 1;
        return next - 1 + (time - m[next - 1]) / (m[next] - m[next - 1]);
    }

    time(position) {
        if (!this.ordered)
            return position;
        const m = this.moments, i = clamp(Math.floor(position), 0, m.length - 1);
        return i + 1 < m.length ? m[i] + (position - i) * (m[i + 1] - m[i]) : m[i];
    }

    get scale() {
        return (this.width - this.gutter) / (this.end - this.first);
    }

    x(position) {
        return this.gutter + (position - this.first) * this.scale;
    }

    x_of_time(time) {
        return this.x(this.position(time));
    }

    position_at(x) {
        return this.first + (x - this.gutter) / this.scale;
    }

    shortest() {
        return this.ordered ? Math.min(2, this.length) : Math.min(20, this.length);
    }

    // Shows a part of the axis, moved and shortened to what there is.
    show(first, end) {
        const margin = this.length * 0.02;
        const span = clamp(end - first, this.shortest(), this.length + 2 * margin);
        const middle = (first + end) / 2;
        const begin = clamp(middle - span / 2, -margin, this.length + margin - span);
        if (begin === this.first && begin + span === this.end)
            return;
        this.first = begin;
        this.end = begin + span;
        this.changed();
    }

    fit() {
        this.glide(-this.length * 0.01, this.length * 1.02);
    }

    zoom(factor, position = (this.first + this.end) / 2) {
        this.show(position - (position - this.first) * factor,
            position + (this.end - position) * factor);
    }

    pan(pixels) {
        const by = pixels / this.scale;
        this.show(this.first + by, this.end + by);
    }

    // Moves to another part in some steps, so that the eye can follow.
    glide(first, end) {
        cancelAnimationFrame(this.gliding);
        if (matchMedia('(prefers-reduced-motion: reduce)').matches) {
            this.show(first, end);
            return;
        }
        const from = [this.first, this.end], began = performance.now();
        const step = now => {
            const part = clamp((now - began) / 220, 0, 1), eased = 1 - (1 - part) ** 3;
            this.show(from[0] + (first - from[0]) * eased, from[1] + (end - from[1]) * eased);
            if (part < 1)
                this.gliding = requestAnimationFrame(step);
        };
        this.gliding = requestAnimationFrame(step);
    }

    // Brings a span of time into sight. It is enlarged only if it would be too narrow to see.
    reveal(start, end) {
        const from = this.position(start);
        const to = Math.min(this.position(end), this.length), span = this.end - this.first;
        const length = Math.max(to - from, 0);
        const wanted = length * this.scale < 3 ? Math.max(length * 60, this.shortest() * 6) :
            length > span ? length * 1.2 : span;
        const inside = from >= this.first + span * 0.04 && to <= this.end - span * 0.04;
        if (inside && wanted >= span * 0.99 && wanted <= span * 1.01)
            return;
        const middle = (from + to) / 2, size = Math.min(wanted, this.length * 1.02);
        this.glide(middle - size / 2, middle + size / 2);
    }

    changed() {
        for (const listener of this.listeners)
            listener();
    }

    // Marks of the ruler: [{x, text}].
    ticks() {
        return this.ordered ? this.order_ticks() : this.time_ticks();
    }

    time_ticks() {
        const wanted = (this.end - this.first) / Math.max(2, (this.width - this.gutter) / 110);
        const power = 10 ** Math.floor(Math.log10(wanted));
        const step = [1, 2, 5, 10].map(n => n * power).find(n => n >= wanted);
        const ticks = [];
        for (let t = Math.ceil(Math.max(0, this.first) / step) * step;
            t <= Math.min(this.end, this.length); t += step)
            ticks.push({x: this.x(t), text: format_tick(Math.round(t), Math.max(step, 1),
                Math.min(this.end, this.length))});
        return ticks;
    }

    order_ticks() {
        const wanted = (this.end - this.first) / Math.max(2, (this.width - this.gutter) / 110);
        const step = Math.max(1, Math.ceil(wanted)), ticks = [];
        for (let i = Math.ceil(Math.max(0, this.first) / step) * step;
            i <= Math.min(this.end, this.length); i += step)
            ticks.push({x: this.x(i), text: format_ns(this.moments[i], 5)});
        return ticks;
    }
}
