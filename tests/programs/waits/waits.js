// SPDX-License-Identifier: GPL-3.0-or-later
// See Waits.java.
const fs = require("fs");
const letter = Buffer.alloc(1);

function leaf() {
    return fs.readSync(0, letter); // leaf
}

function middle() {
    const count = leaf(); // middle
    return count > 0;
}

function outer() {
    let more = true;
    while (more)
        more = middle(); // outer
}

console.log("ready");
outer();
