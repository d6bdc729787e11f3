<?php
// SPDX-License-Identifier: GPL-3.0-or-later
// See Waits.java.
function leaf()
{
    return fgets(STDIN); // leaf
}

function middle()
{
    $line = leaf(); // middle
    return $line !== false;
}

function outer()
{
    $more = true;
    while ($more) {
        $more = middle(); // outer
    }
}

echo "ready\n";
outer();
