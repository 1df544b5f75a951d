// SPDX-License-Identifier: MIT
// The trace's data: reads the tables of the page, and derives what the views need.
//
// The large tables (calls, commands, edges, memory) are {fields: […], rows: [[…], …]}; a number in
// a column of texts is an index of `strings`. Times are nanoseconds since the trace began.
'use strict';

// What a thing is called in a link or in the page's address: "call-12".
const TYPES = ['call', 'command', 'memory', 'array', 'object', 'diagnostic', 'stream', 'thread'];

function read_table(data, name, texts = []) {
    const table = data[name] || {fields: [], rows: []};
    const columns = {count: table.rows.length};
    table.fields.forEach((field, index) => {
        const interned = texts.includes(field);
        const column = columns[field] = new Array(table.rows.length);
        table.rows.forEach((row, i) => {
            const value = row[index];
            column[i] = interned && typeof value === 'number' ? data.strings[value] : value;
        });
    });
    return columns;
}

// Column `field` as numbers; `missing` stands where there is no value.
function numbers(table, field, missing) {
    const column = new Float64Array(table.count);
    for (let i = 0; i < table.count; i++) {
        const value = table[field] ? table[field][i] : null;
        column[i] = value === null || value === undefined ? missing : value;
    }
    return column;
}

// A list for each key: which rows have it.
function group_rows(count, key_of) {
    const groups = new Map();
    for (let i = 0; i < count; i++) {
        const key = key_of(i);
        if (key === null || key === undefined)
            continue;
        const group = groups.get(key);
        if (group)
            group.push(i);
        else
            groups.set(key, [i]);
    }
    return groups;
}

function index_of(column) {
    const index = new Map();
    column.forEach((id, i) => index.set(id, i));
    return index;
}

const COMMAND_KINDS = [
    // kind, the theme's colour, the words by which a recorded kind is recognised
    ['kernel', 'kernel', /kernel|cooperative/],
    ['copy', 'copy', /cpy|copy|prefetch/],
    ['fill', 'fill', /fill|memset/],
    ['host function', 'host', /host|callback/],
    ['signal', 'signal', /signal|write of a value/],
    ['wait', 'wait', /wait/],
    ['event', 'event', /event|record/],
    ['graph', 'graph', /graph(?!ic)/],
    ['graphics', 'graphics', /map|graphics|EGL/],
    ['other', 'other', /./],
];

const WAIT_CLASS = COMMAND_KINDS.findIndex(([kind]) => kind === 'wait');

function kind_class(kind) {
    const found = COMMAND_KINDS.findIndex(([, , words]) => words.test(kind));
    return found < 0 ? COMMAND_KINDS.length - 1 : found;
}

// How calls are drawn: 1 if the call waits for the card, else 0.
function is_waiting_call(name) {
    return /Synchronize|EventQuery|StreamQuery/.test(name);
}

// A call of the CUDA runtime, below which the driver's calls are that it makes.
function is_runtime_call(name) {
    return /^(__)?cuda/.test(name);
}

// Whether a call has failed. Calls that return an earlier error have not.
function has_failed(name, result) {
    return result && !/SUCCESS|NOT_?READY|^0$|^$/i.test(result) && !/LastError$/.test(name);
}

class Model {
    constructor(data) {
        this.data = data;
        this.duration = data.duration_ns || 1;
        this.threads = data.threads || [];
        this.streams = data.streams || [];
        this.objects = data.objects || [];
        this.arrays = data.arrays || [];
        this.diagnostics = (data.diagnostics || []).slice().sort((x, y) => x.t - y.t);
        this.read_calls(data);
        this.read_commands(data);
        this.read_memory(data);
        this.read_edges(data);
        this.read_links();
    }

    read_calls(data) {
        const c = this.calls = read_table(data, 'calls', ['name', 'result', 'caller']);
        c.start = numbers(c, 't', 0);
        c.end = numbers(c, 'd', 0);
        c.failed = new Uint8Array(c.count);
        c.waits = new Uint8Array(c.count);
        c.depth = new Uint8Array(c.count);
        c.outer = new Int32Array(c.count).fill(-1); // the call that it was made inside of
        const open = new Map(); // the calls that a thread is in
        const order = this.order_of(c.start);
        for (const i of order) {
            c.end[i] += c.start[i];
            this.duration = Math.max(this.duration, c.end[i]);
            c.failed[i] = has_failed(c.name[i], c.result[i]) ? 1 : 0;
            c.waits[i] = is_waiting_call(c.name[i]) ? 1 : 0;
            let stack = open.get(c.thread[i]);
            if (!stack)
                open.set(c.thread[i], stack = []);
            while (stack.length && c.end[stack[stack.length - 1]] <= c.start[i])
                stack.pop();
            c.depth[i] = Math.min(stack.length, 5);
            c.outer[i] = stack.length ? stack[stack.length - 1] : -1;
            stack.push(i);
        }
        c.by_number = index_of(c.n || []);
    }

