/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * format.js: numbers in words, and elements made of text.
 *
 * Names come from measured programs and may hold anything: they reach the page as text nodes only.
 */
'use strict';

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'];

/* Three digits and a unit, as votreport prints them. */
function formatBytes(bytes) {
    let value = Math.abs(bytes);
    const sign = bytes < 0 ? '\u2212' : '';
    if (value < 1024)
        return sign + value + ' B';
    let unit = 0;
    while (value >= 999.5 && unit + 1 < UNITS.length) {
        value /= 1024;
        unit++;
    }
    return sign + value.toFixed(value < 9.995 ? 2 : value < 99.95 ? 1 : 0) + ' ' + UNITS[unit];
}

function formatCount(number) {
    const digits = String(Math.abs(number)).replace(/\B(?=(\d{3})+$)/g, ',');
    return (number < 0 ? '\u2212' : '') + digits;
}

function withSign(number, text) {
    return number > 0 ? '+' + text : text;
}

function formatShare(part, whole) {
    if (!(whole > 0))
        return '';
    const percent = 100 * part / whole;
    return (percent < 0 ? '\u2212' : '') + Math.abs(percent).toFixed(1) + ' %';
}

function formatSeconds(ns, span) {
    const units = span < 2e4 ? ['ns', 1] : span < 2e7 ? ['\u00b5s', 1e3] : span < 2e9 ? ['ms', 1e6] : ['s', 1e9];
    const value = ns / units[1];
    const step = span / units[1];
    return value.toFixed(step < 2 ? 3 : step < 20 ? 2 : step < 200 ? 1 : 0) + ' ' + units[0];
}

/* An element with a class and with children, which are elements or text. */
function element(name, className, ...children) {
    const made = document.createElement(name);
    if (className)
        made.className = className;
    made.append(...children.filter((child) => child !== null && child !== undefined));
    return made;
}

function drawn(name, attributes, text) {
    const made = document.createElementNS('http://www.w3.org/2000/svg', name);
    for (const key of Object.keys(attributes))
        made.setAttribute(key, attributes[key]);
    if (text !== undefined)
        made.textContent = text;
    return made;
}

function byId(id) {
    return document.getElementById(id);
}

/* A row of buttons of which one is pressed. @options are [value, words]. */
function choose(container, options, chosen, change) {
    container.replaceChildren();
    container.hidden = options.length < 2;
    for (const [value, words] of options) {
        const button = element('button', '', words);
        button.type = 'button';
        button.dataset.value = value;
        button.setAttribute('aria-pressed', String(value === chosen));
        button.addEventListener('click', () => {
            for (const other of container.children)
                other.setAttribute('aria-pressed', String(other === button));
            change(value);
        });
        container.append(button);
    }
}

/* Draw again when @element has another width; not within the observer, which would call itself. */
function redrawWhenWide(element, draw) {
    let width = element.clientWidth;
    new ResizeObserver(() => requestAnimationFrame(() => {
        if (element.clientWidth === width)
            return;
        width = element.clientWidth;
        draw();
    })).observe(element);
}
