// SPDX-License-Identifier: MIT
// The details of the selected thing, with links to everything that it has to do with.
'use strict';

const LINKS_MOST = 40;

class Details {
    constructor(app, root) {
        this.app = app;
        this.model = app.model;
        this.root = root;
    }

    show(item) {
        const parts = item ? this[`of_${item.type}`](item.index, item) : this.of_run();
        this.root.replaceChildren(...parts.flat(Infinity).filter(Boolean));
        this.root.scrollTop = 0;
    }

    // A link to a thing: its mark in the colour of its kind, its name, and a note.
    link(item, note) {
        const {app, model} = this;
        return element('button.link', {
            type: 'button', onclick: () => app.select(item, true),
            onpointerenter: () => app.hover(item), onpointerleave: () => app.hover(null),
            'data-item': `${item.type}-${model.id_of(item)}`,
        }, element('span.mark', {style: `background:${app.colour_of(item)}`}),
        element('span.name', null, this.title_of(item)),
        note ? element('span.note', null, note) : null);
    }

    title_of(item) {
        const {model} = this;
        if (item.type === 'call')
            return `${model.calls.name[item.index]} #${model.calls.n[item.index]}`;
        if (item.type === 'diagnostic')
            return `${model.name_of(item)} · ${model.diagnostics[item.index].text}`;
        if (item.type === 'memory')
            return this.app.space.label_of(item.index);
        return model.name_of(item);
    }

    links(title, items, note_of = () => null, counted = true) {
        if (!items || !items.length)
            return null;
        const shown = items.slice(0, LINKS_MOST);
        const count = counted && items.length > 1 ? ` (${group_digits(items.length)})` : '';
        return section(title + count,
            element('div.links', null, shown.map(item => this.link(item, note_of(item)))),
            items.length > LINKS_MOST ?
                element('p.more', null, `and ${group_digits(items.length - LINKS_MOST)} more`) :
                null);
    }

    items(type, indexes) {
        return (indexes || []).map(index => ({type, index}));
    }

    when(item) {
        const [start, end] = this.model.time_of(item);
        return [['Begins', format_ns(start, 7)],
            ['Takes', end === Infinity ? null : format_ns(end - start)]];
    }

    of_call(index, item) {
        const {model} = this, c = model.calls, number = c.n[index];
        const thread = model.find('thread', c.thread[index]);
        const result = c.result[index] || '';
        const inner = Array.from(c.outer.keys()).filter(i => c.outer[i] === index);
        return [
            heading('Call', `#${number}`, c.name[index]),
            result ? element('p', null, element(c.failed[index] ? 'span.badge.bad' :
                'span.badge.good', null, result)) : null,
            this.links('Diagnostics', this.items('diagnostic',
                model.diagnostics_of_call.get(number))),
            argument_table(c.args[index]),
            facts([...this.when(item), ['Thread', thread && model.name_of(thread)],
                ['Caller', c.caller && c.caller[index]]]),
            this.links('Made by', c.outer[index] < 0 ? [] : this.items('call', [c.outer[index]])),
            this.links('Calls that it made', this.items('call', inner),
                ({index: i}) => format_ns(c.end[i] - c.start[i], 3)),
            this.links('Commands', this.items('command', model.commands_of_call.get(number))),
            this.links('Memory', this.items('memory', model.memory_of_call.get(number))),
            this.links('Arrays', this.items('array', model.arrays_of_call.get(number))),
            this.ordering(item),
            this.neighbours(item, model.calls_of_thread.get(c.thread[index]), 'on this thread'),
        ];
    }