    read_commands(data) {
        const k = this.commands = read_table(data, 'commands', ['kind']);
        k.start = numbers(k, 'start', 0);
        k.end = numbers(k, 'end', 0);
        k.queued = numbers(k, 'queued', 0);
        k.class = new Uint8Array(k.count);
        const classes = new Map();
        for (let i = 0; i < k.count; i++) {
            if (!classes.has(k.kind[i]))
                classes.set(k.kind[i], kind_class(k.kind[i]));
            k.class[i] = classes.get(k.kind[i]);
            if (k.end[i] < k.start[i]) // never ran, or still ran when the program ended
                k.end[i] = k.start[i];
            this.duration = Math.max(this.duration, k.end[i]);
        }
        k.by_id = index_of(k.id || []);
    }

    read_memory(data) {
        const m = this.memory = read_table(data, 'memory', ['kind', 'text']);
        m.start = numbers(m, 'born', 0);
        m.end = numbers(m, 'died', Infinity);
        m.by_id = index_of(m.id || []);
        m.root = new Int32Array(m.count);
        m.base = new Float64Array(m.count); // offset in the root
        for (let i = 0; i < m.count; i++) {
            let at = i, offset = 0;
            for (let steps = 0; steps < 8; steps++) {
                const below = m.of[at] ? m.by_id.get(m.of[at]) : undefined;
                if (below === undefined || below === at)
                    break;
                offset += m.offset[at] || 0;
                at = below;
            }
            m.root[i] = at;
            m.base[i] = offset;
        }
        m.in_root = group_rows(m.count, i => m.root[i]);
        m.above = group_rows(m.count, i => m.of[i] ? m.by_id.get(m.of[i]) : null);
    }

    read_edges(data) {
        const e = this.edges = read_table(data, 'edges', ['why']);
        const place = id => id < 0 ? {type: 'call', index: this.calls.by_number.get(-id)} :
            {type: 'command', index: this.commands.by_id.get(id)};
        e.source = new Array(e.count);
        e.target = new Array(e.count);
        this.into = new Map();
        this.out_of = new Map();
        for (let i = 0; i < e.count; i++) {
            e.source[i] = place(e.from[i]);
            e.target[i] = place(e.to[i]);
            if (e.source[i].index === undefined || e.target[i].index === undefined)
                continue;
            push_to(this.out_of, key_of(e.source[i]), i);
            push_to(this.into, key_of(e.target[i]), i);
        }
        // Arrows are drawn from left to right, so the views find those in sight by their ends.
        const at = new Float64Array(e.count), drawn = [];
        for (let i = 0; i < e.count; i++)
            if (e.source[i].index !== undefined && e.target[i].index !== undefined) {
                const {type, index} = e.target[i];
                at[i] = type === 'call' ? this.calls.end[index] : this.commands.start[index];
                drawn.push(i);
            }
        e.drawn = Uint32Array.from(drawn).sort((x, y) => at[x] - at[y]);
        e.drawn_at = Float64Array.from(e.drawn, i => at[i]);
    }

    read_links() {
        const {calls: c, commands: k, memory: m} = this;
        this.commands_of_call = group_rows(k.count, i => k.call[i] || null);
        this.memory_of_call = group_rows(m.count, i => m.born_call[i] || null);
        this.diagnostics_of_call = group_rows(this.diagnostics.length,
            i => this.diagnostics[i].call || null);
        this.diagnostics_of_memory = group_rows(this.diagnostics.length,
            i => this.diagnostics[i].memory || null);
        this.arrays_of_call = group_rows(this.arrays.length, i => this.arrays[i].call || null);
        this.arrays_of_memory = group_rows(this.arrays.length, i => this.arrays[i].memory || null);
        this.commands_of_object = group_rows(k.count, i => k.object ? k.object[i] || null : null);
        this.commands_of_stream = group_rows(k.count, i => k.stream[i]);
        this.calls_of_thread = group_rows(c.count, i => c.thread[i]);
        this.stream_by_id = index_of(this.streams.map(s => s.id));
        this.thread_by_id = index_of(this.threads.map(t => t.id));
        this.object_by_id = index_of(this.objects.map(o => o.id));
        this.failed_calls = c.failed.reduce((sum, f) => sum + f, 0);
        this.peak_memory = this.find_peak_memory();
        this.end = this.duration;
    }

