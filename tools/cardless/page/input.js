// SPDX-License-Identifier: MIT
// Mouse and keyboard.
'use strict';

class Input {
    constructor(app) {
        this.app = app;
        this.view(by_id('timeline'), app.timeline);
        this.view(by_id('space'), app.space);
        this.strip(by_id('overview'));
        this.divider(by_id('divider'));
        this.buttons();
        window.addEventListener('keydown', event => this.key(event));
    }

    // Zoom, drag, hover and click of the timeline or the address space.
    view(canvas, view) {
        const {app} = this, {axis} = app;
        let drag = null;
        canvas.addEventListener('wheel', event => {
            event.preventDefault();
            const sideways = event.shiftKey ? event.deltaY : event.deltaX;
            if (event.altKey || event.offsetX < axis.gutter)
                view.scroll += event.deltaY;
            else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY))
                axis.pan(sideways);
            else
                axis.zoom(Math.exp(clamp(event.deltaY, -300, 300) * 0.0022),
                    axis.position_at(event.offsetX));
            app.redraw();
        }, {passive: false});
        canvas.addEventListener('pointerdown', event => {
            if (event.button !== 0)
                return;
            canvas.setPointerCapture(event.pointerId);
            cancelAnimationFrame(axis.gliding);
            const {offsetX: x, offsetY: y} = event;
            const thumb = view.thumb && x > view.width - 12;
            drag = {x, y, moved: false, thumb, span: event.shiftKey || y < RULER_PX ? x : null};
        });
        canvas.addEventListener('pointermove', event => {
            const {offsetX: x, offsetY: y} = event;
            app.cursor = x;
            if (drag && (drag.moved || Math.hypot(x - drag.x, y - drag.y) > 3)) {
                drag.moved = true;
                this.drag_view(view, drag, x, y);
                this.tip(null);
            } else if (!drag) {
                const item = view.hit(x, y);
                app.hover(item);
                canvas.style.cursor = item ? 'pointer' : 'default';
                this.tip(item, event);
            }
            app.redraw();
        });
        canvas.addEventListener('pointerup', event => {
            if (drag && !drag.moved)
                app.select(view.hit(event.offsetX, event.offsetY));
            else if (drag && drag.span !== null)
                this.zoom_to_span(drag.span, event.offsetX);
            drag = null;
            app.span = null;
            app.redraw();
        });
        canvas.addEventListener('pointerleave', () => {
            app.cursor = null;
            app.hover(null);
            this.tip(null);
            app.redraw();
        });
        canvas.addEventListener('dblclick', event => {
            const item = view.hit(event.offsetX, event.offsetY);
            if (item)
                this.zoom_to(item);
            else
                axis.fit();
        });
    }

    drag_view(view, drag, x, y) {
        const {app} = this;
        if (drag.span !== null) {
            app.span = [drag.span, x];
        } else if (drag.thumb) {
            view.scroll += (y - drag.y) * view.thumb.most / view.thumb.track;
        } else {
            app.axis.pan(drag.x - x);
            view.scroll += drag.y - y;
        }
        drag.x = x;
        drag.y = y;
    }

    zoom_to_span(x0, x1) {
        const {axis} = this.app;
        if (Math.abs(x1 - x0) > 4)
            axis.glide(axis.position_at(Math.min(x0, x1)), axis.position_at(Math.max(x0, x1)));
    }

    zoom_to(item) {
        const {axis, model} = this.app, [start, end] = model.time_of(item);
        const from = axis.position(start), to = Math.min(axis.position(end), axis.length);
        const margin = Math.max((to - from) * 0.6, axis.shortest());
        axis.glide(from - margin, to + margin);
    }

    strip(canvas) {
        const {app} = this, {axis} = app;
        let grip = null;
        canvas.addEventListener('pointerdown', event => {
            canvas.setPointerCapture(event.pointerId);
            const at = app.overview.position_at(event.offsetX), span = axis.end - axis.first;
            if (at < axis.first || at > axis.end)
                axis.show(at - span / 2, at + span / 2);
            grip = at - axis.first;
        });
        canvas.addEventListener('pointermove', event => {
            if (grip === null)
                return;
            const first = app.overview.position_at(event.offsetX) - grip;
            axis.show(first, first + axis.end - axis.first);
        });
        canvas.addEventListener('pointerup', () => grip = null);
        canvas.addEventListener('wheel', event => {
            event.preventDefault();
            axis.zoom(Math.exp(event.deltaY * 0.0022),
                clamp(app.overview.position_at(event.offsetX), axis.first, axis.end));
        }, {passive: false});
    }

    divider(bar) {
        const {app} = this, timeline = by_id('timeline');
        const resize = height => {
            timeline.style.height = `${clamp(height, 70, innerHeight - 260)}px`;
            app.height_chosen = true;
            app.redraw(true);
        };
        let from = null;
        bar.addEventListener('pointerdown', event => {
            bar.setPointerCapture(event.pointerId);
            from = timeline.clientHeight - event.clientY;
        });
        bar.addEventListener('pointermove', event => {
            if (from !== null)
                resize(from + event.clientY);
        });
        bar.addEventListener('pointerup', () => from = null);
        bar.addEventListener('keydown', event => {
            const step = {ArrowUp: -20, ArrowDown: 20}[event.key];
            if (!step)
                return;
            event.preventDefault();
            event.stopPropagation();
            resize(timeline.clientHeight + step);
        });
    }

    buttons() {
        const {app} = this;
        const on = (id, action) => by_id(id).addEventListener('click', action);
        on('fit', () => app.axis.fit());
        on('axis-time', () => app.axis.set_ordered(false));
        on('axis-order', () => app.axis.set_ordered(true));
        on('theme', () => app.switch_theme());
        on('help', () => by_id('keys').showModal());
        on('back', () => app.go(app.history, app.future));
        on('forward', () => app.go(app.future, app.history));
        on('unselect', () => app.select(null));
    }

    key(event) {
        const {app} = this, {axis} = app;
        if (event.ctrlKey || event.metaKey || event.altKey || by_id('keys').open ||
            event.target.closest('input, select'))
            return;
        const middle = app.cursor === null ? undefined : axis.position_at(app.cursor);
        const actions = {
            '/': () => by_id('search').focus(), f: () => axis.fit(), '0': () => axis.fit(),
            '+': () => axis.zoom(1 / 1.4, middle), '=': () => axis.zoom(1 / 1.4, middle),
            w: () => axis.zoom(1 / 1.4, middle), '-': () => axis.zoom(1.4, middle),
            s: () => axis.zoom(1.4, middle), a: () => axis.pan(-90), d: () => axis.pan(90),
            o: () => axis.set_ordered(!axis.ordered), '?': () => by_id('keys').showModal(),
            n: () => app.search_panel.step(1), p: () => app.search_panel.step(-1),
            '[': () => app.go(app.history, app.future),
            ']': () => app.go(app.future, app.history),
            Escape: () => app.select(null),
            ArrowRight: () => this.move_along(1), ArrowLeft: () => this.move_along(-1),
            ArrowDown: () => this.move_across(1), ArrowUp: () => this.move_across(-1),
            Enter: event.target.closest('button, [role="option"]') ? null :
                () => app.selected && this.zoom_to(app.selected),
        };
        TABS.forEach((name, i) => actions[String(i + 1)] = () => app.show_tab(name));
        const action = actions[event.key.length === 1 ? event.key.toLowerCase() : event.key];
        if (!action)
            return;
        event.preventDefault();
        action();
    }

    // The next thing in the lane of the selected one; the first call if nothing is selected.
    move_along(by) {
        const {app} = this, {model, selected} = app;
        if (selected && selected.type === 'memory') {
            const order = [...model.memory.start.keys()].sort((x, y) =>
                model.memory.start[x] - model.memory.start[y] || x - y);
            const next = order[order.indexOf(selected.index) + by];
            if (next !== undefined)
                app.select({type: 'memory', index: next}, true);
            return;
        }
        const place = selected ? app.place_of(selected) : null;
        const lane = place ? this.lane_of(place) : null;
        if (!lane) {
            const first = app.timeline.lanes.find(l => l.items && l.items.length);
            if (first)
                app.select({type: first.type === 'calls' ? 'call' : 'command',
                    index: first.items[0]}, true);
            return;
        }
        const table = place.type === 'call' ? model.calls : model.commands;
        const dim = app.dims(table);
        for (let at = lane.items.indexOf(place.index) + by; at >= 0 && at < lane.items.length;
            at += by)
            if (app.is_shown(table, lane.items[at]) && (!dim || dim[lane.items[at]])) {
                app.select({type: place.type, index: lane.items[at]}, true);
                return;
            }
    }

    lane_of(item) {
        const {app} = this, {model} = app;
        const id = item.type === 'call' ?
            `thread-${model.thread_by_id.get(model.calls.thread[item.index])}` :
            `stream-${model.stream_by_id.get(model.commands.stream[item.index])}`;
        return app.timeline.lane_of.get(id);
    }

    // The thing of the next lane that is nearest in time.
    move_across(by) {
        const {app} = this, {model, selected} = app, place = selected && app.place_of(selected);
        const lanes = app.timeline.lanes.filter(l => (l.type === 'calls' ||
            l.type === 'commands') && l.items.length);
        if (!place) {
            this.move_along(1);
            return;
        }
        const next = lanes[lanes.indexOf(this.lane_of(place)) + by];
        if (!next)
            return;
        const table = next.type === 'calls' ? model.calls : model.commands;
        const [time] = model.time_of(place);
        const nearest = next.items.reduce((best, i) => Math.abs(table.start[i] - time) <
            Math.abs(table.start[best] - time) ? i : best);
        app.select({type: next.type === 'calls' ? 'call' : 'command', index: nearest}, true);
    }

    // The small box beside the pointer.
    tip(item, event) {
        const tip = by_id('tip'), {app} = this;
        tip.hidden = !item;
        if (!item)
            return;
        const [start, end] = app.model.time_of(item), text = app.text_of(item);
        tip.replaceChildren(element('strong', null, app.details.title_of(item)),
            text ? element('span', null, text.length > 160 ? `${text.slice(0, 160)}…` : text) : '',
            element('span', {style: 'display:block'}, `at ${format_ns(start, 5)}` +
                (end === Infinity ? ', alive at the end' : end > start ?
                    `, ${item.type === 'memory' ? 'alive' : 'takes'} ${format_ns(end - start)}` :
                    '')));
        const left = clamp(event.clientX + 14, 4, innerWidth - tip.offsetWidth - 4);
        const below = event.clientY + 18 + tip.offsetHeight < innerHeight;
        tip.style.left = `${left}px`;
        tip.style.top = `${below ? event.clientY + 18 : event.clientY - 12 - tip.offsetHeight}px`;
    }
}

// Starts the page, or says why it cannot.
function start() {
    const began = performance.now();
    try {
        const app = new App(JSON.parse(by_id('trace').textContent));
        new Input(app);
        window.cardless = app; // for tests and for the browser's console
        app.load_ms = performance.now() - began;
    } catch (error) {
        document.body.replaceChildren(element('p', {style: 'padding:40px'},
            `The trace in this page cannot be shown: ${error.message}`));
        throw error;
    }
}
start();
