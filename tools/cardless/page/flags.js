// SPDX-License-Identifier: MIT
// The flags of diagnostics in the timeline.
'use strict';

// Draws a flag and a line for each diagnostic in sight. Returns the places of the flags:
// [{x0, x1, y0, y1, index}].
function draw_flags(c, timeline, y) {
    const {axis, app, width, height} = timeline, shown = [], places = [];
    app.model.diagnostics.forEach((d, index) => {
        const x = axis.x_of_time(d.t);
        if (x < axis.gutter - 30 || x > width + 30)
            return;
        const selected = same_item(app.selected, {type: 'diagnostic', index});
        shown.push({x, index, selected, id: d.id});
        c.strokeStyle = theme.bad;
        c.globalAlpha = selected ? 1 : 0.4;
        c.setLineDash([2, 3]);
        c.beginPath();
        c.moveTo(x, y + FLAGS_PX + 2);
        c.lineTo(x, height);
        c.stroke();
        c.setLineDash([]);
    });
    c.globalAlpha = 1;
    c.font = app.bold_font;
    let free = -1;
    for (const flag of [...shown.filter(f => !f.selected), ...shown.filter(f => f.selected)])
        free = draw_flag(c, {...flag, y, width, free}, places);
    return places;
}

// Draws the id of a diagnostic, or only a mark if there is no room. Returns where it ends.
function draw_flag(c, {x, y, index, selected, id, width, free}, places) {
    const w = c.measureText(id).width + 10;
    const left = x + w > width; // at the right edge, it is before its moment
    const from = left ? x - w : x;
    c.fillStyle = theme.bad;
    if (from < free && !selected) {
        c.fillRect(x - 1, y + FLAGS_PX + 2, 3, 4);
        return free;
    }
    c.beginPath();
    c.roundRect(from, y + 3, w, FLAGS_PX - 2, left ? [4, 0, 0, 4] : [0, 4, 4, 0]);
    c.fill();
    if (selected) {
        c.strokeStyle = theme.text;
        c.stroke();
    }
    c.fillStyle = theme.panel;
    c.fillText(id, from + 5, y + 2 + FLAGS_PX / 2);
    places.push({x0: from - 2, x1: from + w, y0: y, y1: y + FLAGS_PX + 4, index});
    return from + w + 2;
}
