/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tree.js: the call tree of one subject, from the outermost caller or from the allocating function.
 *
 * A node's `self` is what it allocated itself, `sum` that and all below it, each [before, after].
 * Its weight, which is its width, is a sum of what cannot be negative: where memory grew in one
 * call and shrank in the other, a difference of zero is as wide as both together.
 */

const METRICS = {
    peak: {words: 'Added at the peak', bytes: true, total: 'at the peak'},
    net: {words: 'Kept at the end', bytes: true, total: 'kept at the end'},
    total: {words: 'Allocated in total', bytes: true, total: 'allocated in total'},
    count: {words: 'Number of allocations', bytes: false, total: 'allocations'},
    peak_blocks: {words: 'Blocks live at the peak', bytes: false, total: 'blocks at the peak'},
};

const VIEWS = {
    difference: (pair) => Math.abs(pair[1] - pair[0]),
    after: (pair) => Math.max(pair[1], 0),
    before: (pair) => Math.max(pair[0], 0),
};

/* What a number below 0 stands for in place of a frame's. */
const KINDS = ['frame', 'root', 'rest', 'no_stack', 'other'];

function formatValue(metric, value) {
    return METRICS[metric].bytes ? formatBytes(value) : formatCount(value);
}

function treeNode(parent, frame) {
    return {parent, frame, kind: KINDS[Math.max(0, -frame)], children: [], self: [0, 0], sum: [0, 0], weight: 0,
        depth: parent ? parent.depth + 1 : 0};
}

/* From the outermost caller inwards, as it is stored. */
function treeForwards(stored, metric) {
    const values = ['before', 'after'].map((side) => stored[side] ? stored[side][metric] : null);
    const nodes = [];
    stored.parent.forEach((parent, i) => {
        const node = treeNode(i > 0 ? nodes[parent] : null, stored.frame[i]);
        node.self = values.map((side) => side ? side[i] : 0);
        if (node.parent)
            node.parent.children.push(node);
        nodes.push(node);
    });
    return nodes[0];
}

/* From the functions that allocated outwards: one path for every node that allocated itself. */
function treeBackwards(root) {
    const turned = treeNode(null, -1);
    const keys = new Map();
    const walk = (node) => {
        if (node.self[0] !== 0 || node.self[1] !== 0) {
            let at = turned;
            for (let from = node; from && from.kind !== 'root'; from = from.parent) {
                const key = from.frame;
                if (!keys.has(at))
                    keys.set(at, new Map());
                let next = keys.get(at).get(key);
                if (!next) {
                    next = treeNode(at, from.frame);
                    keys.get(at).set(key, next);
                    at.children.push(next);
                }
                at = next;
            }
            at.self = [at.self[0] + node.self[0], at.self[1] + node.self[1]];
        }
        node.children.forEach(walk);
    };
    walk(root);
    return turned;
}

function treeSum(node, weigh) {
    node.sum = node.self.slice();
    node.weight = weigh(node.self);
    for (const child of node.children) {
        treeSum(child, weigh);
        node.sum[0] += child.sum[0];
        node.sum[1] += child.sum[1];
        node.weight += child.weight;
    }
    node.children.sort((a, b) => b.weight - a.weight);
}

function treeOf(stored, metric, view, order) {
    let root = treeForwards(stored, metric);
    if (order === 'allocators')
        root = treeBackwards(root);
    treeSum(root, VIEWS[view]);
    return root;
}
