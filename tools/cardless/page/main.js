// SPDX-License-Identifier: MIT
// The page as a whole: what is selected, what is in sight, tabs, filters and theme. input.js has
// the mouse and the keyboard.
'use strict';

const TABS = ['space', 'arrays', 'calls', 'diagnostics'];
const PANES = {space: 'space-pane', arrays: 'array-pane', calls: 'calls-pane',
    diagnostics: 'diagnostics-pane'};
const EDGE_COLOURS = {event: 'event', semaphore: 'signal', graph: 'graph', stream: 'faint',
    legacy: 'event', synchronise: 'host', query: 'host', submission: 'soft'};

class App {
    constructor(data) {
        this.model = new Model(data);
        this.axis = new Axis(this.model);
        this.selected = this.hovered = null;
        this.cursor = null;
        this.span = null; // [x, x] while a drag chooses what to enlarge
        this.hidden = new Set(); // kinds that the filter leaves out: a command class, or 'calls'
        this.history = [];
        this.future = [];
        this.tab = 'space';
        this.font = '11.5px system-ui, sans-serif';
        this.bold_font = '600 11.5px system-ui, sans-serif';
        this.small_font = '10.5px system-ui, sans-serif';
        this.mono_font = '10.5px ui-monospace, "DejaVu Sans Mono", monospace';
        this.choose_theme();
        this.search = new Search(this);
        this.timeline = new Timeline(this, by_id('timeline'));
        this.overview = new Overview(this, by_id('overview'));
        this.space = new Space(this, by_id('space'));
        this.details = new Details(this, by_id('details'));
        this.look_of_call = i => this.find_look_of_call(i);
        this.look_of_command = i => this.find_look_of_command(i);
        this.arrays = new ArrayPane(this);
        this.search_panel = new SearchPanel(this);
        this.make_filters();
        this.make_lists();
        this.make_tabs();
        this.axis.listeners.push(() => this.redraw());
        by_id('program').textContent = data.program || '';
        by_id('program').title = data.program || '';
        document.title = `${short_program(data.program)} – Cardless trace`;
        new ResizeObserver(() => this.redraw(true)).observe(by_id('views'));
        this.fit_timeline();
        this.show_tab(this.first_tab());
        this.details.show(null);
        this.update_navigation();
        this.axis.show(-this.axis.length * 0.01, this.axis.length * 1.02);
        this.follow_address();
        window.addEventListener('hashchange', () => this.follow_address());
    }

    first_tab() {
        return this.model.memory.count ? 'space' : this.model.arrays.length ? 'arrays' : 'calls';
    }

    // Gives the timeline the height that its lanes need, from a quarter to half of the window.
    fit_timeline() {
        const wanted = this.timeline.content_height + RULER_PX, room = innerHeight - 52 - 38 - 34;
        if (this.tab === 'arrays') { // which needs more room than the timeline
            by_id('timeline').style.height = `${Math.round(Math.min(wanted, room * 0.3))}px`;
            return;
        }
        by_id('timeline').style.height =
            `${Math.round(clamp(wanted, room * 0.25, room * 0.56))}px`;
    }

    choose_theme() {
        const asked = new URLSearchParams(location.search).get('theme');
        let kept = null;
        try {
            kept = localStorage.getItem('cardless-theme');
        } catch {
            // pages from files may have no storage
        }
        const dark = matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
        this.set_theme(asked || kept || dark);
    }

    set_theme(name) {
        document.documentElement.dataset.theme = name === 'dark' ? 'dark' : 'light';
        read_theme();
        if (this.timeline)
            this.redraw();
        if (this.details)
            this.details.show(this.selected);
    }

    switch_theme() {
        const name = theme.dark ? 'light' : 'dark';
        try {
            localStorage.setItem('cardless-theme', name);
        } catch {
            // it is not kept, then
        }
        this.set_theme(name);
        this.make_filters();
    }

    // Draws everything that is in sight, once, before the next frame.
    redraw(resized) {
        if (resized) {
            for (const picture of this.arrays ? this.arrays.pictures : [])
                picture.fitted = false;
            this.resized = true;
        }
        if (this.asked)
            return;
        this.asked = true;
        requestAnimationFrame(() => {
            this.asked = false;
            this.draw();
        });
    }

