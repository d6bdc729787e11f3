<?php
// SPDX-License-Identifier: GPL-3.0-or-later
//
// A server whose requests know their own chains of calls.
//
//     AUGER_STRETCHES=FILE php -S HOST:PORT php_requests.php
//
// GET /page_N runs a file of its own, FILE.page_N.php, in which the functions have names and lines
// of their own; all these files have the same form and size, so that PHP's memory is the same in
// each request. FILE is as php_chains.php has it, each request a line.

$stretches = getenv('AUGER_STRETCHES');
$page = basename($_SERVER['REQUEST_URI']);
$number = (int)substr($page, -1);
if (strncmp($page, 'page_', 5) === 0) {
    $source = str_repeat("\n", $number) . str_replace('page', $page, <<<'END'
function page_outer($us) {
    return page_inner($us);
}

class page_class {
    function method($us) {
        return array_map(function ($us) {
            return page_outer($us);
        }, [$us]);
    }
}

function page_inner($us) {
    $trace = debug_backtrace(DEBUG_BACKTRACE_IGNORE_ARGS);
    $value = 0;
    $begin = hrtime(true);
    while (hrtime(true) < $begin + $us * 1000)
        for ($i = 0; $i < 1000; $i++)
            $value = ($value * 31 + 7) % 1000003;
    return [$trace, $begin, hrtime(true)];
}

return (new page_class())->method(5000);
END);
    $file = "$stretches.$page.php";
    if (!file_exists($file)) {
        file_put_contents("$file.new", "<?php\n" . $source . str_repeat("\n", 10 - $number));
        rename("$file.new", $file);
    }
    [[$trace, $begin, $end]] = include $file;
    $chain = [];
    foreach (array_merge($trace, [['function' => '{main}']]) as $i => $call)
        array_unshift($chain, [
            (isset($call['class']) && strncmp($call['function'], '{closure:', 9) !== 0
                 ? $call['class'] . '::' : '') . $call['function'],
            $i ? $trace[$i - 1]['file'] ?? '' : $file,
            $i ? $trace[$i - 1]['line'] ?? 0 : 0]);
    $known = new ReflectionFunction("{$page}_inner");
    file_put_contents($stretches, json_encode([
        'phase' => $page, 'pid' => getmypid(), 'tid' => getmypid(), 'begin' => $begin,
        'end' => $end, 'chain' => $chain,
        'lines' => [$known->getStartLine(), $known->getEndLine()], 'inner' => []]) . "\n",
        FILE_APPEND);
}
echo "$page\n";
