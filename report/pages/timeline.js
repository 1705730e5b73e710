/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * timeline.js: live heap over time: of the region, of two runs one above the other, or of a whole
 * run with its regions as lanes.
 */

/* Numbers of which the second pair on is a difference: [ns, bytes, ns later, bytes more ...]. */
function timelinePoints(stored) {
    const points = [];
    let ns = 0;
    let bytes = 0;
    for (let i = 0; i + 1 < stored.length; i += 2) {
        ns += stored[i];
        bytes += stored[i + 1];
        points.push([ns, bytes]);
    }
    return points;
}

/* Round steps that divide [0, most] into some @count parts; of bytes in powers of two. */
function timelineTicks(most, count, binary) {
    const base = binary ? 1024 : 10;
    const steps = binary ? [1, 2, 4, 8, 16, 32, 64, 128, 256, 512] : [1, 2, 5];
    let unit = 1;
    while (unit * base <= most / count)
        unit *= base;
    let step = unit;
    for (const factor of steps)
        if (unit * factor <= most / count * 1.5)
            step = unit * factor;
    const ticks = [];
    for (let at = 0; at <= most; at += step)
        ticks.push(at);
    return ticks;
}

class Timeline {
    constructor(page) {
        this.page = page;
        this.figure = byId('timeline');
        this.figure.tabIndex = 0;
        this.figure.setAttribute('role', 'img');
        this.figure.addEventListener('pointermove', (event) => this.point(event));
        this.figure.addEventListener('pointerleave', () => this.read(null));
        this.figure.addEventListener('keydown', (event) => this.key(event));
        redrawWhenWide(this.figure, () => this.all && this.draw());
    }

    open(subject) {
        this.subject = subject;
        this.sides = ['before', 'after'].filter((side) => subject[side]).map((side) => ({side, ...subject[side]}));
        const spans = [];
        if (this.sides.some((side) => side.timeline))
            spans.push(['region', `Region \u201c${subject.region}\u201d`]);
        if (this.sides.some((side) => this.page.data.runs[side.run].timeline) &&
            this.sides.some((side) => !side.is_process))
            spans.push(['run', 'Whole run']);
        byId('time').hidden = spans.length === 0;
        if (spans.length === 0)
            return;
        const two = this.sides.length === 2;
        this.span = spans.length > 1 && !two ? 'run' : spans[0][0];
        choose(byId('time-span'), spans, this.span, (span) => {
            this.span = span;
            this.draw();
        });
        this.draw();
    }

    /* What is drawn of one side; time 0 is the region's begin, or the start of the run. */
    series(side) {
        const run = this.page.data.runs[side.run];
        const stored = this.span === 'region' ? side.timeline : run.timeline;
        if (!stored)
            return null;
        const start = this.span === 'region' ? side.begin_ns : 0;
        return {
            side: this.sides.length === 2 ? side.side : 'after',
            label: this.sides.length === 2 ? side.side : '',
            points: timelinePoints(stored).map(([ns, bytes]) => [ns - start, bytes]),
            peak: [side.peak_ns - start, side.live_peak],
            start,
            run,
            region: side.region,
        };
    }

    draw() {
        const all = this.sides.map((side) => this.series(side)).filter((series) => series);
        this.width = this.figure.clientWidth || 800;
        this.all = all;
        this.length = Math.max(1, ...all.map((series) => series.points[series.points.length - 1][0]));
        this.most = Math.max(1, ...all.flatMap((series) => series.points.map((point) => point[1])));
        this.lanes = this.span === 'run' && all.length === 1 ? this.regionLanes(all[0]) : [];
        const laneCount = this.lanes.reduce((most, lane) => Math.max(most, lane.depth + 1), 0);
        const box = {left: 76, right: 14, top: 26, height: this.width < 500 ? 170 : 230, lanes: laneCount * 20};
        this.box = box;
        const height = box.top + box.height + box.lanes + 30;
        const svg = drawn('svg', {viewBox: `0 0 ${this.width} ${height}`, 'aria-hidden': 'true'});
        this.axes(svg);
        this.regions(svg);
        for (const series of all)
            this.line(svg, series);
        for (const series of all)
            this.peak(svg, series);
        this.cursor = drawn('line', {class: 'cursor', y1: box.top, y2: box.top + box.height, visibility: 'hidden'});
        svg.append(this.cursor);
        this.figure.replaceChildren(svg);
        this.words(all);
        this.read(null);
    }

    x(ns) {
        return this.box.left + (this.width - this.box.left - this.box.right) * ns / this.length;
    }

    y(bytes) {
        return this.box.top + this.box.height * (1 - Math.max(bytes, 0) / this.most);
    }

    axes(svg) {
        const bottom = this.box.top + this.box.height;
        for (const bytes of timelineTicks(this.most, 4, true)) {
            svg.append(drawn('line', {class: 'axis', x1: this.box.left, x2: this.width - this.box.right, y1: this.y(bytes), y2: this.y(bytes)}));
            svg.append(drawn('text', {x: this.box.left - 8, y: this.y(bytes) + 4, 'text-anchor': 'end'}, formatBytes(bytes)));
        }
        const ticks = timelineTicks(this.length, this.width < 500 ? 3 : 6, false);
        for (const ns of ticks) {
            const anchor = ns === 0 ? 'start' : this.x(ns) > this.width - 40 ? 'end' : 'middle';
            svg.append(drawn('text', {x: this.x(ns), y: bottom + this.box.lanes + 20, 'text-anchor': anchor}, formatSeconds(ns, this.length)));
        }
    }

