# SPDX-License-Identifier: GPL-3.0-or-later
#
# A program that knows its own chain of calls.
#
#     perl perl_chains.pl FILE
#
# Each stretch of time in which the chain of Perl's subs stays as it is becomes a line of JSON in
# FILE: phase, pid, tid, begin and end (CLOCK_MONOTONIC, ns), the chain as caller() has it, outermost
# first ([name, file, line]), the lines that the innermost sub has, and, where that one goes on to
# call, `inner`: the names that may stand further in. It waits for a line on standard input before it
# begins, creates FILE.done at the end, and waits for another line before it exits. What is executed
# while a clock is read has no frame: those functions are written in C.
use strict;
use warnings;
use utf8;

package Chains;

use Config;
use List::Util ();
use Socket ();
use Time::HiRes ();

use constant {
    BURN      => 0.04, # seconds of CPU time
    WAIT      => 0.002,
    WAITS     => 40,
    MONOTONIC => 1,    # CLOCK_MONOTONIC
    CPU       => 3,    # CLOCK_THREAD_CPUTIME_ID
};

# Before anybody looks, as all libraries.
BEGIN { require threads if $Config{useithreads} }

my $path = $ARGV[0];
open my $output, '>>', $path or die "$path: $!";
my $in_thread = 0; # whose outermost sub is called from C, in an eval

# Of the sub that calls it, at this line; innermost first.
sub chain_of {
    my $line = shift;
    my @places = [__FILE__, $line];
    my @names;
    for (my $i = 1; my @call = caller $i; $i++) {
        push @names, $call[7] ? '(require)' : $call[3]; # 7: is_require
        push @places, [@call[1, 2]];
    }
    push @names, '(main)';
    splice @names, -2 if $in_thread;
    return map {
        my ($file, $line) = @{$places[$_]};
        $file =~ s/^\((eval|re_eval) \d+\)$/($1)/;
        [$names[$_], $file, $line]
    } 0 .. $#names;
}