    draw() {
        const began = performance.now();
        this.axis.width = by_id('timeline').clientWidth;
        this.axis.gutter = this.axis.width > 1200 ? 190 : 168;
        this.overview.draw();
        this.timeline.draw();
        if (this.tab === 'space')
            this.space.draw();
        else if (this.tab === 'arrays')
            this.arrays.draw();
        else if (this.tab === 'calls' && this.resized)
            this.calls_list.draw();
        this.resized = false;
        this.say_part();
        this.frame_ms = performance.now() - began;
    }

    say_part() {
        const {axis, model} = this, slider = by_id('overview');
        const first = format_ns(Math.max(0, axis.time(Math.max(0, axis.first))), 4);
        const end = format_ns(Math.min(model.end, axis.time(Math.min(axis.end, axis.length))), 4);
        slider.setAttribute('aria-valuetext', `${first} to ${end}`);
        slider.setAttribute('aria-valuemin', 0);
        slider.setAttribute('aria-valuemax', Math.round(model.end));
        slider.setAttribute('aria-valuenow',
            Math.round(clamp(axis.time(Math.max(0, axis.first)), 0, model.end)));
        by_id('axis-time').setAttribute('aria-pressed', !axis.ordered);
        by_id('axis-order').setAttribute('aria-pressed', axis.ordered);
    }

    // The matches of the search in a table, or null if no search is on.
    dims(table) {
        const {matches} = this.search, {model} = this;
        return !matches ? null : table === model.calls ? matches.call :
            table === model.commands ? matches.command : matches.memory;
    }

    is_shown(table, i) {
        return this.hidden.size === 0 ||
            !this.hidden.has(table === this.model.calls ? this.class_of_call(i) : table.class[i]);
    }

    class_of_call(i) {
        const c = this.model.calls;
        return c.failed[i] ? 'failed' : c.waits[i] ? 'waits' :
            is_runtime_call(c.name[i]) ? 'runtime' : 'calls';
    }

    find_look_of_call(i) {
        const c = this.model.calls;
        return {
            colour: theme[{failed: 'bad', waits: 'call-wait', runtime: 'call-runtime',
                calls: 'call'}[this.class_of_call(i)]],
            ink: c.waits[i] && !c.failed[i] ? theme.text : theme['on-colour'],
            text: () => c.name[i],
        };
    }

    find_look_of_command(i) {
        const k = this.model.commands;
        return {
            colour: theme[COMMAND_KINDS[k.class[i]][1]], ink: theme['on-colour'],
            text: () => k.text && k.text[i] || k.kind[i],
        };
    }

    colour_of_edge(why) {
        return theme[EDGE_COLOURS[why] || 'other'];
    }

    colour_of({type, index}) {
        switch (type) {
        case 'call': return this.find_look_of_call(index).colour;
        case 'command': return this.find_look_of_command(index).colour;
        case 'memory': return memory_colour(this.model.memory.kind[index]);
        case 'array': return theme.array;
        case 'diagnostic': return theme.bad;
        case 'object': return this.model.objects[index].kind.startsWith('graphics') ?
            theme.graphics : theme.signal;
        }
        return theme.other;
    }

    // The second line about a thing, in tips and in the list of matches.
    text_of({type, index}) {
        const {calls: c, commands: k, memory: m, diagnostics} = this.model;
        return type === 'call' ? c.args[index] || '' : type === 'command' ?
            k.text && k.text[index] || '' : type === 'memory' ? (m.address[index] ?
            format_address(m.address[index]) : 'no device address') : type === 'diagnostic' ?
            diagnostics[index].text : '';
    }