    regionLanes(series) {
        const depths = [0];
        const lanes = [];
        series.run.regions.forEach(([name, instance, parent, begin, end], i) => {
            depths[i] = i === 0 ? -1 : (depths[parent] === undefined ? -1 : depths[parent]) + 1;
            if (i > 0 && depths[i] < 6)
                lanes.push({name, instance, begin, end, depth: depths[i], chosen: i === series.region});
        });
        return lanes;
    }

    regions(svg) {
        const bottom = this.box.top + this.box.height;
        const ends = [];
        for (const lane of this.lanes) {
            const left = this.x(lane.begin);
            const width = Math.max(this.x(lane.end) - left, 1.5);
            const top = bottom + 5 + lane.depth * 20;
            const chosen = lane.chosen ? ' chosen' : '';
            if (lane.chosen || lane.depth === 0)
                svg.append(drawn('rect', {class: 'band' + chosen, x: left, y: this.box.top, width, height: this.box.height}));
            svg.append(drawn('rect', {class: 'lane' + chosen, x: left, y: top, width, height: 4, rx: 2}));
            const room = 7 * lane.name.length;
            const at = Math.min(left, this.width - this.box.right - room);
            if (at >= (ends[lane.depth] || 0) && room < 300) {
                svg.append(drawn('text', {class: 'lane-name', x: at, y: top + 16}, lane.name));
                ends[lane.depth] = at + room + 8;
            }
        }
    }

    line(svg, series) {
        const path = series.points.map(([ns, bytes], i) => `${i === 0 ? 'M' : 'L'}${this.x(ns).toFixed(1)} ${this.y(bytes).toFixed(1)}`).join('');
        if (series.side === 'after') {
            const last = series.points[series.points.length - 1][0];
            svg.append(drawn('path', {class: 'area', d: `${path}L${this.x(last).toFixed(1)} ${this.y(0)}L${this.x(series.points[0][0]).toFixed(1)} ${this.y(0)}Z`}));
        }
        svg.append(drawn('path', {class: `line ${series.side}`, d: path}));
    }

    peak(svg, series) {
        const x = this.x(series.peak[0]);
        const y = this.y(series.peak[1]);
        const anchor = x > this.width * 0.7 ? 'end' : x < this.width * 0.3 ? 'start' : 'middle';
        const words = `${series.label ? series.label + ': ' : ''}peak ${formatBytes(series.peak[1])}`;
        svg.append(drawn('circle', {class: `peak ${series.side}`, cx: x, cy: y, r: 5}));
        svg.append(drawn('text', {class: `peak-name ${series.side}`, x, y: y - 10, 'text-anchor': anchor}, words));
    }

    words(all) {
        const region = `\u201c${this.subject.region}\u201d`;
        const hint = this.span === 'region'
            ? `Live heap from the begin of ${region} to its end.`
            : `Live heap of the whole run${this.lanes.length > 0 ? '; below it the regions that the program marks' : ''}.`;
        const hidden = all.reduce((sum, series) => sum + series.run.regions_hidden, 0);
        byId('time-hint').textContent = hint +
            (all.length === 2 ? ' Dashed is before, filled is after.' : '') +
            (this.span === 'run' && hidden > 0 ? ` ${formatCount(hidden)} regions more are not drawn.` : '') +
            ' The dot is the peak of the region.';
        this.figure.setAttribute('aria-label', hint + ' ' + all.map((series) =>
            `${series.label} peak ${formatBytes(series.peak[1])} after ${formatSeconds(series.peak[0], this.length)}`).join('; ') +
            '. Left and right arrows read it.');
    }

    /* The last point of each line that is not later than @ns. */
    read(ns) {
        this.at = ns;
        const readout = byId('time-readout');
        if (ns === null) {
            this.cursor.setAttribute('visibility', 'hidden');
            readout.textContent = '';
            return;
        }
        this.cursor.setAttribute('x1', this.x(ns));
        this.cursor.setAttribute('x2', this.x(ns));
        this.cursor.setAttribute('visibility', 'visible');
        readout.textContent = `At ${formatSeconds(ns, this.length)}: ` + this.all.map((series) => {
            const past = series.points.filter((point) => point[0] <= ns);
            const bytes = past.length > 0 ? past[past.length - 1][1] : null;
            return (series.label ? series.label + ' ' : '') + (bytes === null ? 'not begun' : formatBytes(bytes) + ' live');
        }).join(', ');
    }

    point(event) {
        const left = this.figure.getBoundingClientRect().left;
        const share = (event.clientX - left - this.box.left) / (this.width - this.box.left - this.box.right);
        this.read(Math.min(1, Math.max(0, share)) * this.length);
    }

    key(event) {
        const steps = {ArrowLeft: -1, ArrowRight: 1};
        if (event.key === 'Escape')
            this.read(null);
        if (!steps[event.key])
            return;
        event.preventDefault();
        const next = (this.at === null ? 0 : this.at) + steps[event.key] * this.length / 50;
        this.read(Math.min(this.length, Math.max(0, next)));
    }
}
