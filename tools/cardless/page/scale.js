// SPDX-License-Identifier: MIT
// The vertical axis of the address space: places of addresses, with unused ranges cut short.
'use strict';

const GAP_PX = 16;

// The parts of one address range, from low to high: used ones, and gaps between them.
class Scale {
    constructor(ranges, name) {
        const cuts = [...new Set(ranges.flat())].sort((x, y) => x - y);
        const starts = ranges.map(r => r[0]).sort((x, y) => x - y);
        const ends = ranges.map(r => r[1]).sort((x, y) => x - y);
        this.name = name;
        this.cuts = Float64Array.from(cuts);
        this.gap = new Uint8Array(cuts.length);
        let begun = 0, ended = 0;
        for (let i = 0; i < cuts.length; i++) {
            while (begun < starts.length && starts[begun] <= cuts[i])
                begun++;
            while (ended < ends.length && ends[ended] <= cuts[i])
                ended++;
            this.gap[i] = begun === ended ? 1 : 0; // no range covers it
        }
    }

    // Gives each part its height. Larger parts are taller, but only a little.
    place(y, factor) {
        const {cuts, gap} = this;
        this.y = new Float64Array(cuts.length);
        for (let i = 0; i < cuts.length; i++) {
            this.y[i] = y;
            if (i + 1 < cuts.length)
                y += gap[i] ? GAP_PX : factor * clamp(
                    6 + 2.2 * Math.log2((cuts[i + 1] - cuts[i]) / 256 + 1), 14, 44);
        }
        return y;
    }

    // Whether memory was ever at an address.
    covers(address) {
        const next = lower_bound(this.cuts, address + 1);
        return next > 0 && next < this.cuts.length && !this.gap[next - 1];
    }

    at(address) {
        const {cuts, y} = this;
        const next = lower_bound(cuts, address);
        if (next >= cuts.length)
            return y[y.length - 1] || 0;
        if (next === 0 || cuts[next] === address)
            return y[next];
        const part = (address - cuts[next - 1]) / (cuts[next] - cuts[next - 1]);
        return y[next - 1] + part * (y[next] - y[next - 1]);
    }
}
