<?php
// SPDX-License-Identifier: GPL-3.0-or-later
// Answers a price; where `slow` is asked for it reads the catalogue anew before.
namespace Shop;

class Catalogue
{
    public function price(int $item): float
    {
        $sum = 0.0;
        for ($i = 0; $i < 20000; $i++) {
            $sum += sqrt($item * $i) * 0.01;
        }
        return $sum;
    }

    public function refresh(): int
    {
        $lines = [];
        for ($i = 0; $i < 60000; $i++) {
            $lines[] = md5((string)$i);
        }
        usort($lines, fn($a, $b) => strcmp($a, $b));
        return count($lines);
    }
}

function handle(string $asked): string
{
    $catalogue = new Catalogue();
    $lines = $asked === '/slow' ? $catalogue->refresh() : 0;
    return sprintf("%.2f %d\n", $catalogue->price(7), $lines);
}

header('Content-Type: text/plain');
echo handle($_SERVER['REQUEST_URI']);
