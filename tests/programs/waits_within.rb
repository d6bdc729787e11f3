# SPDX-License-Identifier: GPL-3.0-or-later
# Waits for a line within functions; when the file that is named is asked for (FILE.wanted), another
# thread writes where.
def inner
  $stdin.gets
end

class Shop
  def handle(depth)
    if depth > 0
      handle(depth - 1)
    else
      [1].each { inner }
    end
  end
end

Thread.new do
  sleep 0.02 until File.exist?("#{ARGV[0]}.wanted")
  File.write("#{ARGV[0]}.new", Thread.main.backtrace.join("\n"))
  File.rename("#{ARGV[0]}.new", ARGV[0])
end
puts 'ready'
$stdout.flush
Shop.new.handle(3)