    of_command(index, item) {
        const {model} = this, k = model.commands;
        const call = model.find('call', k.call[index]);
        const stream = model.find('stream', k.stream[index]);
        const object = k.object && k.object[index] ? model.find('object', k.object[index]) : null;
        const waited = k.start[index] - k.queued[index];
        return [
            heading('Command', `#${k.id[index]}`, k.kind[index]),
            k.text && k.text[index] ? element('p.text', null, k.text[index]) : null,
            facts([['Queued', format_ns(k.queued[index], 7)],
                ['Waited', waited > 0 ? format_ns(waited) : '0'], ...this.when(item)]),
            this.links('Queued by', call ? [call] : []),
            this.links('Stream', stream ? [stream] : []),
            this.links('Uses', object ? [object] : [], () => k.value &&
                k.value[index] !== null ? `value ${k.value[index]}` : null),
            this.ranges('Reads', k.reads && k.reads[index], k.start[index]),
            this.ranges('Writes', k.writes && k.writes[index], k.start[index]),
            this.ordering(item),
            this.neighbours(item, model.commands_of_stream.get(k.stream[index]),
                'on this stream'),
        ];
    }

    ranges(title, ranges, time) {
        if (!ranges || !ranges.length)
            return null;
        return section(title, ranges.slice(0, LINKS_MOST).map(([address, size]) => {
            const at = this.model.memory_at(address, time);
            return element('div.range', null,
                element('code', null, `${format_address(address)} + ${format_size(size)}`),
                at < 0 ? null : this.link({type: 'memory', index: at}));
        }));
    }

    ordering(item) {
        const {model} = this, e = model.edges, key = key_of(item);
        const into = model.into.get(key) || [], out = model.out_of.get(key) || [];
        return [
            this.links('Waits for', into.map(i => ({...e.source[i], why: e.why[i]})),
                found => found.why),
            this.links('Must come before', out.map(i => ({...e.target[i], why: e.why[i]})),
                found => found.why),
        ];
    }

    neighbours(item, group, where) {
        const table = item.type === 'call' ? this.model.calls : this.model.commands;
        const at = group ? group.indexOf(item.index) : -1;
        if (at < 0 || group.length < 2)
            return null;
        const items = [group[at - 1], group[at + 1]].filter(i => i !== undefined)
            .map(index => ({type: item.type, index}));
        return this.links(`Next to it ${where}`, items, found =>
            table.start[found.index] < table.start[item.index] ||
            (table.start[found.index] === table.start[item.index] && found.index < item.index) ?
                'before' : 'after', false);
    }

    of_memory(index) {
        const {model} = this, m = model.memory, id = m.id[index];
        const call = model.find('call', m.born_call[index]);
        const below = m.of[index] ? model.find('memory', m.of[index]) : null;
        const address = m.address[index], end = m.end[index];
        return [
            heading('Memory', `#${id}`, memory_name(m, index)),
            m.text[index] ? element('p.text', null, m.text[index]) : null,
            this.links('Diagnostics', this.items('diagnostic',
                model.diagnostics_of_memory.get(id))),
            facts([['Addresses', address ? `${format_address(address)} to ` +
                format_address(address + m.size[index] - 1) : 'none'],
            ['Size', format_exact_size(m.size[index])],
            ['Begins', format_ns(m.start[index], 7)],
            ['Ends', end === Infinity ? 'alive when the trace ended' : format_ns(end, 7)],
            ['Alive for', format_ns(Math.min(end, model.end) - m.start[index])]]),
            this.links('Made by', call ? [call] : []),
            this.links('Shows bytes of', below ? [below] : [], () =>
                m.offset[index] ? `from +${format_address(m.offset[index])}` : null),
            this.links('Shown by', this.items('memory', m.above.get(index)),
                ({index: i}) => m.offset[i] ? `from +${format_address(m.offset[i])}` : null),
            this.links('Shares bytes with', this.items('memory', model.aliases_of(index)
                .filter(i => i !== m.root[index] && m.of[i] !== id)), ({index: i}) =>
                m.end[i] < m.start[index] || m.start[i] > end ? 'at another time' : null),
            this.links('Arrays', this.items('array', model.arrays_of_memory.get(id))),
            this.accesses(index),
        ];
    }

