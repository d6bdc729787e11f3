// SPDX-License-Identifier: GPL-3.0-or-later
// A web server with a slow request now and then, in JavaScript: tests/programs/slow_requests.py
// says what it does.
//
//     node [OPTION...] slow_requests.js
'use strict';
const http = require('http');
const readline = require('readline');

const account = {served: 0, planted: 0};

function spin(ns) {
    const end = process.hrtime.bigint() + ns;
    while (process.hrtime.bigint() < end) {
    }
}

function look() {
    spin(500_000n);
}

function reconcile() {
    account.planted++;
    spin(60_000_000n);
}

const server = http.createServer((request, response) => {
    look();
    if (request.url.endsWith('7'))
        reconcile();
    account.served++;
    response.end('ok\n');
});

server.listen(0, '127.0.0.1', () => {
    process.stdout.write(`ready\n${server.address().port}\n`);
    let lines = 0;
    readline.createInterface({input: process.stdin}).on('line', () => {
        if (lines++)
            process.exit(0);
        process.stdout.write(JSON.stringify(account) + '\n');
    });
});
