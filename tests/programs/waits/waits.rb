# SPDX-License-Identifier: GPL-3.0-or-later
# See Waits.java.
def leaf
  $stdin.sysread(1) # leaf
rescue EOFError
  nil
end

def middle
  letter = leaf # middle
  !letter.nil?
end

def outer
  more = true
  while more
    more = middle # outer
  end
end

$stdout.puts "ready"
$stdout.flush
outer