    // Selects a thing, or nothing. `reveal` moves the views to it.
    select(item, reveal = false, remember = true) {
        if (same_item(item, this.selected) && !reveal)
            return;
        if (remember && !same_item(item, this.selected)) {
            this.history.push(this.selected);
            this.future = [];
        }
        this.selected = item;
        this.hovered = null;
        this.details.show(item);
        this.update_navigation();
        if (item && item.type === 'array')
            this.arrays.show(item.index);
        const place = item ? this.place_of(item) : null;
        if (item && item.type === 'memory' && this.model.arrays_of_memory.has(
            this.model.id_of(item)))
            this.arrays.show(this.model.arrays_of_memory.get(this.model.id_of(item))[0]);
        if (reveal && item) {
            if (item.type !== 'array' && !['stream', 'thread', 'object'].includes(item.type))
                this.axis.reveal(...this.model.time_of(place || item));
            if (place)
                this.timeline.reveal(place);
            this.space.reveal(item);
            if (item.type === 'memory' && this.tab !== 'arrays')
                this.show_tab('space');
        }
        this.mark_in_lists(item);
        this.say(item ? `${this.details.title_of(item)}. ${this.text_of(item)}` : '');
        const hash = item ? `#${item.type}-${this.model.id_of(item)}` : '#';
        if (location.hash !== hash && !(hash === '#' && !location.hash))
            history.replaceState(null, '', hash);
        this.redraw();
    }

    // The call or command whose lane should be in sight.
    place_of(item) {
        if (item.type === 'diagnostic')
            return this.model.find('call', this.model.diagnostics[item.index].call);
        return item.type === 'call' || item.type === 'command' ? item : null;
    }

    go(from, to) {
        if (!from.length)
            return;
        to.push(this.selected);
        this.select(from.pop(), true, false);
        this.update_navigation();
    }

    update_navigation() {
        by_id('back').disabled = !this.history.length;
        by_id('forward').disabled = !this.future.length;
        by_id('unselect').disabled = !this.selected;
    }

