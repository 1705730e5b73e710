/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * flame.js: the call tree as boxes. A box is as wide as its weight; callers are next to callees.
 *
 * Only boxes that can be seen are made. One of them can have the focus, the arrows move it along
 * the tree.
 */

const ROW = 21;
const SLIM = 22; /* too narrow for words, in pixels */

class Flame {
    constructor(page) {
        this.page = page;
        this.graph = byId('flame-graph');
        this.state = {view: 'after', layout: 'icicle', order: 'callers', metric: 'peak'};
        this.query = '';
        this.graph.addEventListener('keydown', (event) => this.key(event));
        this.graph.addEventListener('click', (event) => {
            const node = this.nodeOf(event.target);
            if (node)
                this.zoom(node);
        });
        this.graph.addEventListener('mouseover', (event) => this.describe(this.nodeOf(event.target)));
        this.graph.addEventListener('focusin', (event) => this.describe(this.nodeOf(event.target)));
        byId('zoom-out').addEventListener('click', () => this.zoom(this.root));
        byId('search').addEventListener('input', (event) => this.search(event.target.value));
        byId('metric').addEventListener('change', (event) => this.set('metric', event.target.value));
        redrawWhenWide(this.graph, () => this.root && this.draw());
    }

    nodeOf(target) {
        const box = target.closest ? target.closest('.frame') : null;
        return box ? this.boxes.get(box) : null;
    }

    open(subject) {
        const two = subject.before && subject.after;
        this.subject = subject;
        this.two = Boolean(two);
        this.state.view = two ? (subject.status === 'same' ? 'after' : 'difference') : subject.after ? 'after' : 'before';
        byId('flame').hidden = !subject.tree;
        if (!subject.tree)
            return;
        choose(byId('flame-view'), two
            ? [['difference', 'Difference'], ['before', 'Before'], ['after', 'After']] : [],
        this.state.view, (value) => this.set('view', value));
        choose(byId('flame-layout'), [['icicle', 'Callers on top'], ['flame', 'Callers below']],
            this.state.layout, (value) => this.set('layout', value));
        choose(byId('flame-order'), [['callers', 'From main'], ['allocators', 'From the allocation']],
            this.state.order, (value) => this.set('order', value));
        byId('metric').replaceChildren(...Object.keys(METRICS).map((key) => {
            const option = element('option', '', METRICS[key].words);
            option.value = key;
            option.selected = key === this.state.metric;
            return option;
        }));
        this.build();
    }

    set(what, value) {
        this.state[what] = value;
        this.build();
    }

    build() {
        const {metric, view, order} = this.state;
        this.root = treeOf(this.subject.tree, metric, view, order);
        this.focus = this.root;
        byId('flame-hint').textContent = this.hint();
        this.legend();
        this.mark();
        this.draw();
    }

    hint() {
        const words = METRICS[this.state.metric].words.toLowerCase();
        const kept = this.subject.tree.left_out > 0
            ? ` The ${formatCount(this.subject.tree.left_out)} smallest branches are summed up as \u201cothers\u201d.` : '';
        if (this.state.view === 'difference')
            return `Wide is what changed (${words}): red grew, blue shrank. Where one call grew and another shrank, both are wide.` + kept;
        if (this.two)
            return `Wide is what holds much ${this.state.view === 'after' ? 'after' : 'before'} the change (${words}); red grew, blue shrank.` + kept;
        return `Wide is what holds much (${words}). Colors are modules: the program, its libraries and packages.` + kept;
    }

    name(node) {
        if (node.kind === 'root')
            return this.subject.region;
        if (node.kind === 'rest')
            return '[others]';
        return node.kind === 'frame' ? this.page.frame(node.frame).name : this.page.kindWords(node.kind);
    }

    /* In words, exact: what the box stands for. */
    value(node) {
        const {metric, view} = this.state;
        const exact = (value) => formatValue(metric, value) +
            (METRICS[metric].bytes && Math.abs(value) >= 1024 ? ` (${formatCount(value)} B)` : '');
        if (!this.two)
            return exact(node.sum[this.subject.after ? 1 : 0]);
        const change = node.sum[1] - node.sum[0];
        const sides = `${formatValue(metric, node.sum[0])} \u2192 ${formatValue(metric, node.sum[1])}`;
        return view === 'difference' || change !== 0 ? `${sides}, ${withSign(change, exact(change))}` : `${sides}, no change`;
    }

