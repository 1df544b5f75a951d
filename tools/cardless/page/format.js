// SPDX-License-Identifier: MIT
// Texts for people: times, sizes, addresses; and small helpers for the document.
'use strict';

const NS_UNITS = [[1e9, 's'], [1e6, 'ms'], [1e3, 'µs'], [1, 'ns']];

// A time span in the largest unit that leaves a number of at least 1: 1234567 → "1.235 ms".
function format_ns(ns, digits = 4) {
    if (ns === 0)
        return '0';
    const [unit, name] = NS_UNITS.find(([u]) => Math.abs(ns) >= u) || NS_UNITS[3];
    const number = ns / unit;
    const decimals = Math.max(0, digits - Math.floor(Math.log10(Math.abs(number))) - 1);
    return `${unit === 1 ? Math.round(number) : trim_zeros(number.toFixed(decimals))} ${name}`;
}

// A moment on the ruler, all of them in the unit that suits the last one, `end_ns`, and with the
// digits that tell them apart if they are `step_ns` from each other.
function format_tick(ns, step_ns, end_ns) {
    const [unit, name] = NS_UNITS.find(([u]) => end_ns >= u && step_ns >= u / 1000) || NS_UNITS[3];
    const decimals = Math.max(0, -Math.floor(Math.log10(step_ns / unit) + 1e-9));
    return ns === 0 ? '0' : `${group_digits((ns / unit).toFixed(Math.min(decimals, 3)))} ${name}`;
}

function trim_zeros(text) {
    return text.includes('.') ? text.replace(/\.?0+$/, '') : text;
}

function group_digits(text) {
    const [whole, part] = String(text).split('.');
    const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ',');
    return part === undefined ? grouped : `${grouped}.${part}`;
}

const BYTE_UNITS = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];

// A size in bytes, exact if it is a whole number of a unit: 4096 → "4 KiB", 65541 → "64 KiB".
function format_size(size) {
    let unit = 0, number = size;
    while (number >= 1024 && unit < BYTE_UNITS.length - 1) {
        number /= 1024;
        unit++;
    }
    if (unit === 0)
        return size === 1 ? '1 byte' : `${size} bytes`;
    return `${trim_zeros(number.toFixed(number < 10 ? 2 : number < 100 ? 1 : 0))} ` +
        BYTE_UNITS[unit];
}

function format_exact_size(size) {
    return size < 1024 ? format_size(size) :
        `${format_size(size)} (${group_digits(size)} bytes)`;
}

function format_address(address) {
    return `0x${address.toString(16)}`;
}

function format_count(count, noun, plural = `${noun}s`) {
    return `${group_digits(count)} ${count === 1 ? noun : plural}`;
}

function clamp(value, least, most) {
    return Math.max(least, Math.min(most, value));
}

// The index of the first element of sorted `array` that is at least `value`.
function lower_bound(array, value, count = array.length) {
    let low = 0, high = count;
    while (low < high) {
        const middle = (low + high) >> 1;
        if (array[middle] < value)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// Makes an element: element('button.link', {onclick: f, 'aria-label': 'text'}, child, 'text' …).
function element(selector, attributes, ...children) {
    const [tag, ...classes] = selector.split('.');
    const made = document.createElement(tag);
    if (classes.length)
        made.className = classes.join(' ');
    for (const [name, value] of Object.entries(attributes || {})) {
        if (name.startsWith('on'))
            made.addEventListener(name.slice(2), value);
        else if (value !== undefined && value !== null && value !== false)
            made.setAttribute(name, value === true ? '' : value);
    }
    made.append(...children.flat(Infinity).filter(c => c !== null && c !== undefined && c !== ''));
    return made;
}

function by_id(id) {
    return document.getElementById(id);
}

// Fits a canvas to its box and to the screen's pixels. Returns its 2D context, which counts in CSS
// pixels, and the size of the box.
function prepare_canvas(canvas) {
    const width = canvas.clientWidth, height = canvas.clientHeight;
    const ratio = window.devicePixelRatio || 1;
    const device_width = Math.round(width * ratio), device_height = Math.round(height * ratio);
    if (canvas.width !== device_width || canvas.height !== device_height) {
        canvas.width = device_width;
        canvas.height = device_height;
    }
    const context = canvas.getContext('2d');
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    return {context, width, height};
}

// The theme's colours, which style.css names, as the canvases need them.
let theme = {};
function read_theme() {
    const style = getComputedStyle(document.documentElement);
    theme = {};
    for (const name of ['page', 'panel', 'raised', 'line', 'grid', 'text', 'soft', 'faint',
        'accent', 'select', 'bad', 'warn', 'call', 'call-wait', 'call-runtime', 'kernel', 'copy',
        'fill', 'host', 'signal', 'wait', 'event', 'graph', 'graphics', 'other', 'allocation',
        'import', 'mapping', 'array', 'reservation', 'read', 'write', 'on-colour'])
        theme[name] = style.getPropertyValue(`--${name}`).trim();
    theme.dark = style.getPropertyValue('--dark').trim() === '1';
}

// Cuts a name such as "CUexternalSemaphore #12" in its middle, so that its number is seen.
function fit_name(context, name, width) {
    const [, start, end] = name.match(/^(.*?)( [^ ]*)$/s) || [];
    if (!end || context.measureText(name).width <= width)
        return fit_text(context, name, width);
    return fit_text(context, start, width - context.measureText(end).width) + end;
}

// Cuts a text to the width of a box, with an ellipsis. Nothing if not even three letters fit.
function fit_text(context, text, width) {
    if (width < 18)
        return '';
    const per_letter = context.measureText('n').width;
    if (text.length * per_letter * 1.25 <= width || context.measureText(text).width <= width)
        return text;
    let letters = Math.min(text.length, Math.floor(width / per_letter * 1.3));
    while (letters > 2 && context.measureText(`${text.slice(0, letters)}…`).width > width)
        letters--;
    return letters > 2 ? `${text.slice(0, letters)}…` : '';
}