    // The page's address may name a thing: page.html#call-12.
    follow_address() {
        const [, type, id] = location.hash.match(/^#([a-z]+)-(\d+)$/) || [];
        const item = TYPES.includes(type) ? this.model.find(type, Number(id)) : null;
        if (item && !same_item(item, this.selected))
            this.select(item, true);
    }

    hover(item) {
        if (same_item(item, this.hovered))
            return;
        this.hovered = item;
        this.redraw();
    }

    say(text) {
        by_id('said').textContent = text;
    }

    make_filters() {
        const {calls: c, commands: k} = this.model, counts = new Map();
        const count = kind => counts.set(kind, (counts.get(kind) || 0) + 1);
        for (let i = 0; i < c.count; i++)
            count(this.class_of_call(i));
        for (let i = 0; i < k.count; i++)
            count(k.class[i]);
        const kinds = [['calls', counts.get('runtime') ? 'driver calls' : 'calls', theme.call],
            ['runtime', 'runtime calls', theme['call-runtime']],
            ['waits', 'waiting', theme['call-wait']], ['failed', 'failed', theme.bad],
        ...COMMAND_KINDS.map(([name, colour], i) => [i, name, theme[colour]])];
        by_id('filters').replaceChildren(...kinds.filter(([kind]) => counts.get(kind))
            .map(([kind, name, colour]) => element('button.chip', {
                type: 'button', 'aria-pressed': !this.hidden.has(kind),
                title: 'Click to hide or show; double click to show only these',
                onclick: event => this.toggle_kind(kind, event.currentTarget),
                ondblclick: () => this.only_kind(kind, kinds.map(([other]) => other)),
            }, element('span.mark', {style: `background:${colour}`}), name,
            element('span.count', null, group_digits(counts.get(kind))))));
        by_id('legend').replaceChildren(...['allocation', 'import', 'mapping', 'array',
            'reservation', 'read', 'write'].map(name => element('span', null,
            element('span.mark', {style: `background:${theme[name]}`}), name)));
    }

    toggle_kind(kind, chip) {
        if (!this.hidden.delete(kind))
            this.hidden.add(kind);
        chip.setAttribute('aria-pressed', !this.hidden.has(kind));
        this.filter_changed();
    }

    only_kind(kind, kinds) {
        const alone = this.hidden.size === kinds.length - 1 && !this.hidden.has(kind);
        this.hidden = new Set(alone ? [] : kinds.filter(other => other !== kind));
        this.make_filters();
        this.filter_changed();
    }

    filter_changed() {
        this.list_calls();
        this.redraw();
    }

    make_lists() {
        this.calls_list = new VirtualList(by_id('calls'), CALL_PX, row => this.call_row(row),
            row => this.select({type: 'call', index: this.listed[row]}, true));
        this.call_order = this.model.order_of(this.model.calls.start);
        this.list_calls();
        const {model} = this, pane = by_id('diagnostics-pane');
        pane.replaceChildren(...model.diagnostics.map((d, index) => this.diagnostic_card(d,
            index)));
        if (!model.diagnostics.length)
            pane.replaceChildren(element('p.nothing', {style: 'display:block'},
                'No diagnostics: nothing was reported in this run.'));
    }

    list_calls() {
        const c = this.model.calls, dim = this.dims(c);
        this.listed = this.call_order.filter(i => (!dim || dim[i]) && this.is_shown(c, i));
        by_id('calls-pane').classList.toggle('empty', !this.listed.length);
        this.calls_list.set_count(this.listed.length);
        this.set_tab_counts();
    }

    call_row(row) {
        const {model} = this, c = model.calls, i = this.listed[row];
        const thread = model.find('thread', c.thread[i]);
        const kind = (c.failed[i] ? '.failed' : '') +
            (is_runtime_call(c.name[i]) ? '.runtime' : '');
        return element(`div.call-row${kind}`, null,
            element('span.soft', null, String(c.n[i])),
            element('span.soft', null, format_ns(c.start[i], 5)),
            element('span.soft', null, format_ns(c.end[i] - c.start[i], 3)),
            element('span.soft', null, thread ? model.name_of(thread) : ''),
            element('span', null, '\u2003'.repeat(c.depth[i]),
                element('span.name', null, c.name[i]), ' ',
                element('span.args', null, c.args[i] || '')),
            element('span.result', null, (c.result[i] || '').replace(/^CUDA_?SUCCESS$/i, '✓')
                .replace(/^(CUDA_ERROR_|cudaError)/, '')));
    }

    diagnostic_card(d, index) {
        const call = this.model.find('call', d.call);
        return element('button.diagnostic', {type: 'button',
            onclick: () => this.select({type: 'diagnostic', index}, true)},
        element('strong', null, d.id), element('span', null, d.text),
        element('span.time', null, format_ns(d.t, 5)),
        call ? element('span.where', null, `in ${this.details.title_of(call)}`) : null);
    }

    mark_in_lists(item) {
        [...by_id('diagnostics-pane').querySelectorAll('.diagnostic')].forEach((card, index) =>
            card.classList.toggle('selected', same_item(item, {type: 'diagnostic', index})));
        if (this.tab === 'calls' && item && item.type === 'call') {
            const row = this.listed.indexOf(item.index);
            if (row >= 0 && row !== this.calls_list.active)
                this.calls_list.set_active(row);
        }
    }

    make_tabs() {
        for (const name of TABS)
            by_id(`tab-${name}`).addEventListener('click', () => this.show_tab(name));
        by_id('tabs').addEventListener('keydown', event => {
            const step = {ArrowLeft: -1, ArrowRight: 1}[event.key];
            if (!step)
                return;
            event.stopPropagation();
            this.show_tab(TABS[(TABS.indexOf(this.tab) + step + TABS.length) % TABS.length]);
            by_id(`tab-${this.tab}`).focus();
        });
        this.set_tab_counts();
    }

    set_tab_counts() {
        const {model} = this;
        const counts = {space: model.memory.count, arrays: model.arrays.length,
            calls: this.listed ? this.listed.length : model.calls.count,
            diagnostics: model.diagnostics.length};
        for (const [name, count] of Object.entries(counts)) {
            const tab = by_id(`tab-${name}`), bad = name === 'diagnostics' && count > 0;
            tab.querySelector('.count')?.remove();
            tab.append(element(bad ? 'span.count.bad' : 'span.count', null, group_digits(count)));
        }
    }

    show_tab(name) {
        const before = this.tab;
        this.tab = name;
        if (!this.height_chosen && (name === 'arrays') !== (before === 'arrays'))
            this.fit_timeline();
        for (const other of TABS) {
            const shown = other === name, tab = by_id(`tab-${other}`);
            tab.setAttribute('aria-selected', shown);
            tab.tabIndex = shown ? 0 : -1;
            by_id(PANES[other]).hidden = !shown;
        }
        by_id('legend').hidden = name !== 'space';
        if (name === 'calls') {
            this.calls_list.draw();
            this.mark_in_lists(this.selected);
        }
        if (name === 'arrays' && this.arrays.index >= 0)
            this.arrays.set_rows();
        this.redraw(true);
    }
}
