/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * selftest.js: what a person does with a page, and what has to be there then. test_pages.sh puts
 * it behind the page's own script; it leaves TAP-like lines in an element of its own.
 */
'use strict';

const results = [];

function check(name, good) {
    results.push(`${good ? 'ok' : 'not ok'} ${name}`);
}

const all = (selector) => [...document.querySelectorAll(selector)];
const one = (selector) => document.querySelector(selector);
const text = (selector) => one(selector).textContent;

function type(selector, words) {
    one(selector).value = words;
    one(selector).dispatchEvent(new Event('input', {bubbles: true}));
}

function press(target, key) {
    target.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true, cancelable: true}));
}

/* Wide as they are drawn. */
const share = (box) => parseFloat(box.style.width);
const topOf = (box) => parseFloat(box.style.top);
const data = JSON.parse(text('#data'));

function testContent() {
    check('it has one headline, a lead and an advice', all('h1').length === 1 && text('.lead') !== '' && text('.advice') !== '');
    check('the graph has boxes', all('.frame').length > 3);
    check('the timeline has a line and marks its peak', all('#timeline path.line').length > 0 && all('#timeline circle.peak').length > 0);
    check('the call sites are listed', all('#sites-table tbody tr').length > 0);
    check('what was not seen is said', text('#gaps') !== '');
    check('the facts name the machine', text('#facts').includes('machine'));
    check('nothing comes from elsewhere', all('[src], [href^="http"], iframe, object, embed').length === 0);
}

/* Exact is exact: on the page, too, from whichever end the tree is looked at. */
function testSums() {
    const sums = data.subjects.filter((subject) => subject.tree).map((subject) => ['callers', 'allocators'].every((order) => {
        const root = treeOf(subject.tree, 'peak', 'after', order);
        return ['before', 'after'].every((side, i) => !subject[side] || root.sum[i] === subject[side].peak_added);
    }));
    check('the sums of all trees are the totals, to the byte', sums.length > 0 && sums.every((good) => good));
}

function testSearch() {
    const name = all('.frame:not(.root)').map((box) => box.getAttribute('aria-label').split(',')[0]).pop();
    type('#search', name.slice(0, 6));
    check('a search marks what it finds', all('.frame.found').length > 0 && all('.frame.dim').length > 0);
    check('and says how much that is', /found: .*B/.test(text('#search-result')));
    type('#search', 'no such function');
    check('a search that finds nothing says so', all('.frame.found').length === 0 && text('#search-result').startsWith('No function'));
    press(one('#search'), 'Escape');
    check('Escape ends the search', one('#search').value === '' && all('.frame.dim').length === 0);
}

function testZoom() {
    const before = all('.frame').length;
    const narrow = all('.frame:not(.root)').sort((a, b) => share(a) - share(b) || topOf(b) - topOf(a))[0];
    const label = narrow.getAttribute('aria-label');
    narrow.click();
    const same = all('.frame:not(.above)').find((box) => box.getAttribute('aria-label') === label);
    check('a click makes a box as wide as the graph', same && share(same) === 100);
    check('and its callers stay above it', all('.frame.above').length > 0 && all('.frame.above').every((box) => share(box) === 100));
    one('#zoom-out').click();
    check('Zoom out shows all again', all('.frame').length === before && one('#zoom-out').disabled);
}

function testKeys() {
    const root = one('.frame.root');
    root.focus();
    press(root, 'ArrowDown');
    const first = document.activeElement;
    check('an arrow goes to what is called', first !== root && first.classList.contains('frame') && topOf(first) > topOf(root));
    press(first, 'ArrowUp');
    check('another goes back', document.activeElement === root);
    press(root, 'ArrowDown');
    press(document.activeElement, 'Enter');
    check('Enter zooms', !one('#zoom-out').disabled);
    press(document.activeElement, 'Escape');
    check('Escape zooms out', one('#zoom-out').disabled && document.activeElement.classList.contains('root'));
    check('one box at a time can be reached by Tab', all('.frame[tabindex="0"]').length === 1);
    press(document.body, '/');
    check('/ goes to the search', document.activeElement.id === 'search');
}

