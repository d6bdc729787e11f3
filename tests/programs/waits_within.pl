# SPDX-License-Identifier: GPL-3.0-or-later
# Waits for a line within functions; on SIGUSR1 it writes where, as caller() knows it, to the
# file that is named.
use strict;
use warnings;

sub inner {
    return scalar <STDIN>;
}

package Shop;

sub handle {
    my ($depth) = @_;
    if ($depth) {
        handle($depth - 1);
    } else {
        eval { main::inner() };
    }
}

package main;

$SIG{USR1} = sub {
    open my $file, '>', $ARGV[0] or die;
    for (my $level = 0; my (undef, $path, $line, $function) = caller($level); $level++) {
        print $file "$function called at $path line $line\n";
    }
    print $file "end\n";
    close $file;
};
$| = 1;
print "ready\n";
Shop::handle(3);
