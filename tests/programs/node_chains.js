// SPDX-License-Identifier: GPL-3.0-or-later
// A program that knows its own chain of calls: tests/programs/python_chains.py in JavaScript.
//
//     node [OPTION...] node_chains.js FILE
//
// Each stretch of time in which the chain of functions stays as it is becomes a line of JSON in FILE:
// phase, pid, tid, begin and end (CLOCK_MONOTONIC, ns), the chain as V8 tells it, outermost first
// ([function, file, line], without V8's own functions), the lines at which these functions begin, the
// lines that the innermost one has, and `inner`: functions that may stand further in; of some `busy`, the
// line at which the innermost one is for most of its time, and calls nothing. Each phase is there
// twice: `cold`, and `warm`, after so many calls that the compilers have had their time. One that computes
// has as many stretches as it takes until the thread has had so much of the CPU, which others use, too;
// one that waits does so as often as it takes. It says `ready` and waits for a byte on standard input
// before it begins, creates FILE.done at the end, and waits for another one.
'use strict';
const fs = require('fs');
const vm = require('vm');

const output = process.argv[2];
const STRETCH_NS = 60_000_000n;
const WAITS = 30;
const WARM_CALLS = 3000;
const WARM_ROUNDS = 20;
const clock = process.hrtime.bigint; // `process` is a getter of the global object
const sleeper = new Int32Array(new SharedArrayBuffer(4));
let sink = 0;

Error.stackTraceLimit = 1000;

// Of the function that calls, and those that call it.
function sites(from) {
    const before = Error.prepareStackTrace, holder = {};
    Error.prepareStackTrace = (error, all) => all;
    Error.captureStackTrace(holder, from);
    const all = holder.stack;
    Error.prepareStackTrace = before;
    return all;
}

function line() {
    return sites(line)[0].getLineNumber();
}

// A function without a name is known by where its parameters begin, which is where V8 says that it
// begins when it has no word `function` before them.
function name(site) {
    const known = site.getFunctionName();
    if (known)
        return known;
    const at = [site.getEnclosingLineNumber(), site.getEnclosingColumnNumber()];
    return at.join() === '1,1' ? '<module>' : `anonymous:${at.join(':')}`;
}

function chain() {
    return sites(chain).filter((site) => site.getFileName()).reverse()
        .map((site) => [name(site), site.getFileName(), site.getLineNumber(),
                        site.getEnclosingLineNumber()]);
}

function tell(phase, begin, end, known, first, last, inner, busy) {
    fs.appendFileSync(output, JSON.stringify({
        phase, pid: process.pid, tid: process.pid, begin: Number(begin), end: Number(end),
        chain: known, begins: known.map((frame) => frame[3]), lines: [first, last], inner, busy}) + '\n');
}

// The main thread's time on a CPU, ns.
function used() {
    return BigInt(fs.readFileSync('/proc/self/schedstat', 'latin1').split(' ')[0]);
}

// Each stretch lies between two readings of the clock.
function burn(phase, ns) {
    if (!ns) {
        let value = 0;
        for (let i = 0; i < 1000; i++)
            value = (value * 31 + 7) % 1000003;
        return value;
    }
    const known = chain();
    const first = line();
    let value = 0;
    for (const before = used(); used() - before < ns;) {
        const begin = clock();
        let end = begin;
        while (end - begin < ns) {
            for (let i = 0; i < 1000; i++)
                value = (value * 31 + 7) % 1000003;
            end = clock();
        }
        const last = line(), busy = last - 3;
        tell(phase, begin, end, known, first, last, ['hrtimeBigInt'], busy);
    }
    return value;
}

function doze(phase, ns) {
    if (!ns)
        return phase.length;
    const known = chain();
    const first = line();
    const begin = clock();
    let end = begin;
    for (let i = 0; i < WAITS; i++) {
        Atomics.wait(sleeper, 0, 0, 2);
        end = clock();
    }
    const last = line();
    tell(phase, begin, end, known, first, last, ['hrtimeBigInt']);
    return 0;
}

