# SPDX-License-Identifier: GPL-3.0-or-later
#
# A program that knows its own chain of calls.
#
#     ruby ruby_chains.rb FILE
#
# Each stretch of time in which the chain of Ruby's methods stays as it is becomes a line of JSON in
# FILE: phase, pid, tid, begin and end (CLOCK_MONOTONIC, ns), the chain as caller_locations has it,
# outermost first ([name, file, line]; C functions have neither file nor line), the lines that the
# innermost method has, and, where that one goes on to call, `inner`: the names that may stand further
# in. Names have the classes that reflection says. It waits for a line on standard input before it
# begins, creates FILE.done at the end, and waits for another line before it exits. It is written for
# 3.0 and later; no two methods of it have the same name. (Longer than files are: what is measured
# cannot be shared, since a helper would be a frame.)

require 'json'
require 'socket'

module Chains
  BURN_US = 40_000 # of CPU time
  WAIT_S = 0.002
  WAITS = 40

  def self.now
    Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)
  end

  def self.qualify(method)
    owner = method.owner
    return "#{owner}##{method.name}" unless owner.singleton_class?
    method.receiver.is_a?(Module) ? "#{method.receiver}.#{method.name}" : method.name.to_s
  end

  # What frames of these names are of: this program's methods, and what it calls of Ruby's own.
  def self.names_of(modules, methods)
    names = {}
    modules.each do |one|
      (one.instance_methods(false) + one.private_instance_methods(false)).each do |name|
        names[name.to_s] = "#{one}##{name}"
      end
      one.singleton_methods(false).each { |name| names[name.to_s] = "#{one}.#{name}" }
    end
    methods.each { |method| names[method.name.to_s] = qualify(method) }
    names
  end

  # Since 3.4 labels have classes.
  def self.name_of(location)
    label, base = location.label, location.base_label
    return label if label.include?('#') || label.include?('.') || !$names.key?(base)
    label[0, label.size - base.size] + $names[base]
  end

  # C functions are where their callers are; what Enumerator#next begins a fiber with has none.
  def self.chain_of(locations)
    first_ones = %w[Enumerator::Generator#each Enumerator#each]
    locations.map do |location|
      next [first_ones.shift, '', 0] unless location.path
      name = name_of(location)
      if !location.path.start_with?('<internal:') && $c_functions.include?(name)
        [name, '', 0]
      else
        [name, location.absolute_path || location.path, location.lineno]
      end
    end.reverse
  end

  def self.tell(phase, begun, ended, chain, method, inner = [])
    lines = RubyVM::InstructionSequence.of(method).to_a[4][:code_location]
    tid = File.readlink('/proc/thread-self').split('/').last.to_i
    told = JSON.generate('phase' => phase, 'pid' => Process.pid, 'tid' => tid, 'begin' => begun,
                         'end' => ended, 'chain' => chain, 'lines' => [lines[0], lines[2]],
                         'inner' => inner)
    $output.write(told + "\n")
  end

  # The stretch lies between the two readings of the clock; in it only clocks are read.
  def self.burn(phase, us = BURN_US)
    chain = chain_of(caller_locations(0))
    value = 0
    begun = Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)
    enough = Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID, :microsecond) + us
    while Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID, :microsecond) < enough
      i = 0
      while i < 5000
        value = (value * 31 + 7) % 1_000_003
        i += 1
      end
    end
    ended = Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)
    tell(phase, begun, ended, chain, method(:burn))
    value
  end

  def self.doze(phase)
    chain = chain_of(caller_locations(0))
    i = 0
    begun = Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)
    while i < WAITS
      sleep(WAIT_S)
      i += 1
    end
    ended = Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)
    tell(phase, begun, ended, chain, method(:doze), ['Kernel#sleep'])
  end

  def self.await(phase)
    chain = chain_of(caller_locations(0))
    here, there = UNIXSocket.pair
    i = 0
    begun = Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)
    while i < WAITS
      IO.select([here], nil, nil, WAIT_S)
      i += 1
    end
    ended = Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)
    there.close
    tell(phase, begun, ended, chain, method(:await), ['IO.select'])
  end

  def self.first_leaf(value)
    second_leaf(value) + 1
  end

  def self.second_leaf(value)
    value * 3 % 1_000_003
  end

  # Calls and returns all the time.
  def self.call_on(phase)
    chain = chain_of(caller_locations(0))
    value = 0
    begun = Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)
    enough = Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID, :microsecond) + 2 * BURN_US
    while Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID, :microsecond) < enough
      i = 0
      while i < 1000
        value = first_leaf(value)
        i += 1
      end
    end
    ended = Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)
    tell(phase, begun, ended, chain, method(:call_on),
         ['Chains.first_leaf', 'Chains.second_leaf'])
    value
  end

  # ... from C: a C function yields to a block.
  def self.call_back(phase)
    chain = chain_of(caller_locations(0))
    values = (1..1000).to_a
    begun = Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)
    enough = Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID, :microsecond) + 2 * BURN_US
    while Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID, :microsecond) < enough
      values.collect! { |value| first_leaf(value) }
    end
    ended = Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)
    tell(phase, begun, ended, chain, method(:call_back),
         ['Array#collect!', 'block in Chains.call_back', 'Chains.first_leaf',
          'Chains.second_leaf'])
    values
  end

  # ... as often as can be: most of the time it is about to yield, or comes back.
  def self.yield_back(phase)
    chain = chain_of(caller_locations(0))
    values = (1..1000).to_a
    begun = Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)
    enough = Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID, :microsecond) + 5 * BURN_US
    while Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID, :microsecond) < enough
      values.each { |value| value }
    end
    ended = Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)
    tell(phase, begun, ended, chain, method(:yield_back),
         ['Array#each', 'block in Chains.yield_back'])
  end

  # 40 methods, each with a name and a line of its own, in a file of their own.
  def self.nested
    source = +''
    40.times do |i|
      source << "def Chains.nested_#{i}(phase)\n#{"\n" * (i % 7)}" \
                "  Chains.nested_#{i + 1}(phase)\nend\n"
    end
    source << "def Chains.nested_40(phase)\n  Chains.burn(phase)\nend\n\nChains.burn('file')\n"
    path = "#{File.realpath(File.dirname(ARGV[0]))}/#{File.basename(ARGV[0])}.nested.rb"
    File.write(path, source)
    (0..40).each { |i| $names["nested_#{i}"] = "Chains.nested_#{i}" }
    load(path)
    nested_0('nested')
  end

  def self.recurse(phase, depth)
    if depth.odd?
      recurse(phase, depth - 1)
    else
      depth > 0 ? recurse(phase, depth - 1) : burn(phase)
    end
  end

  def self.recurse_by_block(phase, depth)
    return burn(phase) if depth == 0
    [depth].each { |one| recurse_by_block(phase, one - 1) }
  end

  def self.recursion
    recurse('recursion', 200)
    recurse_by_block('recursion by blocks', 20)
    recurse('deep recursion', 900)
  end

  def self.callbacks
    [1].each { burn('each') }
    1.times { burn('times') }
    [2, 1].sort_by { |one| burn('sort_by', BURN_US / 2); one }
    [2, 1].sort { |one, other| burn('sort'); one <=> other }
    { 1 => 2 }.each_pair { |_, _| burn('each_pair') }
    'a'.gsub(/a/) { burn('gsub'); 'b' }
    [1].inject(0) { |sum, one| burn('inject'); sum + one }
    catch(:done) { burn('catch'); throw :done }
    [1].map { |one| [one].select { |_| [1].any? { burn('nested callbacks'); true } } }
    1.tap { burn('tap') }
  end

  def self.yielding
    yield
  end

  def self.blocks
    yielding { burn('yield') }
    kept = proc { burn('proc') }
    kept.call
    -> { yielding { burn('block in lambda') } }.call
    method(:by_method_object).call('method object')
    public_send(:by_method_object, 'send')
    %w[symbol].each(&method(:by_method_object))
    instance_exec { burn('instance_exec') }
  end

  def self.by_method_object(phase)
    burn(phase)
  end

  def self.handled
    begin
      raise 'raised'
    rescue StandardError
      burn('rescue')
    end
    begin
      begin
        raise 'raised again'
      ensure
        burn('ensure')
      end
    rescue StandardError
      yielding { burn('rescued block') }
    end
  end

  module Countable
    def counted(phase)
      Chains.burn(phase)
    end
  end

  class Service
    include Countable

    def handle_one(phase)
      'a' =~ /a/ # leaves something for $~
      Chains.burn(phase)
    end

    def self.of_class(phase)
      new.handle_one(phase)
    end

    class << self
      def of_singleton_class(phase)
        Chains.burn(phase)
      end
    end

    define_method(:defined_one) { |phase| Chains.burn(phase) }

    def method_missing(_name, phase)
      Chains.burn(phase)
    end

    def respond_to_missing?(*)
      true
    end

    def +(other)
      Chains.burn('operator')
      other
    end
  end

  class Further < Service
  end

  def self.methods_of_all_kinds
    service = Service.new
    Service.of_class('method')
    Further.new.handle_one('inherited')
    Service.of_singleton_class('singleton class')
    service.counted('included')
    service.defined_one('define_method')
    service.absent_one('method_missing')
    service + 1
    def service.of_one_object(phase)
      Chains.burn(phase)
    end
    service.of_one_object('singleton')
    Class.new { def nameless(phase) = Chains.burn(phase) }.new.nameless('anonymous class')
    top_level('top level')
    größe('unicode')
  end

  def self.größe(phase)
    burn(phase)
  end

  def self.executed
    eval("\n\nChains.burn('eval')\n")
    Chains.class_eval("def self.evaluated(phase)\n  burn(phase)\nend\n", 'made/up.rb', 77)
    $names['evaluated'] = 'Chains.evaluated'
    evaluated('class_eval')
    Object.class_eval <<~BODY, __FILE__, __LINE__ + 1
      module Chains::Built
        Chains.burn('module body')
      end
    BODY
  end

  def self.fibers
    fiber = Fiber.new do
      burn('fiber')
      Fiber.yield
      doze('resumed fiber')
    end
    fiber.resume
    recurse_with_fiber(fiber)
    # Of these the first frame is a C function's.
    Enumerator.new { |results| results << burn('Enumerator#next') }.next
  end

  def self.recurse_with_fiber(fiber)
    fiber.resume
  end

  # Two of them run in turns; the main thread waits.
  def self.threads
    two = %w[first second].map do |name|
      Thread.new { burn("#{name} thread", 4 * BURN_US) }
    end
    wait_for(two)
    Thread.new { doze('thread that waits') }.join
    # Of a thread that has ended Ruby keeps the kernel's for a while.
    Thread.new { recurse('thread again', 10) }.join
  end

  def self.wait_for(threads)
    chain = chain_of(caller_locations(0))
    begun = Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)
    threads[0].join
    threads[1].join
    ended = Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)
    tell('join', begun, ended, chain, method(:wait_for), ['Thread#join'])
  end

  def self.waiting
    doze('sleep')
    [1].each { await('IO.select') }
  end

  def self.calling
    call_on('calls')
    call_back('calls from C')
    yield_back('blocks from C')
  end

  def self.signalled
    trap('USR1') { burn('signal') }
    Process.kill('USR1', Process.pid)
    burn('after the signal')
    trap('USR1', 'DEFAULT')
  end

  # In a child that stays until this process has read a line.
  def self.forked
    here, there = UNIXSocket.pair
    fork do
      here.close
      burn('fork')
      recurse('fork', 10)
      there.write("x\n")
      there.gets
      Process.kill('KILL', Process.pid)
    end
    there.close
    here.gets
    $stay = here
  end
