// SPDX-License-Identifier: MIT
// Search over calls, commands, memory and diagnostics; filters by kind; and the list of calls.
//
// The words of a search must all be found. A word may be a text, an address (0x…: all memory that
// covers it and all commands that use it), or one of is:failed, thread:N, stream:N and #N.
'use strict';

const RESULT_PX = 44, CALL_PX = 26;

class Search {
    constructor(app) {
        this.app = app;
        this.query = '';
        this.matches = null; // {call: Uint8Array, command: …, memory: …}
        this.found = [];
        this.at = -1;
        this.texts = {};
    }

    // One lower-case text for each row of a table; made at the first search.
    texts_of(type) {
        const {calls: c, commands: k, memory: m, diagnostics} = this.app.model;
        const made = {
            call: () => c.name.map((name, i) => `${name} ${c.args[i] || ''} ${c.result[i] || ''} ` +
                `${c.caller && c.caller[i] || ''}`.toLowerCase()),
            command: () => k.kind.map((kind, i) => `${kind} ${k.text && k.text[i] || ''}`),
            memory: () => m.kind.map((kind, i) => `${kind} ${m.text[i] || ''} ` +
                (m.address[i] ? format_address(m.address[i]) : '')),
            diagnostic: () => diagnostics.map(d => `${d.id} ${d.text}`),
        }[type];
        return this.texts[type] = this.texts[type] || (made() || []).map(t => t.toLowerCase());
    }

    run(query) {
        this.query = query.trim();
        this.found = [];
        this.at = -1;
        this.matches = null;
        if (!this.query)
            return;
        const words = this.query.toLowerCase().split(/\s+/).map(word => this.test_of(word));
        this.matches = {};
        for (const type of ['diagnostic', 'call', 'command', 'memory']) {
            const texts = this.texts_of(type), hits = new Uint8Array(texts.length);
            for (let i = 0; i < texts.length; i++)
                if (words.every(test => test(type, i, texts[i]))) {
                    hits[i] = 1;
                    this.found.push({type, index: i});
                }
            this.matches[type] = hits;
        }
        const {model} = this.app, rank = {diagnostic: 0, call: 1, command: 2, memory: 3};
        const time = new Map(this.found.map(item => [item, model.time_of(item)[0]]));
        this.found.sort((x, y) => time.get(x) - time.get(y) || rank[x.type] - rank[y.type]);
    }

    test_of(word) {
        const {calls: c, commands: k, memory: m} = this.app.model;
        const [, key, value] = word.match(/^(is|thread|stream):(.+)$/) || [];
        if (key === 'is')
            return (type, i) => type === 'call' && 'failed'.startsWith(value) &&
                c.failed[i] === 1;
        if (key === 'thread')
            return (type, i) => type === 'call' && String(c.thread[i]) === value;
        if (key === 'stream')
            return (type, i) => type === 'command' && String(k.stream[i]) === value;
        if (/^#\d+$/.test(word))
            return (type, i) => (type === 'call' ? c.n[i] : type === 'command' ? k.id[i] :
                type === 'memory' ? m.id[i] : -1) === Number(word.slice(1));
        if (/^0x[0-9a-f]{3,}$/.test(word)) {
            const address = parseInt(word, 16);
            const covers = ([first, size]) => address >= first && address < first + size;
            return (type, i, text) => text.includes(word) ||
                (type === 'memory' && m.address[i] && covers([m.address[i], m.size[i]])) ||
                (type === 'command' && [...k.reads && k.reads[i] || [],
                    ...k.writes && k.writes[i] || []].some(covers));
        }
        return (type, i, text) => text.includes(word);
    }

    step(by) {
        if (!this.found.length)
            return;
        this.at = this.at < 0 ? (by > 0 ? 0 : this.found.length - 1) :
            (this.at + by + this.found.length) % this.found.length;
        this.app.select(this.found[this.at], true);
    }
}

// A list that draws only the rows in sight. `draw_row(index)` returns an element.
class VirtualList {
    constructor(root, row_px, draw_row, choose) {
        this.root = root;
        this.row_px = row_px;
        this.draw_row = draw_row;
        this.choose = choose;
        this.count = 0;
        this.active = -1;
        this.inner = element('div.list-inner', {role: 'presentation'});
        root.replaceChildren(this.inner);
        root.addEventListener('scroll', () => this.draw());
        root.addEventListener('click', event => {
            const row = event.target.closest('[data-row]');
            if (row)
                this.set_active(Number(row.dataset.row), true);
        });
        root.addEventListener('keydown', event => this.key(event));
    }

    set_count(count) {
        this.count = count;
        this.active = Math.min(this.active, count - 1);
        this.inner.style.height = `${count * this.row_px}px`;
        this.draw();
    }