// Calls and returns all the time.
function leaf(value) {
    return value * 3 % 1000003;
}

function middle(value) {
    return leaf(value) + 1;
}

function call(phase, ns) {
    if (!ns) {
        let value = 0;
        for (let i = 0; i < 100; i++)
            value = middle(value);
        return value;
    }
    const known = chain();
    const first = line();
    let value = 0;
    for (const before = used(); used() - before < 2n * ns;) {
        const begin = clock();
        let end = begin;
        while (end - begin < 2n * ns) {
            for (let i = 0; i < 1000; i++)
                value = middle(value);
            end = clock();
        }
        const last = line();
        tell(phase, begin, end, known, first, last, ['middle', 'leaf']);
    }
    return value;
}

// Makes garbage all the time, so that objects move.
function litter(phase, ns) {
    if (!ns)
        return [phase].length;
    const known = chain();
    const first = line();
    let kept = [];
    for (const before = used(); used() - before < 2n * ns;) {
        const begin = clock();
        let end = begin;
        while (end - begin < 2n * ns) {
            for (let i = 0; i < 1000; i++)
                kept[i] = {value: i, text: phase};
            end = clock();
        }
        const last = line();
        tell(phase, begin, end, known, first, last, ['hrtimeBigInt']);
    }
    return kept.length;
}

function deep(depth, work, phase, ns) {
    return depth === 0 ? work(phase, ns) + 1 : deep(depth - 1, work, phase, ns) + 1;
}

function throughSort(phase, ns) {
    let value = 0;
    [2, 1].sort((a, b) => { value = value || burn(phase, ns) + 1; return a - b; });
    return value;
}

class Till {
    constructor(phase, ns) {
        this.sum = this.add(phase, ns) + 1;
    }
    add(phase, ns) {
        return burn(phase, ns) + 1;
    }
    get sum2() {
        return this.sum + 1;
    }
}

function* produce(phase, ns) {
    yield burn(phase, ns) + 1;
}
function generate(phase, ns) {
    for (const value of produce(phase, ns))
        return value;
}

function handler(phase, ns) {
    try {
        throw new Error(phase);
    } catch (problem) {
        return burn(problem.message, ns) + 1;
    }
}

function parsed(phase, ns) {
    let value = 0;
    JSON.parse('[1]', (key, item) => {
        value = value || burn(phase, ns) + 1;
        return item;
    });
    return value;
}

const other = vm.runInThisContext(
    '(function throughOther(work, phase, ns) {\n    return work(phase, ns) + 1;\n})',
    {filename: '/other/file.js'});

const phases = {
    burn, call, doze, litter, handler, generate, parsed,
    sort: throughSort,
    deep: (phase, ns) => deep(40, burn, phase, ns),
    'deep doze': (phase, ns) => deep(12, doze, phase, ns),
    object: (phase, ns) => new Till(phase, ns).sum2,
    other: (phase, ns) => other(burn, phase, ns),
};

// Code that compilers make in other threads comes into use when these are done.
function settle(next) {
    setTimeout(next, 20);
}

function runPhases(names) {
    if (names.length === 0) {
        fs.writeFileSync(output + '.done', '');
        fs.readSync(0, Buffer.alloc(1));
        process.exit(sink < 0 ? 1 : 0);
    }
    const [phase, ...rest] = names, work = phases[phase];
    work(phase + ' cold', STRETCH_NS);
    let rounds = 0;
    const warm = () => {
        for (let i = 0; i < WARM_CALLS / WARM_ROUNDS; i++)
            sink += work(phase, 0n);
        if (++rounds < WARM_ROUNDS)
            return settle(warm);
        work(phase + ' warm', STRETCH_NS);
        settle(() => runPhases(rest));
    };
    warm();
}

process.stdout.write('ready\n');
fs.readSync(0, Buffer.alloc(1));
runPhases(Object.keys(phases));