    // The commands that read or write this memory, also through another address.
    accesses(index) {
        const {model} = this, m = model.memory, k = model.commands, found = [];
        const places = [index, ...model.aliases_of(index)].filter(i => m.address[i]);
        const touches = (i, range) => places.some(p => k.end[i] >= m.start[p] &&
            k.start[i] <= m.end[p] && range[0] < m.address[p] + m.size[p] &&
            m.address[p] < range[0] + range[1]);
        for (let i = 0; i < k.count && found.length < 200; i++) {
            const writes = (k.writes && k.writes[i] || []).some(range => touches(i, range));
            const reads = (k.reads && k.reads[i] || []).some(range => touches(i, range));
            if (writes || reads)
                found.push({type: 'command', index: i,
                    how: writes && reads ? 'reads, writes' : writes ? 'writes' : 'reads'});
        }
        return this.links('Used by', found, item => item.how);
    }

    of_array(index) {
        const {model} = this, a = model.arrays[index], l = a.layout;
        const memory = model.find('memory', a.memory), call = model.find('call', a.call);
        return [
            heading('Array', `#${a.id}`, model.array_name(index)),
            facts([['Format', a.format], ['Extent', [a.width, a.height, a.depth]
                .filter(n => n).join(' × ')], ['Levels', l.levels.length],
            ['Layers', l.layered ? l.layers : null], ['Layout', l.kind],
            ['Bytes', format_exact_size(l.total_B)], ['Memory', format_exact_size(l.size_B)],
            ['Aligned to', l.alignment_B ? format_size(l.alignment_B) : null]]),
            element('p', null, element('button.wide', {type: 'button',
                onclick: () => this.app.show_tab('arrays')}, 'Show its levels and bytes')),
            this.links('Made by', call ? [call] : []),
            this.links('Memory', memory ? [memory] : []),
            memory ? this.accesses(memory.index) : null,
        ];
    }

    of_diagnostic(index) {
        const {model} = this, d = model.diagnostics[index];
        const call = model.find('call', d.call), memory = model.find('memory', d.memory);
        return [
            heading('Diagnostic', `at ${format_ns(d.t, 7)}`, d.id, 'bad'),
            element('p.text', null, d.text),
            this.links('Reported in', call ? [call] : []),
            this.links('About', memory ? [memory] : []),
            this.links('Commands of this call', this.items('command',
                model.commands_of_call.get(d.call))),
        ];
    }

    of_object(index) {
        const {model} = this, o = model.objects[index], k = model.commands;
        const call = model.find('call', o.born_call);
        return [
            heading(o.kind, `#${o.id}`, o.name),
            facts([['Begins', format_ns(o.born || 0, 7)],
                ['Ends', o.died === null || o.died === undefined ?
                    'alive when the trace ended' : format_ns(o.died, 7)]]),
            this.links('Made by', call ? [call] : []),
            this.links('Used by', this.items('command', model.commands_of_object.get(o.id)),
                item => k.value && k.value[item.index] !== null ?
                    `value ${k.value[item.index]}` : null),
        ];
    }

    of_stream(index) {
        const {model} = this, s = model.streams[index], k = model.commands;
        const commands = model.commands_of_stream.get(s.id) || [];
        const busy = commands.reduce((sum, i) => sum + k.end[i] - k.start[i], 0);
        return [
            heading('Stream', `#${s.id}`, s.name),
            facts([['Context', s.context], ['Commands', group_digits(commands.length)],
                ['Busy', `${format_ns(busy)} (${Math.round(busy / model.end * 100)} %)`]]),
            this.links('Commands', this.items('command', commands)),
        ];
    }

    of_thread(index) {
        const {model} = this, t = model.threads[index], c = model.calls;
        const calls = model.calls_of_thread.get(t.id) || [];
        const inside = calls.reduce((sum, i) => sum + (c.depth[i] ? 0 : c.end[i] - c.start[i]), 0);
        return [
            heading('Host thread', `#${t.id}`, t.name),
            facts([['Calls', group_digits(calls.length)], ['Time in calls',
                `${format_ns(inside)} (${Math.round(inside / model.end * 100)} %)`]]),
            this.links('Failed calls', this.items('call', calls.filter(i => c.failed[i]))),
        ];
    }