    // The most bytes that allocations, imports and arrays had at one moment, aliases once.
    find_peak_memory() {
        const m = this.memory, steps = [];
        for (let i = 0; i < m.count; i++)
            if (m.root[i] === i && m.kind[i] !== 'reservation') {
                steps.push([m.start[i], m.size[i]]);
                if (m.end[i] !== Infinity)
                    steps.push([m.end[i], -m.size[i]]);
            }
        steps.sort((x, y) => x[0] - y[0] || x[1] - y[1]);
        let now = 0, most = 0;
        for (const [, change] of steps)
            most = Math.max(most, now += change);
        return most;
    }

    order_of(column) {
        const order = Uint32Array.from(column, (_, i) => i);
        for (let i = 1; i < column.length; i++)
            if (column[i] < column[i - 1])
                return order.sort((x, y) => column[x] - column[y] || x - y);
        return order;
    }

    // [start, end] of a thing; the end is Infinity if it was alive when the trace ended.
    time_of({type, index}) {
        switch (type) {
        case 'call': return [this.calls.start[index], this.calls.end[index]];
        case 'command': return [this.commands.start[index], this.commands.end[index]];
        case 'memory': return [this.memory.start[index], this.memory.end[index]];
        case 'array': return this.time_of_array(index);
        case 'diagnostic': return [this.diagnostics[index].t, this.diagnostics[index].t];
        case 'object': {
            const o = this.objects[index];
            return [o.born || 0, o.died === null || o.died === undefined ? Infinity : o.died];
        }
        }
        return [0, this.end];
    }

    time_of_array(index) {
        const array = this.arrays[index], memory = this.memory.by_id.get(array.memory);
        if (memory !== undefined)
            return this.time_of({type: 'memory', index: memory});
        return [array.born || 0, array.died === undefined || array.died === null ? Infinity :
            array.died];
    }

    // All memory that shows some of the same bytes as `index`, without itself.
    aliases_of(index) {
        const m = this.memory, first = m.base[index], end = first + m.size[index];
        return (m.in_root.get(m.root[index]) || []).filter(i => i !== index &&
            m.base[i] < end && first < m.base[i] + m.size[i]);
    }

    // The innermost memory at an address at a moment (any moment if it is undefined), or -1.
    memory_at(address, time) {
        const m = this.memory;
        let best = -1;
        for (let i = 0; i < m.count; i++)
            if (m.address[i] && address >= m.address[i] && address < m.address[i] + m.size[i] &&
                (time === undefined || m.start[i] <= time && time <= m.end[i]) &&
                (best < 0 || m.size[i] <= m.size[best]))
                best = i;
        return best;
    }

    name_of({type, index}) {
        const {calls: c, commands: k, memory: m} = this;
        switch (type) {
        case 'call': return c.name[index];
        case 'command': return `${k.kind[index]} #${k.id[index]}`;
        case 'memory': return memory_name(m, index);
        case 'array': return this.array_name(index);
        case 'object': return this.objects[index].name;
        case 'diagnostic': return this.diagnostics[index].id;
        case 'stream': return this.streams[index].name;
        case 'thread': return this.threads[index].name;
        }
        return '';
    }

    array_name(index) {
        const a = this.arrays[index];
        const extent = [a.width, a.height, a.depth].filter(n => n).join('×');
        return a.name ? `${a.name}, ${extent}` : `${a.format} ${extent}`;
    }

    find(type, id) {
        const tables = {
            call: this.calls.by_number, command: this.commands.by_id, memory: this.memory.by_id,
            stream: this.stream_by_id, thread: this.thread_by_id, object: this.object_by_id,
        };
        const index = tables[type] ? tables[type].get(id) :
            type === 'array' ? this.arrays.findIndex(a => a.id === id) : id;
        return index === undefined || index < 0 ? null : {type, index};
    }

    id_of({type, index}) {
        const {calls: c, commands: k, memory: m} = this;
        return type === 'call' ? c.n[index] : type === 'command' ? k.id[index] :
            type === 'memory' ? m.id[index] : type === 'array' ? this.arrays[index].id :
                type === 'stream' ? this.streams[index].id :
                    type === 'thread' ? this.threads[index].id :
                        type === 'object' ? this.objects[index].id : index;
    }
}

function memory_name(m, index) {
    return `${m.kind[index].replace(/^an? /, '')} of ${format_size(m.size[index])}`;
}

function key_of(item) {
    return item ? `${item.type}-${item.index}` : '';
}

function same_item(x, y) {
    return x === y || Boolean(x && y && x.type === y.type && x.index === y.index);
}

function push_to(map, key, value) {
    const list = map.get(key);
    if (list)
        list.push(value);
    else
        map.set(key, [value]);
}
