/* SPDX-License-Identifier: BSD-3-Clause */
/* page.js: one subject at a time, in its parts; the theme; the keys of the whole page. */

const STATUS_WORDS = {worse: 'more', better: 'less', added: 'added', removed: 'removed', same: 'the same', noise: 'noise', unknown: 'unknown', shown: ''};

class Page {
    constructor(data) {
        this.data = data;
        this.frames = new Map();
        this.flame = new Flame(this);
        this.timeline = new Timeline(this);
        this.sites = new Sites(this);
    }

    /* A frame by its number, with its names. */
    frame(number) {
        let frame = this.frames.get(number);
        if (!frame) {
            const [name, file, line, module] = this.data.frames[number];
            const known = this.data.modules[module];
            const text = this.data.strings;
            frame = {name: text[name], file: text[file], line, module, hue: known.hue};
            frame.haystack = `${frame.name} ${frame.file} ${known.name}`.toLowerCase();
            this.frames.set(number, frame);
        }
        return frame;
    }

    place(number) {
        const frame = this.frame(number);
        const module = this.data.modules[frame.module].path;
        return frame.file ? `${frame.file}${frame.line > 0 ? ':' + frame.line : ''} in ${module}` : module;
    }

    kindWords(kind) {
        return kind === 'other' ? '(other: the table of stacks was full)' : '(no call stack taken)';
    }

    open(number) {
        const subject = this.data.subjects[number];
        this.number = number;
        byId('subject').hidden = false;
        byId('subject-name').textContent = subject.name;
        byId('subject-words').replaceChildren(...subject.words.map((words) => element('p', '', words)));
        this.tiles(subject);
        this.timeline.open(subject);
        this.flame.open(subject);
        this.sites.open(subject);
        this.gaps(subject);
        this.facts(subject);
        for (const row of byId('overview-table').querySelectorAll('tbody tr'))
            row.setAttribute('aria-current', String(Number(row.dataset.number) === number));
    }

    /* The subject that changed most; of one side the largest. */
    largest() {
        const size = ({before, after}) => before && after ? Math.abs(after.peak_added - before.peak_added)
            : this.data.mode === 'diff' ? -1 : (after || before).peak_added;
        return this.data.subjects.reduce((best, subject, i, all) => size(subject) > size(all[best]) ? i : best, 0);
    }

    overview() {
        const {subjects} = this.data;
        const two = this.data.mode === 'diff';
        byId('overview').hidden = subjects.length < 2;
        const heads = two ? ['change', 'before', 'after', 'difference', 'ratio'] : ['added at the peak', 'live at the peak'];
        const head = element('tr', '', ...heads.map((words) => element('th', 'number', words)), element('th', 'name', 'benchmark (parameters)'));
        const bytes = (side) => side ? formatBytes(side.peak_added) : '\u2013';
        const rows = subjects.map((subject, number) => {
            const {before, after} = subject;
            const link = element('button', 'link', subject.name);
            link.type = 'button';
            link.addEventListener('click', () => {
                this.open(number);
                byId('subject').scrollIntoView({block: 'start'});
            });
            const change = before && after ? after.peak_added - before.peak_added : 0;
            const look = change > 0 ? 'grew' : change < 0 ? 'fell' : '';
            const cells = two
                ? [STATUS_WORDS[subject.status], bytes(before), bytes(after),
                    before && after ? withSign(change, formatBytes(change)) : '', subject.ratio === null ? '' : subject.ratio.toFixed(2)]
                : [bytes(after), formatBytes(after.live_peak)];
            const row = element('tr', '', ...cells.map((words, i) => element('td', `number ${two && (i === 0 || i > 2) ? look : ''}`, words)),
                element('td', 'name', link));
            heads.forEach((words, i) => { row.children[i].dataset.label = words; });
            row.dataset.number = number;
            return row;
        });
        byId('overview-table').replaceChildren(element('thead', '', head), element('tbody', '', ...rows));
    }

