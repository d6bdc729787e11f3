<?php
// SPDX-License-Identifier: GPL-3.0-or-later
//
// A program that knows its own chain of calls.
//
//     php php_chains.php FILE
//
// Each stretch of time in which the chain of PHP's functions stays as it is becomes a line of JSON
// in FILE: phase, pid, tid, begin and end (CLOCK_MONOTONIC, ns), the chain as debug_backtrace() has
// it, outermost first ([name, file, line]; PHP's own functions have neither file nor line), the
// lines that the innermost function has, and, where that one goes on to call, `inner`: the names
// that may stand further in. It waits for a line on standard input before it begins, creates
// FILE.done at the end, and waits for another line before it exits. It is written for 7.4, and does
// more on later versions.

namespace Chains;

const BURN_US = 40000; // of CPU time
const WAIT_US = 2000;
const WAITS = 40;

// What a call in the trace is called in a chain. Behind a zero an anonymous class has what makes
// its name another one.
function name_of(array $call): string {
    if (in_array($call['function'], ['include', 'include_once', 'require', 'require_once']))
        return 'include';
    $of_class = isset($call['class']) && strncmp($call['function'], '{closure:', 9) !== 0;
    return ($of_class ? strstr($call['class'] . "\0", "\0", true) . '::' : '') . $call['function'];
}

// A call's file and line are where its caller is.
function chain_of(array $trace): array {
    $names = array_map('Chains\name_of', $trace);
    $names[] = '{main}';
    $chain = [];
    foreach ($names as $i => $name)
        $chain[] = $i ? [$name, $trace[$i - 1]['file'] ?? '', $trace[$i - 1]['line'] ?? 0]
                      : [$name, __FILE__, 0];
    return array_reverse($chain);
}

function tell(string $phase, int $begin, int $end, array $chain, string $function,
              array $inner = []): void {
    global $output;
    $known = new \ReflectionFunction($function);
    $told = ['phase' => $phase, 'pid' => getmypid(), 'tid' => getmypid(), 'begin' => $begin,
             'end' => $end, 'chain' => $chain,
             'lines' => [$known->getStartLine(), $known->getEndLine()], 'inner' => $inner];
    fwrite($output, json_encode($told, JSON_THROW_ON_ERROR) . "\n");
}

// What it has had of CPUs, us.
function cpu_us(): int {
    $usage = getrusage();
    return ($usage['ru_utime.tv_sec'] + $usage['ru_stime.tv_sec']) * 1000000 +
           $usage['ru_utime.tv_usec'] + $usage['ru_stime.tv_usec'];
}

// The stretch lies between the two readings of the clock; in it only functions that read clocks are
// called.
function burn(string $phase, int $us = BURN_US): int {
    $chain = chain_of(debug_backtrace(DEBUG_BACKTRACE_IGNORE_ARGS));
    $value = 0;
    $begin = hrtime(true);
    $usage = getrusage();
    $enough = ($usage['ru_utime.tv_sec'] + $usage['ru_stime.tv_sec']) * 1000000 +
              $usage['ru_utime.tv_usec'] + $usage['ru_stime.tv_usec'] + $us;
    do {
        for ($i = 0; $i < 5000; $i++)
            $value = ($value * 31 + 7) % 1000003;
        $usage = getrusage();
    } while (($usage['ru_utime.tv_sec'] + $usage['ru_stime.tv_sec']) * 1000000 +
             $usage['ru_utime.tv_usec'] + $usage['ru_stime.tv_usec'] < $enough);
    $end = hrtime(true);
    tell($phase, $begin, $end, $chain, __FUNCTION__);
    return $value;
}

function doze(string $phase): void {
    $chain = chain_of(debug_backtrace(DEBUG_BACKTRACE_IGNORE_ARGS));
    $begin = hrtime(true);
    for ($i = 0; $i < WAITS; $i++)
        usleep(WAIT_US);
    $end = hrtime(true);
    tell($phase, $begin, $end, $chain, __FUNCTION__, ['usleep']);
}

