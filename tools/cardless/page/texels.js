// SPDX-License-Identifier: MIT
// The values of texels, from the bytes that an array had when it ended.
'use strict';

// The bytes of an array, or null if the page does not have them.
function array_bytes(array) {
    if (array.read_bytes === undefined)
        array.read_bytes = array.bytes ?
            Uint8Array.from(atob(array.bytes), letter => letter.charCodeAt(0)) : null;
    return array.read_bytes;
}

function half_value(bits) {
    const sign = bits & 0x8000 ? -1 : 1, exponent = bits >> 10 & 31, part = bits & 1023;
    if (exponent === 31)
        return part ? NaN : sign * Infinity;
    return sign * (exponent ? (1024 + part) * 2 ** (exponent - 25) : part * 2 ** -24);
}

// One channel as a number. `size_B` is 1, 2 or 4.
function channel_value(view, at, kind, size_B) {
    const bits = size_B * 8;
    if (kind === 'float')
        return size_B === 2 ? half_value(view.getUint16(at, true)) : view.getFloat32(at, true);
    const signed = kind === 'sint' || kind === 'snorm';
    const number = view[`get${signed ? 'Int' : 'Uint'}${bits}`](at, size_B > 1);
    if (kind === 'unorm')
        return number / (2 ** bits - 1);
    return kind === 'snorm' ? Math.max(number / (2 ** (bits - 1) - 1), -1) : number;
}

// The channels of the texel at a byte of the array, or null if its format has no plain numbers.
function texel_channels({texel, layout}, bytes, at) {
    const {kind, channel_B, channels} = texel, view = new DataView(bytes.buffer);
    if (kind === 'unorm' && !channel_B) { // 10, 10, 10 and 2 bits
        const word = view.getUint32(at, true);
        return [word & 1023, word >>> 10 & 1023, word >>> 20 & 1023].map(n => n / 1023)
            .concat((word >>> 30) / 3);
    }
    if (kind === 'bytes' || !channel_B || channel_B * channels !== layout.element_B)
        return null;
    return Array.from({length: channels},
        (_, i) => channel_value(view, at + i * channel_B, kind, channel_B));
}

function format_channel(value) {
    return Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(6)));
}

function format_bytes(bytes) {
    return Array.from(bytes, byte => byte.toString(16).padStart(2, '0')).join(' ');
}

// "(0.502, 0, 0, 1), bytes 80 00 00 ff" for the element at a byte of the array.
function texel_text(array, at) {
    const bytes = array_bytes(array), {element_B} = array.layout;
    if (!bytes || at + element_B > bytes.length)
        return '';
    const channels = texel_channels(array, bytes, at);
    const shown = format_bytes(bytes.subarray(at, at + element_B));
    if (!channels)
        return `bytes ${shown}`;
    const numbers = channels.map(format_channel).join(', ');
    return `${channels.length > 1 ? `(${numbers})` : numbers}, bytes ${shown}`;
}