    of_run() {
        const {model} = this, {data} = model, k = model.commands, m = model.memory;
        const longest = []; // the five longest commands, the longest first
        for (let i = 0; i < k.count; i++) {
            const length = k.end[i] - k.start[i], last = longest[4];
            if (last !== undefined && length <= k.end[last] - k.start[last])
                continue;
            const at = longest.findIndex(j => k.end[j] - k.start[j] < length);
            longest.splice(at < 0 ? longest.length : at, 0, i);
            longest.length = Math.min(longest.length, 5);
        }
        const alive = Array.from(m.end.keys()).filter(i => m.end[i] === Infinity);
        const failed = Array.from(model.calls.failed.keys()).filter(i => model.calls.failed[i]);
        return [
            heading('This run', null, short_program(data.program)),
            facts([['Processor', data.cpu], ['Policy', data.policy],
                ['Duration', format_ns(model.duration)],
                ['Calls', group_digits(model.calls.count)],
                ['Commands', group_digits(k.count)],
                ['Peak memory', format_size(model.peak_memory)],
                ['Lost', data.lost ? `${data.lost} blocks of the recording` : null]]),
            model.diagnostics.length ? this.links('Diagnostics', this.items('diagnostic',
                [...model.diagnostics.keys()])) :
                section('Diagnostics', element('p.more', null, 'Nothing was reported.')),
            this.links('Failed calls', this.items('call', failed),
                item => model.calls.result[item.index].replace(/^(CUDA_ERROR_|cudaError)/, '')),
            this.links('Longest commands', this.items('command', longest),
                item => format_ns(k.end[item.index] - k.start[item.index]), false),
            this.links('Alive at the end', this.items('memory', alive)),
        ];
    }
}

function section(title, ...content) {
    return element('section', null, element('h3', null, title), ...content);
}

function heading(kind, number, title, look) {
    return element(look ? `header.${look}` : 'header', null,
        element('p.kind', null, number ? `${kind} ${number}` : kind),
        element('h2', null, title));
}

function facts(rows) {
    const shown = rows.filter(([, value]) => value !== null && value !== undefined && value !== '');
    return element('dl', null, shown.map(([name, value]) =>
        [element('dt', null, name), element('dd', null, String(value))]));
}

// A program's arguments, without the folder of the first one.
function short_program(text) {
    return (text || 'a program').replace(/^\S*\/(?=[^\s/]+(\s|$))/, '');
}

// Splits "dptr=0x…, desc={a=1, b=2}; *count=1" at the commas and semicolons that are outside of
// braces and quotes.
function split_arguments(text) {
    const parts = [];
    let depth = 0, quoted = false, from = 0;
    for (let i = 0; i < text.length; i++) {
        const letter = text[i];
        if (letter === '"' && text[i - 1] !== '\\')
            quoted = !quoted;
        else if (!quoted && '{[('.includes(letter))
            depth++;
        else if (!quoted && '}])'.includes(letter))
            depth--;
        else if (!quoted && (letter === ',' || letter === ';') && depth <= 0) {
            parts.push(text.slice(from, i).trim());
            from = i + 1;
        }
    }
    parts.push(text.slice(from).trim());
    return parts.filter(part => part);
}

function argument_table(text) {
    if (!text)
        return null;
    return section('Arguments', element('dl.arguments', null, split_arguments(text).map(part => {
        const sign = part.search(/[=:]/);
        const name = sign > 0 ? part.slice(0, sign).trim() : '';
        const value = sign > 0 ? part.slice(sign + 1).trim() : part;
        const inner = /^\{.*\}$/s.test(value) ? split_arguments(value.slice(1, -1)) : null;
        return [element('dt', null, name), element('dd', null, inner ?
            inner.map(line => element('div', null, line)) : value)];
    })));
}
