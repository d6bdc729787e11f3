// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/open_call_list.h"

#include "bpf/go_runtime.h"
#include "loader/arch/arch.h"
#include "loader/base/fd.h"
#include "loader/kernel/clock.h"
#include "loader/kernel/goroutine_text.h"
#include "loader/kernel/wait_text.h"
#include "loader/process/proc_info.h"
#include "loader/process/process_memory.h"
#include "loader/stream/wire_decoder.h"

#include ARCH(dwarf_register.h)

#include <bpf/bpf.h>
#include <linux/bpf.h>
#include <unistd.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <functional>
#include <iterator>
#include <ranges>
#include <set>

namespace auger {

namespace {

// Of the oldest so many spans it is told what their tasks await, and of the goroutines with the
// oldest calls the stacks are read, both as far as there is time for.
constexpr size_t most_described_tasks = 200;
constexpr size_t most_goroutine_stacks = 1000;
constexpr uint64_t most_describing_ns = 5'000'000'000;

// What a program that visits everything writes.
Result<void> read_visits(int program, const bpf_link_create_opts* options,
                         std::vector<char>& bytes) {
    UniqueFd link(bpf_link_create(program, 0, BPF_TRACE_ITER, options));
    if (!link)
        return system_error("list threads", "", "", errno);
    UniqueFd iterator(bpf_iter_create(link.get()));
    if (!iterator)
        return system_error("list threads", "", "", errno);
    // Reads end between threads, not necessarily between records: they are put together here.
    std::array<char, 16384> part;
    for (;;) {
        ssize_t size = ::read(iterator.get(), part.data(), part.size());
        if (size < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (size < 0)
            return system_error("list threads", "", "", errno);
        if (size == 0)
            return {};
        bytes.insert(bytes.end(), part.data(), part.data() + size);
    }
}

bool is_goroutine(const wire_open_call& record) {
    return record.tid == 0;
}

// Records of one thread or goroutine.
bool have_one_caller(const wire_open_call& a, const wire_open_call& b) {
    return a.pid == b.pid && a.tid == b.tid && (!is_goroutine(a) || a.argument == b.argument);
}

// The order in which callers are looked at: threads, since their registers are known as of a
// moment, those of a process together; then the goroutines with the oldest calls, since there may
// be more than are looked at.
std::pair<uint64_t, uint32_t> turn_of(std::span<const wire_open_call> records) {
    const wire_open_call& first = records.front();
    const auto start = [](const wire_open_call& record) { return record.call.start_ns; };
    if (!is_goroutine(first))
        return {0, first.pid};
    return {std::ranges::min(records, {}, start).call.start_ns, 0};
}

} // namespace

struct OpenCallList::Reading {
    Mappings mappings;
    // Of one process at a time.
    std::optional<PagedMemory> memory;
    pid_t memory_of = 0;
    ReadingBudget threads{SIZE_MAX, most_describing_ns};
    ReadingBudget goroutines{most_goroutine_stacks, most_describing_ns};
};

Result<void> OpenCallList::visit_goroutines(std::vector<char>& bytes) const {
    if (!programs_.can_load(ProgramKind::goroutine_call_list)) // leaves_out_goroutines()
        return {};
    const auto program = programs_.program(ProgramKind::goroutine_call_list);
    if (!program)
        return program.error();
    bpf_iter_link_info visited = {};
    visited.map.map_fd = static_cast<uint32_t>(programs_.map_fd(MapKind::goroutine_calls));
    LIBBPF_OPTS(bpf_link_create_opts, options, .iter_info = &visited,
                .iter_info_len = sizeof visited);
    return read_visits(*program, &options, bytes);
}

Result<void> OpenCallList::visit_by(ProgramKind kind, std::vector<char>& bytes) const {
    if (!programs_.can_load(kind))
        return Error{"list threads", "", "BPF iterators over threads may not be used here",
                     "`doctor` says what this kernel lacks; `probes` counts open calls",
                     Error::Kind::unsupported};
    const auto program = programs_.program(kind);
    if (!program)
        return program.error();
    return read_visits(*program, nullptr, bytes);
}

namespace {

std::vector<wire_open_call> records_of(const std::vector<char>& bytes) {
    std::vector<wire_open_call> records(bytes.size() / sizeof(wire_open_call));
    std::copy_n(bytes.data(), records.size() * sizeof(wire_open_call),
                reinterpret_cast<char*>(records.data()));
    return records;
}

} // namespace

Result<std::vector<wire_open_call>> OpenCallList::visit_calls() const {
    std::vector<char> bytes;
    if (auto read = visit_by(ProgramKind::open_call_list, bytes); !read)
        return read.error();
    if (auto read = visit_goroutines(bytes); !read)
        return read.error();
    return records_of(bytes);
}

Result<std::vector<wire_open_call>> OpenCallList::visit_threads() const {
    std::vector<char> bytes;
    if (auto read = visit_by(ProgramKind::thread_list, bytes); !read)
        return read.error();
    return records_of(bytes);
}

bool OpenCallList::leaves_out_goroutines() const {
    std::array<uint64_t, 2> first; // as large as struct goroutine_key
    return !programs_.can_load(ProgramKind::goroutine_call_list) &&
           bpf_map_get_next_key(programs_.map_fd(MapKind::goroutine_calls), nullptr, &first) == 0;
}

FindRule OpenCallList::rules_of(const wire_open_call& record, Mappings& mappings) {
    const auto pid = static_cast<pid_t>(record.pid);
    auto [process, is_new] = mappings.try_emplace(record.pid);
    if (is_new) {
        names_.know_process(pid, record.now_ns);
        process->second = unwind_.mappings(pid, record.now_ns, clock_ns());
    }
    return [this, &list = process->second](uint64_t code) { return unwind_.find_rule(list, code); };
}

namespace {

constexpr int most_goroutine_attempts = 3;
constexpr uint64_t most_goroutine_stack = 512 << 10; // bytes that are read

// A stack takes some milliseconds. Processes that take so much longer, or let us wait for their
// memory, are left alone for a minute.
constexpr uint64_t most_walking_ns = 500'000'000, spared_ns = 60 * second_ns;

std::pair<pid_t, uint64_t> process_id_of(const wire_open_call& record) {
    const auto pid = static_cast<pid_t>(record.pid);
    const auto stat = read_stat(pid);
    return {pid, stat ? stat->start_ticks : 0};
}

// As far as read_parked_goroutine() reads it.
size_t bytes_of_goroutine(const wire_go_runtime& runtime) {
    return std::max<size_t>(runtime.g_m, runtime.g_saved_sp + sizeof(uint64_t)) + sizeof(uint64_t);
}

} // namespace

bool OpenCallList::is_spared(const ProcessId& process) const {
    const auto late = late_.find(process);
    return late != late_.end() && clock_ns() < late->second;
}

void OpenCallList::spare(const ProcessId& process) {
    std::erase_if(late_, [now = clock_ns()](const auto& late) { return late.second < now; });
    late_[process] = clock_ns() + spared_ns;
}

std::vector<uint64_t> OpenCallList::read_stack_of(std::span<const wire_open_call> records,
                                                  Reading& reading) {
    const wire_open_call& record = records.front();
    const auto pid = static_cast<pid_t>(record.pid);
    std::vector<walked_return> replaced;
    for (const wire_open_call& call : records | std::views::reverse) { // the innermost first
        if (call.return_address)
            replaced.push_back({call.return_slot, call.return_address});
    }
    const ProcessId process = process_id_of(record);
    if (is_spared(process))
        return {record.registers[register_code], WIRE_STACK_CUT | WIRE_STOP_UNREADABLE};
    if (reading.memory_of != pid) {
        reading.memory.emplace(pid);
        reading.memory_of = pid;
    }
    reading.memory->allow(most_walking_ns);
    auto stack = unwind_.walk({record.pid, record.tid, record.registers, record.compat != 0,
                               record.thread_pointer, replaced.data(), replaced.size()},
                              *reading.memory);
    if (reading.memory->late())
        spare(process);
    return stack;
}

// It goes on meanwhile. So its stack is read together with what says that it is parked there, once
// before and once after it.
std::vector<uint64_t> OpenCallList::read_goroutine_stack(const wire_open_call& record,
                                                         Mappings& mappings,
                                                         ParkedGoroutine::State& state) {
    using State = ParkedGoroutine::State;
    state = State::unreadable;
    wire_go_runtime runtime;
    if (bpf_map_lookup_elem(programs_.map_fd(MapKind::go_processes), &record.pid, &runtime) != 0)
        return {};
    const FindRule find = rules_of(record, mappings);
    const ProcessId process = process_id_of(record);
    const auto pid = static_cast<pid_t>(record.pid);
    const uint64_t g = record.argument;
    std::vector<std::byte> before(bytes_of_goroutine(runtime)), after(before.size());
    for (int left = most_goroutine_attempts; left > 0 && !is_spared(process); left--) {
        ProcessMemory memory(pid);
        const ParkedGoroutine parked = read_parked_goroutine(memory, runtime, g);
        if (memory.late())
            spare(process);
        state = parked.state;
        if (state != State::parked)
            return {};
        std::vector<std::byte> stack(std::min(parked.high - parked.sp, most_goroutine_stack));
        const MemoryRange ranges[] = {{g, before}, {parked.sp, stack}, {g, after}};
        const MemoryRead read = read_process_memory(living_thread(pid), ranges);
        StackPiece first(g, before), last(g, after);
        if (read == MemoryRead::whole && read_parked_goroutine(first, runtime, g) == parked &&
            read_parked_goroutine(last, runtime, g) == parked)
            return read_stack({parked.ip, parked.sp, 0, 0, WIRE_RBX_LOST, true},
                              StackPiece(parked.sp, stack), find, size_t{WIRE_MAX_USER_FRAMES});
        if (read == MemoryRead::late)
            spare(process);
        // Of one that is parked again and again there is no stack of one moment.
        state = read == MemoryRead::whole ? State::on_thread : State::unreadable;
    }
    return {};
}

OpenCall OpenCallList::describe_goroutine(const wire_open_call& record, Reading& reading) {
    OpenCall goroutine;
    goroutine.thread = {record.pid, record.tid, "goroutine"};
    goroutine.no_thread = true;
    ParkedGoroutine::State state;
    std::vector<uint64_t> frames;
    std::string text;
    switch (reading.goroutines.take(clock_ns())) {
    case ReadingBudget::Left::some:
        frames = read_goroutine_stack(record, reading.mappings, state);
        text = goroutine_text(record, state);
        break;
    case ReadingBudget::Left::no_number:
        text = goroutine_text(record, fmt::format("its stack is not read: those of {} others were",
                                                  most_goroutine_stacks));
        break;
    case ReadingBudget::Left::no_time:
        text = goroutine_text(record, fmt::format("its stack is not read: others' took {} s",
                                                  most_describing_ns / second_ns));
        break;
    }
    goroutine.wait = fmt::format("goroutine {:#x}: {}", record.argument, text);
    if (!frames.empty())
        goroutine.stack = names_.present_stack(static_cast<pid_t>(record.pid), record.now_ns,
                                               wait_of_goroutine(record), frames);
    return goroutine;
}

OpenCall OpenCallList::describe_thread(std::span<const wire_open_call> records, Reading& reading) {
    const wire_open_call& record = records.front();
    if (is_goroutine(record))
        return describe_goroutine(record, reading);
    auto pid = static_cast<pid_t>(record.pid);
    OpenCall thread;
    thread.thread = {record.pid, record.tid, std::string(wire_comm(record.comm))};
    thread.running = record.running;
    if (thread.running)
        return thread;
    // What its descriptor stands for takes time, too.
    const bool has_time = reading.threads.take(clock_ns()) == ReadingBudget::Left::some;
    thread.wait = wait_text(has_time ? &descriptors_ : nullptr, pid, record.now_ns, record.syscall,
                            record.argument);
    if (!has_time) {
        thread.add_remark(fmt::format("its stack is not read: others' took {} s",
                                      most_describing_ns / second_ns));
        return thread;
    }
    std::optional<uint64_t> syscall;
    if (record.syscall >= 0)
        syscall = static_cast<uint64_t>(record.syscall);
    thread.stack =
        names_.present_stack(pid, record.now_ns, syscall, read_stack_of(records, reading));
    const auto switches = switches_of(static_cast<pid_t>(record.tid));
    if (switches && *switches != record.switches)
        thread.add_remark("it went on while its stack was read");
    return thread;
}

std::optional<OpenCall> OpenCallList::name_call(const wire_open_call& record) const {
    auto spec = functions_.find_spec(record.call.spec, record.call.generation);
    auto probe = spec ? functions_.probe_of(*spec) : std::nullopt;
    if (!probe)
        return {};
    OpenCall call;
    call.probe = *probe;
    call.spec = *spec;
    call.age_ns = record.now_ns > record.call.start_ns ? record.now_ns - record.call.start_ns : 0;
    call.depth = record.depth;
    return call;
}

namespace {

// "the task Task-17 of app.handle is suspended"
std::string await_text(const AwaitChain& chain, const std::string& function) {
    using End = CoroutineWalk::End;
    const PythonTask& task = chain.tasks.front().task;
    std::string text = task.name.empty() ? "its task" : fmt::format("the task {}", task.name);
    if (!function.empty())
        text += " of " + function;
    // What stops further inwards stops all around it.
    const bool is_first = chain.tasks.size() == 1;
    switch (chain.end) {
    case End::future:
        if (!chain.is_ready)
            return text + " is suspended";
        return text + (is_first ? " waits for its turn" : " awaits one that waits for its turn");
    case End::object:
        return text + fmt::format(" is suspended, for {}", chain.awaited);
    case End::nothing:
        return text + (is_first ? " gave way to others, and waits for nothing"
                                : " awaits one that waits for nothing");
    case End::runs:
        return text + (is_first ? " runs" : " awaits one that runs");
    case End::begins:
        return text + (is_first ? " has not begun" : " awaits one that has not begun");
    case End::over:
        return text + (is_first ? " has ended" : " is suspended");
    case End::too_deep:
        return text + " is suspended, deeper than is followed";
    case End::unreadable:
        return text + " cannot be read";
    }
    return text;
}

} // namespace

void OpenCallList::describe_task(uint64_t key, OpenCall& span) {
    const auto pid = static_cast<pid_t>(span.thread.pid);
    const auto chain = names_.tasks().awaits(pid, key);
    if (const auto* const problem = std::get_if<FunctionProblem>(&chain)) {
        if (*problem == FunctionProblem::gone)
            span.wait += "; its task went on while it was looked at";
        return;
    }
    const auto& whole = std::get<AwaitChain>(chain);
    span.wait += "; " + await_text(whole, names_.function_of(pid, whole.tasks.front()));
    span.stack = names_.await_stack(pid, clock_ns(), whole);
}

std::vector<OpenCall> OpenCallList::describe_spans(std::optional<ProbeId> probe) {
    std::vector<OpenCall> spans;
    std::vector<std::pair<uint64_t, size_t>> keys; // of `spans` by number, exchanges have none
    const uint64_t now = clock_ns();
    std::map<uint32_t, std::string> comms; // by tid: few threads, and perhaps many spans
    programs_.visit_spans([&](const wire_span& span) {
        const auto spec = functions_.find_spec(span.key.spec, span.key.generation);
        const auto owner = spec ? functions_.probe_of(*spec) : std::nullopt;
        if (!owner || (probe && *owner != *probe))
            return;
        OpenCall open;
        open.probe = *owner;
        open.spec = *spec;
        open.age_ns = now > span.start_ns ? now - span.start_ns : 0;
        const auto [comm, is_new] = comms.try_emplace(span.tid);
        if (is_new)
            if (auto known = comm_of(static_cast<pid_t>(span.tid)))
                comm->second = std::move(*known);
        open.thread = {span.tgid, span.tid, comm->second};
        open.no_thread = true;
        const bool exchange = span.flags & WIRE_SPAN_IS_EXCHANGE;
        const std::string key = exchange ? fmt::format("connection {}: ", span.key.key)
                                         : fmt::format("key {:#x}: ", span.key.key);
        if (span.flags & WIRE_SPAN_IS_ANSWERED)
            open.wait = key + "something has been sent, perhaps all";
        else if (span.flags & WIRE_SPAN_IS_QUEUED)
            open.wait = key + "queued, no thread has worked for it yet";
        else if (span.attached_since_ns)
            open.wait = key + "the thread works for it";
        else
            open.wait = key + "parked; the thread was the last to work for it";
        if (!exchange)
            keys.emplace_back(span.key.key, spans.size());
        spans.push_back(std::move(open));
    });
    const auto age = [&](const auto& key) { return spans[key.second].age_ns; };
    std::ranges::sort(keys, std::greater(), age);
    if (keys.size() > most_described_tasks)
        keys.resize(most_described_tasks);
    // Each may take its time, and nobody is to wait for all of it.
    const uint64_t until = now + most_describing_ns;
    for (const auto& [key, number] : keys) {
        if (clock_ns() > until)
            break;
        describe_task(key, spans[number]);
    }
    return spans;
}

OpenCallList::Callers OpenCallList::callers_of(std::span<const wire_open_call> records) {
    // Records of one thread stand together, and it has one stack.
    Callers callers;
    for (size_t begin = 0, end = 0; begin < records.size(); begin = end) {
        while (end < records.size() && have_one_caller(records[begin], records[end]))
            end++;
        callers.push_back(records.subspan(begin, end - begin));
    }
    std::ranges::stable_sort(callers, {}, turn_of);
    std::set<uint32_t> known;
    for (const wire_open_call& record : records)
        if (known.insert(record.pid).second)
            names_.know_process(static_cast<pid_t>(record.pid), record.now_ns);
    unwind_.update(clock_ns());
    return callers;
}

std::vector<ThreadNow> OpenCallList::describe_threads(std::span<const wire_open_call> records) {
    std::vector<ThreadNow> threads;
    Reading reading;
    for (const auto of_thread : callers_of(records))
        threads.push_back(describe_thread(of_thread, reading));
    return threads;
}

std::vector<OpenCall> OpenCallList::describe(std::span<const wire_open_call> records,
                                             std::optional<ProbeId> probe) {
    std::vector<OpenCall> calls;
    Reading reading;
    for (const auto of_thread : callers_of(records)) {
        std::optional<OpenCall> thread;
        for (const wire_open_call& record : of_thread) {
            auto call = name_call(record);
            if (!call || (probe && call->probe != *probe))
                continue;
            if (!thread)
                thread = describe_thread(of_thread, reading);
            call->thread = thread->thread;
            call->running = thread->running;
            call->no_thread = thread->no_thread;
            call->wait = thread->wait;
            call->stack = thread->stack;
            calls.push_back(std::move(*call));
        }
    }
    std::ranges::move(describe_spans(probe), std::back_inserter(calls));
    std::stable_sort(calls.begin(), calls.end(), [](const OpenCall& left, const OpenCall& right) {
        return left.age_ns > right.age_ns;
    });
    return calls;
}

} // namespace auger