function select(string $phase): void {
    $chain = chain_of(debug_backtrace(DEBUG_BACKTRACE_IGNORE_ARGS));
    [$here, $there] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
    $begin = hrtime(true);
    for ($i = 0; $i < WAITS; $i++) {
        $read = [$here];
        $write = $except = null;
        stream_select($read, $write, $except, 0, WAIT_US);
    }
    $end = hrtime(true);
    tell($phase, $begin, $end, $chain, __FUNCTION__, ['stream_select']);
}

function first_leaf(int $value): int {
    return second_leaf($value) + 1;
}

function second_leaf(int $value): int {
    return $value * 3 % 1000003;
}

// Calls and returns all the time, in as many stretches as it takes until it has had its time on a CPU.
function call(string $phase): int {
    $chain = chain_of(debug_backtrace(DEBUG_BACKTRACE_IGNORE_ARGS));
    $value = $used = 0;
    while ($used < 2 * BURN_US) {
        $before = cpu_us();
        $begin = hrtime(true);
        $enough = $begin + 2 * BURN_US * 1000;
        while (hrtime(true) < $enough)
            for ($i = 0; $i < 1000; $i++)
                $value = first_leaf($value);
        $end = hrtime(true);
        $used += cpu_us() - $before;
        tell($phase, $begin, $end, $chain, __FUNCTION__,
             ['Chains\first_leaf', 'Chains\second_leaf']);
    }
    return $value;
}

// ... from C: that of PHP's own functions calls them.
function call_back(string $phase): array {
    $chain = chain_of(debug_backtrace(DEBUG_BACKTRACE_IGNORE_ARGS));
    $values = range(1, 1000);
    $used = 0;
    while ($used < 2 * BURN_US) {
        $before = cpu_us();
        $begin = hrtime(true);
        $enough = $begin + 2 * BURN_US * 1000;
        while (hrtime(true) < $enough)
            $values = array_map('Chains\first_leaf', $values);
        $end = hrtime(true);
        $used += cpu_us() - $before;
        tell($phase, $begin, $end, $chain, __FUNCTION__,
             ['array_map', 'Chains\first_leaf', 'Chains\second_leaf']);
    }
    return $values;
}

// 40 functions, each with a name and a line of its own, in a file of their own.
function nested(): void {
    global $argv;
    $source = "<?php\n";
    for ($i = 0; $i < 40; $i++)
        $source .= "function nested_$i(\$phase) {\n" . str_repeat("\n", $i % 7) .
                   '    return nested_' . ($i + 1) . "(\$phase);\n}\n";
    $source .= "function nested_40(\$phase) {\n    \\Chains\\burn(\$phase);\n}\n" .
               "\n\\Chains\\burn('include');\n";
    file_put_contents($argv[1] . '.nested.php', $source);
    include $argv[1] . '.nested.php';
    \nested_0('nested');
}

function recurse(string $phase, int $depth): int {
    if ($depth % 2)
        return recurse($phase, $depth - 1);
    return $depth ? recurse($phase, $depth - 1) : burn($phase);
}

function recursion(): void {
    recurse('recursion', 200);
}

function deep_recursion(): void {
    recurse('deep recursion', 900);
}

function callbacks(): void {
    array_map(function ($value) { return burn('array_map'); }, [1]);
    $two = [2, 1];
    usort($two, function ($a, $b) {
        burn('usort');
        return $a <=> $b;
    });
    preg_replace_callback('/a/', fn($match) => (string)burn('preg_replace_callback'), 'a');
    call_user_func_array('Chains\burn', ['call_user_func_array']);
}

// From C to PHP to C to PHP.
function nested_callbacks(): void {
    array_map(fn($a) => array_map(
        fn($b) => array_reduce([1], fn($c, $d) => burn('nested callbacks'), 0), [1]), [1]);
}

function produce(string $phase) {
    burn($phase);
    yield 1;
}