    draw() {
        const {root, row_px} = this, first = Math.max(0, Math.floor(root.scrollTop / row_px) - 4);
        const end = Math.min(this.count, first + Math.ceil(root.clientHeight / row_px) + 8);
        const rows = [];
        for (let i = first; i < end; i++) {
            const row = this.draw_row(i);
            row.dataset.row = i;
            row.id = `${root.id}-${i}`;
            row.style.top = `${i * row_px}px`;
            row.setAttribute('role', 'option');
            row.setAttribute('aria-posinset', i + 1);
            row.setAttribute('aria-setsize', this.count);
            row.setAttribute('aria-selected', i === this.active);
            rows.push(row);
        }
        this.inner.replaceChildren(...rows);
    }

    set_active(index, choose = false) {
        this.active = clamp(index, 0, this.count - 1);
        const top = this.active * this.row_px, {root} = this;
        if (top < root.scrollTop)
            root.scrollTop = top;
        else if (top + this.row_px > root.scrollTop + root.clientHeight)
            root.scrollTop = top + this.row_px - root.clientHeight;
        this.draw();
        root.setAttribute('aria-activedescendant', `${root.id}-${this.active}`);
        if (choose && this.active >= 0)
            this.choose(this.active);
    }

    key(event) {
        const page = Math.max(1, Math.floor(this.root.clientHeight / this.row_px) - 1);
        const step = {ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page,
            Home: -this.count, End: this.count}[event.key];
        if (step) {
            event.preventDefault();
            event.stopPropagation();
            this.set_active(this.active + step, true);
        } else if (event.key === 'Enter' && this.active >= 0) {
            this.choose(this.active);
        }
    }
}

// The field, its list of results, and the chips of kinds.
class SearchPanel {
    constructor(app) {
        this.app = app;
        this.search = app.search;
        this.field = by_id('search');
        this.list = new VirtualList(by_id('results'), RESULT_PX, i => this.row(i), i => {
            this.search.at = i;
            app.select(this.search.found[i], true);
            this.count();
        });
        this.field.addEventListener('input', () => {
            clearTimeout(this.timer);
            this.timer = setTimeout(() => this.run(), 60);
        });
        this.field.addEventListener('keydown', event => this.key(event));
        this.field.addEventListener('focus', () => this.open(Boolean(this.search.query)));
        by_id('search-previous').addEventListener('click', () => this.step(-1));
        by_id('search-next').addEventListener('click', () => this.step(1));
        by_id('search-clear').addEventListener('click', () => {
            this.field.value = '';
            this.run();
            this.field.focus();
        });
        document.addEventListener('pointerdown', event => {
            if (!event.target.closest('#search-box'))
                this.open(false);
        });
        this.count();
    }

    run() {
        clearTimeout(this.timer);
        this.search.run(this.field.value);
        this.list.active = -1;
        this.list.root.scrollTop = 0;
        this.open(Boolean(this.search.query));
        this.count();
        this.app.filter_changed();
    }

    step(by) {
        this.search.step(by);
        this.list.set_active(this.search.at);
        this.count();
    }

    open(open) {
        by_id('results').hidden = !open || !this.search.found.length;
        this.field.setAttribute('aria-expanded', !by_id('results').hidden);
        if (!by_id('results').hidden)
            this.list.set_count(this.search.found.length);
    }

    count() {
        const {found, at, query} = this.search;
        const box = by_id('search-box');
        box.classList.toggle('active', Boolean(query));
        by_id('search-count').textContent = !query ? '' : !found.length ? 'nothing found' :
            at < 0 ? `${group_digits(found.length)} found` :
                `${group_digits(at + 1)} of ${group_digits(found.length)}`;
    }

    key(event) {
        if (event.key === 'Enter') {
            if (this.search.query !== this.field.value.trim())
                this.run();
            this.step(event.shiftKey ? -1 : 1);
        } else if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
            event.preventDefault();
            if (by_id('results').hidden)
                this.open(true);
            this.step(event.key === 'ArrowDown' ? 1 : -1);
        } else if (event.key === 'Escape') {
            event.stopPropagation();
            if (!by_id('results').hidden)
                this.open(false);
            else if (this.field.value) {
                this.field.value = '';
                this.run();
            } else
                this.field.blur();
        }
    }

    row(i) {
        const {app} = this, item = this.search.found[i], [start] = app.model.time_of(item);
        return element('div.match', null,
            element('span.mark', {style: `background:${app.colour_of(item)}`}),
            element('div.name', null, app.details.title_of(item)),
            element('div.time', null, format_ns(start, 5)),
            element('div.text', null, app.text_of(item)));
    }
}
