<?php
// SPDX-License-Identifier: GPL-3.0-or-later
//
// A program that knows how often it calls which functions written in C:
//
//     php php_natives.php
//
// It says "ready" and waits for a line, calls them, and prints its account, a line of JSON: how
// often it has called each.

const ROUNDS = 200;

class Own
{
    public function total(): int
    {
        return 1;
    }
}

$calls = ["preg_match" => 0, "md5" => 0, "usleep" => 0, "ArrayObject::getArrayCopy" => 0];
$text = str_repeat("abc ", 100);
$list = new ArrayObject([3, 1, 2]);

echo "ready\n";
fgets(STDIN);
for ($i = 0; $i < ROUNDS; $i++) {
    preg_match('/c( )a/', $text);
    $calls["preg_match"]++;
    md5($text . $i);
    $calls["md5"]++;
    usleep(100);
    $calls["usleep"]++;
    $list->getArrayCopy();
    $calls["ArrayObject::getArrayCopy"]++;
}
echo json_encode(["calls" => $calls]), "\n";