sub json_text {
    my $text = shift;
    $text =~ s/(["\\])/\\$1/g;
    utf8::encode($text) if utf8::is_utf8($text);
    return "\"$text\"";
}

# A line at once, so that children and threads may write, too. Clocks have been rounded.
sub tell_of {
    my ($phase, $begin, $end, $chain, $lines, @inner) = @_;
    my ($pid, $tid) = (readlink '/proc/thread-self') =~ m{^(\d+)/task/(\d+)};
    my @chain = map { '[' . json_text($_->[0]) . ', ' . json_text($_->[1]) . ", $_->[2]]" }
        reverse @$chain;
    my $told = sprintf '{"phase": %s, "pid": %d, "tid": %d, "begin": %.0f, "end": %.0f, ' .
        '"chain": [%s], "lines": [%d, %d], "inner": [%s]}' . "\n", json_text($phase), $pid, $tid,
        $begin * 1e9 + 1000, $end * 1e9 - 1000, join(', ', @chain), @$lines,
        join(', ', map { json_text($_) } @inner);
    syswrite $output, $told;
}

sub burn {
    my ($phase, $seconds) = @_;
    my $first = __LINE__ - 2;
    my @chain = chain_of(__LINE__);
    my $value = 0;
    my $begin = Time::HiRes::clock_gettime(MONOTONIC);
    my $enough = Time::HiRes::clock_gettime(CPU) + ($seconds // BURN);
    while (Time::HiRes::clock_gettime(CPU) < $enough) {
        for my $i (1 .. 2000) {
            $value = ($value * 31 + 7) % 1000003;
        }
    }
    my $end = Time::HiRes::clock_gettime(MONOTONIC);
    tell_of($phase, $begin, $end, \@chain, [$first, __LINE__]);
    return $value;
}

sub doze {
    my $phase = shift;
    my $first = __LINE__ - 2;
    my @chain = chain_of(__LINE__);
    my $begin = Time::HiRes::clock_gettime(MONOTONIC);
    for my $i (1 .. WAITS) {
        select undef, undef, undef, WAIT;
    }
    my $end = Time::HiRes::clock_gettime(MONOTONIC);
    tell_of($phase, $begin, $end, \@chain, [$first, __LINE__]);
}

# In C, of a module.
sub nap {
    my $phase = shift;
    my $first = __LINE__ - 2;
    my @chain = chain_of(__LINE__);
    my $begin = Time::HiRes::clock_gettime(MONOTONIC);
    for my $i (1 .. WAITS) {
        Time::HiRes::usleep(1e6 * WAIT);
    }
    my $end = Time::HiRes::clock_gettime(MONOTONIC);
    tell_of($phase, $begin, $end, \@chain, [$first, __LINE__]);
}

sub first_leaf {
    return second_leaf($_[0]) + 1;
}

sub second_leaf {
    my $value = shift;
    return $value * 3 % 1000003;
}

# Calls and returns all the time.
sub call {
    my $phase = shift;
    my $first = __LINE__ - 2;
    my @chain = chain_of(__LINE__);
    my $value = 0;
    my $begin = Time::HiRes::clock_gettime(MONOTONIC);
    my $enough = Time::HiRes::clock_gettime(CPU) + 2 * BURN;
    while (Time::HiRes::clock_gettime(CPU) < $enough) {
        $value = first_leaf($value) for 1 .. 1000;
    }
    my $end = Time::HiRes::clock_gettime(MONOTONIC);
    tell_of($phase, $begin, $end, \@chain, [$first, __LINE__], 'Chains::first_leaf',
        'Chains::second_leaf');
}

# ... from C, in a sort of which most is no call.
sub call_back {
    my $phase = shift;
    my $first = __LINE__ - 2;
    my @chain = chain_of(__LINE__);
    my @values = map { $_ * 7919 % 1009 } 1 .. 1000;
    my $begin = Time::HiRes::clock_gettime(MONOTONIC);
    my $enough = Time::HiRes::clock_gettime(CPU) + 2 * BURN;
    while (Time::HiRes::clock_gettime(CPU) < $enough) {
        my @sorted = sort { first_leaf($a) <=> first_leaf($b) } @values;
    }
    my $end = Time::HiRes::clock_gettime(MONOTONIC);
    tell_of($phase, $begin, $end, \@chain, [$first, __LINE__], 'Chains::first_leaf',
        'Chains::second_leaf');
}

# Subs that are made, called and freed.
sub make {
    my $phase = shift;
    my $first = __LINE__ - 2;
    my @chain = chain_of(__LINE__);
    my $value = 0;
    my $begin = Time::HiRes::clock_gettime(MONOTONIC);
    my $enough = Time::HiRes::clock_gettime(CPU) + 2 * BURN;
    while (Time::HiRes::clock_gettime(CPU) < $enough) {
        for my $i (1 .. 100) {
            my $made = sub { $value = ($value + $i) * 31 % 1000003 for 1 .. 20; return $i };
            $made->();
        }
    }
    my $end = Time::HiRes::clock_gettime(MONOTONIC);
    tell_of($phase, $begin, $end, \@chain, [$first, __LINE__], 'Chains::__ANON__');
}

# 40 subs, each with a name and a line of its own, in a file of their own.
sub nested {
    my $source = "package Nested;\n";
    for my $i (0 .. 39) {
        $source .= "sub nested_$i {\n" . "\n" x ($i % 7) .
            "    return nested_" . ($i + 1) . "(\@_);\n}\n";
    }
    $source .= "sub nested_40 {\n    return Chains::burn(\@_);\n}\n\nChains::burn('require');\n1;\n";
    open my $file, '>', "$path.nested.pl" or die $!;
    print $file $source;
    close $file;
    require "$path.nested.pl";
    Nested::nested_0('nested');
}

sub recurse {
    no warnings 'recursion';
    my ($phase, $depth) = @_;
    return recurse($phase, $depth - 1) if $depth % 2;
    return $depth ? recurse($phase, $depth - 1) : burn($phase);
}

sub by_burning {
    burn('sort by a sub') unless our $sorted++;
    return $a <=> $b;
}

sub callbacks {
    my $found = List::Util::first { burn('first') } 1;
    my $sum = List::Util::reduce { burn('reduce'); $a + $b } 1, 2;
    my @one = sort { burn('sort by a block'); $a <=> $b } 2, 1;
    my @two = sort by_burning 2, 1;
    my @three = sort { my @inner = sort { burn('sort in sort') } 4, 3; 0 } 2, 1;
    my @four = map { burn('map') } 1;
    (my $text = 'a') =~ s/a/burn('s___e')/e;
    $text = 'a' =~ /a(?{ burn('code in a regular expression') })/;
    return $found;
}

package Chains::Tied {
    sub TIESCALAR { return bless [] }
    sub FETCH {
        Chains::burn('FETCH');
        eval { Chains::burn('eval in FETCH'); 1 } or die $@;
        return 1 + eval { Chains::burn('second eval in FETCH') };
    }
    sub STORE { Chains::burn('STORE') }
}

package Chains::Number {
    use overload
        '+' => sub { Chains::burn('+') },
        '""' => sub { return 'n' . Chains::burn('string') };
    sub new { return bless {}, shift }
    sub DESTROY { Chains::burn('DESTROY') if $_[0]{burns} }
}

package Chains;

sub values_with_code {
    tie my $tied, 'Chains::Tied';
    my $value = $tied;
    $tied = 1;
    my $number = Chains::Number->new;
    $value = $number + 1;
    $value = "$number";
    $number->{burns} = 1;
    undef $number;
}

package Chains::Deep {
    sub TIESCALAR { return bless [$_[1]] }
    sub FETCH {
        my $phase = $_[0][0];
        undef $_[0][0];
        eval { Chains::burn($phase) if $phase; 1 } or die $@;
        return 1;
    }
}

package Chains;

# From C to Perl to C to Perl; and what C code calls that looks at a block's answer.
sub nested_callbacks {
    tie my $tied, 'Chains::Deep', 'nested callbacks';
    my @sorted = sort { my $found = List::Util::first { my $value = $tied; $value } 1; 0 } 2, 1;
    tie my $answer, 'Chains::Deep', 'answer of a block';
    my $found = List::Util::first { $answer } 1;
    return $found;
}

package Chains;

sub fail {
    die "thrown\n";
}

sub handled {
    eval {
        fail();
    } or burn('behind an eval');
    eval {
        burn('eval');
    };
    local $SIG{__DIE__} = sub { burn('__DIE__') };
    eval {
        fail();
    };
    local $SIG{__WARN__} = sub { burn('__WARN__') };
    my $none;
    my $text = 'a' . $none;
}

package Chains::Other {
    our $AUTOLOAD;
    sub AUTOLOAD {
        return if $AUTOLOAD =~ /DESTROY/;
        Chains::burn('AUTOLOAD');
        goto &target;
    }
    sub target { Chains::burn('goto') }
    sub new { return bless {}, shift }
    sub method { Chains::burn('method') }
}

my sub hidden {
    burn('my sub');
}

sub größe {
    burn('unicode');
}

sub kinds {
    Chains::Other->new->method;
    Chains::Other->new->absent;
    hidden();
    größe();
    my $closure = sub { burn('closure') };
    $closure->();
    no strict 'refs';
    *{'Elsewhere::alias'} = \&größe;
    Elsewhere::alias();
    eval "sub compiled {\n    return burn('sub of a text');\n}\n1" or die $@;
    compiled();
    for my $once (1) {
        burn('first statement of a block');
    }
}

sub waiting {
    doze('select');
    nap('usleep');
    my @sorted = sort { doze('select in sort'); 0 } 2, 1;
}

sub calling {
    call('calls');
    call_back('calls from C');
    make('subs that are freed');
}

sub signalled {
    local $SIG{USR1} = sub { burn('signal') };
    kill USR1 => $$;
    my $later = 1;
}

# In a child that stays until this process has read a line.
my $stay;

sub forked {
    socketpair $stay, my $there, Socket::AF_UNIX(), Socket::SOCK_STREAM(), 0 or die $!;
    if (!fork) {
        close $stay;
        burn('fork');
        recurse('fork', 10);
        syswrite $there, 'x';
        sysread $there, my $byte, 1;
        kill KILL => $$;
    }
    close $there;
    sysread $stay, my $byte, 1;
}

sub in_thread {
    my $number = shift;
    $in_thread = 1;
    recurse("thread $number", 4);
    doze('waiting thread');
}

sub threads_run {
    my @threads = map { threads->create(\&in_thread, $_) } 1 .. 2;
    burn('beside threads');
    $_->join for @threads;
}

# A text is freed when it has been executed, with the lines that it has: so it is not left before
# this process has read a line.
sub stay {
    open my $done, '>', "$path.done" or die $!;
    close $done;
    readline STDIN;
}

$| = 1;
print "ready $$\n";
readline STDIN;
nested();
recurse('recursion', 100);
recurse('deep recursion', 400);
callbacks();
values_with_code();
nested_callbacks();
handled();
kinds();
waiting();
calling();
signalled();
forked();
threads_run() if $Config{useithreads};
eval "\n\nburn('eval of a text'); stay(); 1" or die $@;