    share(node) {
        const side = this.state.view === 'before' ? 0 : 1;
        if (this.state.view === 'difference')
            return '';
        return formatShare(node.sum[side], this.root.sum[side]);
    }

    color(box, node) {
        if (node.kind !== 'frame') {
            box.classList.add(node.kind === 'root' ? 'root' : 'rest');
            return;
        }
        if (!this.two) {
            box.style.setProperty('--hue', this.page.frame(node.frame).hue);
            return;
        }
        const change = node.sum[1] - node.sum[0];
        const whole = Math.max(node.sum[0], node.sum[1], 1);
        box.style.setProperty('--hue', change > 0 ? 25 : 250);
        box.style.setProperty('--chroma', change === 0 ? 0.005 : 0.03 + 0.1 * Math.min(1, Math.sqrt(Math.abs(change) / whole)));
    }

    box(node, left, width, row) {
        const box = element('div', 'frame');
        const pixels = width * this.width;
        const shown = this.state.view === 'difference'
            ? withSign(node.sum[1] - node.sum[0], formatValue(this.state.metric, node.sum[1] - node.sum[0]))
            : formatValue(this.state.metric, node.sum[this.state.view === 'before' ? 0 : 1]);
        box.style.left = (100 * left).toFixed(4) + '%';
        box.style.width = (100 * width).toFixed(4) + '%';
        box.style.top = row * ROW + 'px';
        if (pixels < SLIM)
            box.classList.add('slim');
        else
            box.textContent = pixels > 120 ? `${this.name(node).slice(0, 400)}  ${shown}` : this.name(node).slice(0, 40);
        box.setAttribute('role', 'treeitem');
        box.setAttribute('aria-level', String(node.depth + 1));
        box.setAttribute('aria-label', `${this.name(node).slice(0, 400)}, ${shown}`);
        box.tabIndex = -1;
        this.color(box, node);
        if (this.query)
            box.classList.add(node.found ? 'found' : 'dim');
        this.boxes.set(box, node);
        node.box = box;
        return box;
    }

    /* [node, left, width] of what is wide enough to be seen, from the focus on. */
    visible() {
        const least = 0.75 / Math.max(this.width, 1);
        const seen = [];
        const below = [[this.focus, 0, 1]];
        while (below.length > 0) {
            const [node, left, width] = below.pop();
            seen.push([node, left, width]);
            let at = left;
            for (const child of node.children) {
                const wide = node.weight > 0 ? width * child.weight / node.weight : 0;
                if (wide >= least)
                    below.push([child, at, wide]);
                at += wide;
            }
        }
        return seen;
    }

    draw() {
        const sky = element('div', 'sky');
        sky.setAttribute('role', 'presentation');
        this.boxes = new Map();
        this.width = this.graph.clientWidth;
        byId('zoom-out').disabled = this.focus === this.root;
        if (this.root.weight === 0) {
            this.graph.replaceChildren(element('p', '', this.state.view === 'difference'
                ? 'Nothing changed here.' : 'Nothing to show: no memory of this kind.'));
            byId('flame-detail').textContent = '';
            return;
        }
        const seen = this.visible();
        const rows = Math.max(...seen.map(([node]) => node.depth)) + 1;
        const place = (node) => this.state.layout === 'icicle' ? node.depth : rows - 1 - node.depth;
        const above = [];
        for (let node = this.focus.parent; node; node = node.parent)
            above.unshift(node);
        for (const node of above) {
            const box = this.box(node, 0, 1, place(node));
            box.classList.add('above');
            sky.append(box);
        }
        for (const [node, left, width] of seen)
            sky.append(this.box(node, left, width, place(node)));
        sky.style.height = rows * ROW + 'px';
        this.graph.replaceChildren(sky);
        this.focus.box.tabIndex = 0;
        if (this.state.layout === 'flame')
            this.graph.scrollTop = this.graph.scrollHeight;
        this.describe(this.focus);
    }

