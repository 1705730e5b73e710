/* SPDX-License-Identifier: BSD-3-Clause */
/* sites.js: the table of call sites: sorted by any column, filtered by any word. */

const SITES_AT_ONCE = 50;

/* What the numbers of a stored site are, in their order. */
const SITE_COLUMNS = {
    run: [
        ['peak', 'added at peak', formatBytes],
        ['share', 'share', null],
        ['blocks', 'blocks', formatCount],
        ['net', 'kept', formatBytes],
        ['total', 'allocated', formatBytes],
        ['count', 'allocations', formatCount],
    ],
    diff: [
        ['difference', 'difference', null],
        ['before', 'before', formatBytes],
        ['after', 'after', formatBytes],
    ],
};

class Sites {
    constructor(page) {
        this.page = page;
        this.table = byId('sites-table');
        byId('filter').addEventListener('input', (event) => this.filter(event.target.value));
        byId('sites-more').addEventListener('click', () => {
            this.limit = Infinity;
            this.draw();
        });
    }

    open(subject) {
        this.subject = subject;
        byId('sites').hidden = !subject.sites;
        if (!subject.sites)
            return;
        this.two = Boolean(subject.before && subject.after);
        this.columns = this.two ? SITE_COLUMNS.diff : SITE_COLUMNS.run;
        this.sites = subject.sites.map((stored) => this.site(stored));
        this.whole = (subject.after || subject.before).peak_added;
        this.sort = {key: this.columns[0][0], down: true};
        this.limit = SITES_AT_ONCE;
        this.draw();
    }

    site([change, name, place, callers, ...numbers]) {
        const text = this.page.data.strings;
        const site = {change, name: text[name], place: text[place], callers: text[callers]};
        if (this.two)
            [site.before, site.after] = numbers;
        else
            [site.peak, site.blocks, site.net, site.total, site.count] = numbers;
        site.difference = this.two ? site.after - site.before : 0;
        site.share = site.peak;
        site.haystack = `${site.name} ${site.place} ${site.callers} ${change}`.toLowerCase();
        return site;
    }

    filter(text) {
        this.query = text.trim().toLowerCase();
        this.draw();
    }

    /* The largest first; of differences the largest either way. */
    compare(a, b) {
        const {key, down} = this.sort;
        if (key === 'name')
            return (down ? -1 : 1) * a.name.localeCompare(b.name);
        const size = (site) => key === 'difference' ? Math.abs(site[key]) : site[key];
        return (down ? 1 : -1) * (size(b) - size(a));
    }

    shown() {
        return this.sites.filter((site) => !this.query || site.haystack.includes(this.query))
            .sort((a, b) => this.compare(a, b));
    }

    head(key, words, className) {
        const button = element('button', '', words);
        const cell = element('th', className, button);
        button.type = 'button';
        button.dataset.key = key;
        cell.scope = 'col';
        if (key === this.sort.key)
            cell.setAttribute('aria-sort', this.sort.down ? 'descending' : 'ascending');
        button.addEventListener('click', () => {
            this.sort = {key, down: key === this.sort.key ? !this.sort.down : key !== 'name'};
            this.draw();
            this.table.querySelector(`button[data-key="${key}"]`).focus();
        });
        return cell;
    }

    number(site, [key, words, format]) {
        const cell = element('td', 'number');
        cell.dataset.label = words;
        if (key === 'share') {
            cell.textContent = formatShare(site.peak, this.whole);
        } else if (key === 'difference') {
            cell.textContent = withSign(site.difference, formatBytes(site.difference));
            cell.classList.add(site.difference > 0 ? 'grew' : 'fell');
            cell.title = `${withSign(site.difference, formatCount(site.difference))} B`;
        } else {
            cell.textContent = format(site[key]);
            if (format === formatBytes)
                cell.title = `${formatCount(site[key])} B`;
        }
        return cell;
    }

    row(site) {
        const name = element('td', 'name');
        if (site.change === 'new')
            name.append(element('span', 'tag grew', 'NEW'));
        if (site.change === 'gone')
            name.append(element('span', 'tag fell', 'GONE'));
        name.append(element('span', site.name.length > 200 ? 'site clip' : 'site', site.name));
        if (site.place)
            name.append(element('span', 'place', '  ' + site.place));
        if (site.callers)
            name.append(element('span', 'callers clip', site.callers));
        return element('tr', '', ...this.columns.map((column) => this.number(site, column)), name);
    }

    draw() {
        const sites = this.shown();
        const rows = sites.slice(0, this.limit);
        const more = byId('sites-more');
        const head = element('tr', '', ...this.columns.map(([key, words]) => this.head(key, words, 'number')),
            this.head('name', 'call site', 'name'));
        this.table.replaceChildren(element('thead', '', head), element('tbody', '', ...rows.map((site) => this.row(site))));
        more.hidden = rows.length === sites.length;
        more.textContent = `Show all ${formatCount(sites.length)}`;
        byId('sites-hint').textContent = this.hint(sites);
    }

    hint(sites) {
        const left = this.subject.sites_left_out;
        const rest = left > 0 ? ` ${formatCount(left)} smaller ones are not in this page.` : '';
        if (sites.length === 0)
            return this.query ? `No call site has \u201c${this.query}\u201d in it.` : this.two ? 'No call site changed.' : 'Nothing was live at the peak.';
        const count = this.query ? `${formatCount(sites.length)} of ${formatCount(this.sites.length)}` : formatCount(sites.length);
        if (this.two) {
            const sum = sites.reduce((all, site) => all + site.difference, 0);
            return `${count} changed, together ${withSign(sum, formatBytes(sum))}.${rest}`;
        }
        const sum = sites.reduce((all, site) => all + site.peak, 0);
        return `${count} hold ${formatBytes(sum)} of what was added at the peak.${rest}`;
    }
}