function delegate(string $phase) {
    yield from produce($phase);
}

function generators(): void {
    foreach (produce('generator') as $value)
        $value++;
    produce('generator by hand')->current();
    foreach (delegate('yield from') as $value)
        $value++;
    array_sum(iterator_to_array(produce('generator of C')));
}

function fail(): void {
    throw new \RuntimeException('thrown');
}

function handled(): void {
    try {
        fail();
    } catch (\RuntimeException $exception) {
        burn('catch');
    } finally {
        burn('finally');
    }
}

// The loop has code for such things elsewhere.
function warned(): void {
    set_error_handler(function ($number, $text) {
        burn('error handler');
        return true;
    });
    $nothing = $undefined;
    $nothing = [] . '';
    restore_error_handler();
}

trait Tr {
    function of_trait(string $phase): void {
        burn($phase);
    }
}

class Same {
    use Tr;

    function method(string $phase): void {
        burn($phase);
    }
    static function of_class(string $phase): void {
        (new static())->method($phase);
    }
    function __get($name) {
        return burn('__get');
    }
    function __call($name, $arguments) {
        burn('__call');
    }
    static function __callStatic($name, $arguments) {
        burn('__callStatic');
    }
    function __invoke() {
        burn('__invoke');
    }
    function __toString() {
        return (string)burn('__toString');
    }
    function closure(string $phase): \Closure {
        return function () use ($phase) { burn($phase); };
    }
    function __destruct() {
        global $deleted;
        if (!$deleted) {
            $deleted = true;
            burn('__destruct');
        }
    }
}

class Further extends Same {
}

$deleted = true;

function methods(): void {
    global $deleted;
    $same = new Same();
    Further::of_class('method');
    $same->of_trait('trait');
    $same->absent;
    $same->absent(1);
    Same::absent(1);
    $same();
    $text = "$same";
    $same->closure('closure')();
    (new class {
        function method(): void {
            burn('anonymous class');
        }
    })->method();
    array_map([$same, 'method'], ['method of C']);
    $deleted = false;
    unset($same);
}

function größe(): void {
    burn('unicode');
}

function executed(): void {
    eval("\n\n\\Chains\\burn('eval');\n");
    größe();
}

function fibers(): void {
    $fiber = new \Fiber(function () {
        burn('fiber');
        \Fiber::suspend();
        doze('resumed fiber');
    });
    $fiber->start();
    $fiber->resume();
}

function signalled(): void {
    pcntl_async_signals(true);
    pcntl_signal(SIGUSR1, function () { burn('signal'); });
    posix_kill(getmypid(), SIGUSR1);
    pcntl_signal(SIGUSR1, SIG_DFL);
}

// In a child that stays until this process has read a line.
function forked(): void {
    [$here, $there] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
    $GLOBALS['stay'] = $here;
    if (pcntl_fork() === 0) {
        fclose($here);
        // Whose name the child has not touched, if its memory is shared (opcache's).
        for ($i = 0; $i < 100000; $i++)
            getrusage();
        burn('fork');
        recurse('fork', 10);
        fwrite($there, "x\n");
        fgets($there);
        posix_kill(getmypid(), SIGKILL);
    }
    fclose($there);
    fgets($here);
}

function waiting(): void {
    doze('usleep');
    array_map(function ($value) { select('stream_select'); }, [1]);
}

function calling(): void {
    call('calls');
    call_back('calls from C');
}

$output = fopen($argv[1], 'w');
echo 'ready ', getmypid(), "\n";
fgets(STDIN);
nested();
recursion();
deep_recursion();
callbacks();
nested_callbacks();
generators();
handled();
warned();
methods();
executed();
waiting();
calling();
if (class_exists('Fiber'))
    fibers();
if (function_exists('pcntl_fork') && function_exists('posix_kill')) {
    signalled();
    forked();
}
fclose(fopen($argv[1] . '.done', 'w'));
fgets(STDIN);