end

def top_level(phase)
  Chains.burn(phase)
end

c_functions = [
  [].method(:each), [].method(:sort_by), [].method(:sort), {}.method(:each_pair), ''.method(:gsub),
  [].method(:inject), [].method(:map), [].method(:select), [].method(:any?), 1.method(:times),
  [].method(:collect!), Kernel.instance_method(:catch), Kernel.instance_method(:load),
  Kernel.instance_method(:eval), Kernel.instance_method(:fork), Module.instance_method(:class_eval),
  BasicObject.instance_method(:instance_exec), Method.instance_method(:call),
  Kernel.instance_method(:public_send), Process.method(:kill)
]
more = [1.method(:tap), method(:top_level)]
$names = Chains.names_of([Chains, Chains::Countable, Chains::Service], c_functions + more)
$names['of_one_object'] = 'of_one_object'
$c_functions = c_functions.map { |method| Chains.qualify(method) }
$output = File.open(ARGV[0], 'w')
$output.sync = true
puts "ready #{Process.pid}"
$stdout.flush
$stdin.gets
Chains.nested
Chains.recursion
Chains.callbacks
Chains.blocks
Chains.handled
Chains.methods_of_all_kinds
Chains.executed
Chains.fibers
Chains.threads
Chains.waiting
Chains.calling
Chains.signalled
Chains.forked
$output.close
File.write("#{ARGV[0]}.done", '')
$stdin.gets
