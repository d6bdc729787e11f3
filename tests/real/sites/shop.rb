# SPDX-License-Identifier: GPL-3.0-or-later
# Answers a price; where /slow is asked for it reads the catalogue anew before. Its port is the
# argument.
require 'webrick'

class Catalogue
  def price(item)
    sum = 0.0
    4000.times { |i| sum += Math.sqrt(item * i) * 0.01 }
    sum
  end

  def refresh
    lines = (0...60_000).map { |i| (i * 7919 % 60_013).to_s }
    lines.sort_by(&:reverse).size
  end
end

class Shop
  def initialize
    @catalogue = Catalogue.new
  end

  def handle(asked)
    lines = asked == '/slow' ? @catalogue.refresh : 0
    format("%.2f %d\n", @catalogue.price(7), lines)
  end
end

shop = Shop.new
server = WEBrick::HTTPServer.new(Port: Integer(ARGV[0]), BindAddress: '127.0.0.1', AccessLog: [],
                                 Logger: WEBrick::Log.new(File::NULL))
server.mount_proc('/') { |request, response| response.body = shop.handle(request.path) }
trap('TERM') { server.shutdown }
server.start