function testTurning() {
    const choose = (group, value) => one(`#${group} button[data-value="${value}"]`).click();
    const root = () => one('.frame.root');
    choose('flame-layout', 'flame');
    check('callers can be below', all('.frame').every((box) => topOf(box) <= topOf(root())));
    choose('flame-layout', 'icicle');
    check('and on top', all('.frame').every((box) => topOf(box) >= topOf(root())));
    const outer = all('.frame').find((box) => box.getAttribute('aria-level') === '2').getAttribute('aria-label');
    choose('flame-order', 'allocators');
    const inner = all('.frame').find((box) => box.getAttribute('aria-level') === '2').getAttribute('aria-label');
    check('the tree can begin at the allocation', inner !== outer);
    choose('flame-order', 'callers');
    const label = root().getAttribute('aria-label');
    one('#metric').value = 'count';
    one('#metric').dispatchEvent(new Event('change', {bubbles: true}));
    check('another measure has other numbers', root().getAttribute('aria-label') !== label);
    one('#metric').value = 'peak';
    one('#metric').dispatchEvent(new Event('change', {bubbles: true}));
}

function testTable() {
    const heads = all('#sites-table th button');
    const key = heads[heads.length - 2].dataset.key;
    const column = heads.length - 2;
    const numbers = () => all('#sites-table tbody tr').map((row) => row.children[column].title || row.children[column].textContent)
        .map((words) => Number(words.replace(/[^0-9\u2212]/g, '').replace('\u2212', '-')));
    const button = () => one(`#sites-table button[data-key="${key}"]`);
    button().click();
    check('a column sorts, largest first', numbers().every((number, i, list) => i === 0 || list[i - 1] >= number));
    check('and is marked', button().closest('th').getAttribute('aria-sort') === 'descending');
    button().click();
    check('a second click turns it round', numbers().every((number, i, list) => i === 0 || list[i - 1] <= number));
    check('the focus stays on the column', document.activeElement === button());
    one('#sites-table button[data-key="name"]').click();
    const names = all('#sites-table .site').map((site) => site.textContent);
    check('names sort by the alphabet', names.every((name, i) => i === 0 || names[i - 1].localeCompare(name) <= 0));
    type('#filter', names[0]);
    check('a filter keeps what has it', all('#sites-table tbody tr').length > 0 && all('#sites-table tbody tr').every((row) => row.textContent.includes(names[0])));
    type('#filter', 'no such site');
    check('a filter that keeps nothing says so', all('#sites-table tbody tr').length === 0 && text('#sites-hint').startsWith('No call site'));
    type('#filter', '');
}

function testTheme() {
    const paper = () => getComputedStyle(document.body).backgroundColor;
    const turn = (theme) => {
        while (document.documentElement.dataset.theme !== theme)
            one('#theme').click();
        return paper();
    };
    check('the button makes it dark, and light', turn('dark') !== turn('light'));
    check('and says which', text('#theme') === 'Theme: light');
}

function testTimeline() {
    press(one('#timeline'), 'ArrowRight');
    check('the arrows read the timeline', /live/.test(text('#time-readout')));
    press(one('#timeline'), 'Escape');
    const run = one('#time-span button[data-value="run"]');
    if (run) {
        run.click();
        check('the whole run can be seen', all('#timeline path.line').length > 0 && text('#time-hint').startsWith('Live heap of the whole run'));
    }
}

function testOverview() {
    const links = all('#overview-table .link');
    if (links.length < 2)
        return;
    const other = links.find((link) => link.textContent !== text('#subject-name'));
    other.click();
    check('another benchmark can be chosen', text('#subject-name') === other.textContent && other.closest('tr').getAttribute('aria-current') === 'true');
}

window.addEventListener('load', () => {
    const tests = [testContent, testSums, testSearch, testZoom, testKeys, testTurning, testTable, testTheme, testTimeline, testOverview];
    for (const test of tests) {
        try {
            test();
        } catch (error) {
            check(`${test.name} runs: ${error}`, false);
        }
    }
    document.body.append(element('pre', '', results.join('\n')));
    document.body.lastChild.id = 'selftest';
});
