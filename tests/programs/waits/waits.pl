# SPDX-License-Identifier: GPL-3.0-or-later
# See Waits.java.
use strict;
use warnings;

sub leaf {
    my $line = <STDIN>;    # leaf
    return $line;
}

sub middle {
    my $line = leaf();     # middle
    return defined $line;
}

sub outer {
    my $more = 1;
    while ($more) {
        $more = middle();  # outer
    }
}

$| = 1;
print "ready\n";
outer();