    tiles(subject) {
        const {before, after} = subject;
        const tile = (term, value, small, look) => element('div', '', element('dt', '', term),
            element('dd', look || '', value, small ? element('small', '', small) : null));
        const exact = (bytes) => `${formatCount(bytes)} bytes`;
        const tiles = [];
        if (before && after) {
            const change = after.peak_added - before.peak_added;
            tiles.push(tile('Before', formatBytes(before.peak_added), exact(before.peak_added)));
            tiles.push(tile('After', formatBytes(after.peak_added), exact(after.peak_added)));
            tiles.push(tile('Difference', withSign(change, formatBytes(change)), withSign(change, exact(change)), change > 0 ? 'grew' : change < 0 ? 'fell' : ''));
            if (subject.ratio !== null)
                tiles.push(tile('Ratio', subject.ratio.toFixed(3), 'after / before'));
        } else {
            const side = after || before;
            tiles.push(tile('Added at the peak', formatBytes(side.peak_added), exact(side.peak_added)));
            tiles.push(tile('Live at the peak', formatBytes(side.live_peak), `${formatBytes(side.live_start)} at the start`));
            tiles.push(tile('Kept at the end', formatBytes(side.net), exact(side.net)));
            if (side.allocations !== null)
                tiles.push(tile('Allocations', formatCount(side.allocations), `${formatBytes(side.allocated_bytes)} in total`));
            if (side.map_anon !== 0)
                tiles.push(tile('Mappings', formatBytes(side.map_anon), 'added at their own peak'));
        }
        byId('tiles').replaceChildren(...tiles);
    }

    sides(subject) {
        return ['before', 'after'].filter((side) => subject[side])
            .map((side) => [side, this.data.runs[subject[side].run], subject[side]]);
    }

    gaps(subject) {
        const list = element('ul', 'gaps');
        const sides = this.sides(subject);
        for (const [side, run, value] of sides) {
            const lead = sides.length === 2 ? `${side}: ` : '';
            for (const gap of run.gaps)
                list.append(element('li', '', lead + gap));
            if (value.unfit)
                list.append(element('li', 'grew', lead + value.unfit));
        }
        const clean = 'Nothing: every allocation and every free was seen, and the sums over all call sites are the totals, to the byte.';
        byId('gaps').replaceChildren(list.children.length > 0 ? list : element('p', '', clean));
    }

    facts(subject) {
        const sides = this.sides(subject);
        const names = [];
        for (const [, run] of sides)
            for (const [name] of run.facts)
                if (!names.includes(name))
                    names.push(name);
        const value = (run, name) => (run.facts.find((fact) => fact[0] === name) || ['', '\u2013'])[1];
        const rows = names.map((name) => {
            const values = sides.map(([, run]) => value(run, name));
            const differs = values.length === 2 && values[0] !== values[1];
            const head = element('th', '', name);
            head.scope = 'row';
            return element('tr', differs ? 'differs' : '', head, ...values.map((text) => element('td', '', text)));
        });
        const head = element('tr', '', element('td'), ...sides.map(([side]) => element('th', '', side)));
        byId('facts').replaceChildren(element('thead', '', ...(sides.length === 2 ? [head] : [])), element('tbody', '', ...rows));
    }
}

/* What the system wants, until the button says otherwise; remembered where the browser lets a file do so. */
function themeBegin() {
    const button = byId('theme');
    const order = ['system', 'light', 'dark'];
    let theme = 'system';
    const apply = () => {
        if (theme === 'system')
            delete document.documentElement.dataset.theme;
        else
            document.documentElement.dataset.theme = theme;
        button.textContent = `Theme: ${theme}`;
    };
    try {
        theme = order.find((known) => known === localStorage.getItem('votrace-theme')) || theme;
    } catch {
        /* Not allowed: the page forgets. */
    }
    button.hidden = false;
    button.addEventListener('click', () => {
        theme = order[(order.indexOf(theme) + 1) % order.length];
        apply();
        try {
            localStorage.setItem('votrace-theme', theme);
        } catch {
            /* Likewise. */
        }
    });
    apply();
}

function pageBegin() {
    const page = new Page(JSON.parse(byId('data').textContent));
    themeBegin();
    if (page.data.subjects.length === 0)
        return;
    page.overview();
    page.open(page.largest());
    document.addEventListener('keydown', (event) => {
        const typing = event.target.matches && event.target.matches('input, select, textarea');
        if (event.key === '/' && !typing && !event.ctrlKey && !event.metaKey) {
            event.preventDefault();
            byId('search').focus();
        }
        if (event.key === 'Escape' && event.target.id === 'search')
            page.flame.search('');
    });
}

pageBegin();