    describe(node) {
        if (!node)
            return;
        const detail = byId('flame-detail');
        const share = this.share(node);
        detail.replaceChildren(element('b', '', this.name(node).slice(0, 2000)),
            `  ${this.value(node)}${share ? `, ${share} of all` : ''}`);
        if (node.kind === 'frame')
            detail.append(element('span', 'place', this.page.place(node.frame)));
        else if (node.kind === 'root')
            detail.append(element('span', 'place', `all ${METRICS[this.state.metric].total} of the region`));
    }

    zoom(node) {
        const had = this.graph.contains(document.activeElement);
        this.focus = node;
        this.draw();
        if (had && node.box)
            node.box.focus();
    }

    move(node) {
        if (!node || !node.box || !node.box.isConnected)
            return;
        for (const box of this.boxes.keys())
            box.tabIndex = -1;
        node.box.tabIndex = 0;
        node.box.focus();
    }

    key(event) {
        const node = this.nodeOf(event.target);
        if (!node || event.altKey || event.ctrlKey || event.metaKey)
            return;
        const inwards = this.state.layout === 'icicle' ? 'ArrowDown' : 'ArrowUp';
        const outwards = this.state.layout === 'icicle' ? 'ArrowUp' : 'ArrowDown';
        const siblings = node.parent ? node.parent.children : [node];
        const at = siblings.indexOf(node);
        const moves = {
            [inwards]: () => this.move(node.children[0]),
            [outwards]: () => this.move(node.parent),
            ArrowRight: () => this.move(siblings[at + 1]),
            ArrowLeft: () => this.move(siblings[at - 1]),
            Home: () => this.move(this.root),
            Enter: () => this.zoom(node),
            ' ': () => this.zoom(node),
            Escape: () => this.zoom(this.root),
            Backspace: () => this.zoom(this.focus.parent || this.root),
        };
        if (!moves[event.key])
            return;
        event.preventDefault();
        moves[event.key]();
    }

    search(text) {
        this.query = text.trim().toLowerCase();
        byId('search').value = text;
        if (!this.root)
            return;
        this.mark();
        this.draw();
    }

    /* Which boxes the query names, and what they hold together: one below another counts once. */
    mark() {
        const sum = [0, 0];
        let count = 0;
        const walk = (node, within) => {
            node.found = this.query !== '' && node.kind === 'frame' && this.page.frame(node.frame).haystack.includes(this.query);
            if (node.found) {
                count++;
                if (!within) {
                    sum[0] += node.sum[0];
                    sum[1] += node.sum[1];
                }
            }
            node.children.forEach((child) => walk(child, within || node.found));
        };
        walk(this.root, false);
        const result = byId('search-result');
        result.hidden = this.query === '';
        if (count === 0)
            result.textContent = `No function, file or module has \u201c${this.query}\u201d in its name.`;
        else
            result.textContent = `${formatCount(count)} ${count === 1 ? 'box' : 'boxes'} found: ${this.value({sum})}` +
                (this.share({sum}) ? `, ${this.share({sum})} of all.` : '.');
    }

    legend() {
        const legend = byId('legend');
        if (this.two) {
            legend.replaceChildren(element('li', 'scale', 'shrank', element('i'), 'grew'));
            return;
        }
        const weights = new Map();
        const walk = (node, outer) => {
            const module = node.kind === 'frame' ? this.page.frame(node.frame).module : -1;
            if (module >= 0 && module !== outer)
                weights.set(module, (weights.get(module) || 0) + node.weight);
            node.children.forEach((child) => walk(child, module));
        };
        walk(this.root, -1);
        const modules = [...weights].sort((a, b) => b[1] - a[1]).slice(0, 12);
        legend.replaceChildren(...modules.map(([module]) => {
            const known = this.page.data.modules[module];
            const swatch = element('i');
            const button = element('button', '', swatch, known.name);
            swatch.style.setProperty('--hue', known.hue);
            button.type = 'button';
            button.title = 'Search for this module';
            button.addEventListener('click', () => this.search(this.query === known.name.toLowerCase() ? '' : known.name));
            return element('li', '', button);
        }));
    }
}
