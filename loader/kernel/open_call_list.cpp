// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/open_call_list.h"

#include "loader/base/fd.h"
#include "loader/kernel/wait_text.h"
#include "loader/stream/wire_decoder.h"

#include <bpf/bpf.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace auger {

Result<std::vector<wire_open_call>> OpenCallList::read_records() const {
    int program = programs_.program_fd(ProgramKind::open_call_list);
    if (program < 0)
        return Error{"list open calls", "", "no program may visit the threads here",
                     "`doctor` says what this kernel lacks; `probes` counts them",
                     Error::Kind::unsupported};
    UniqueFd link(bpf_link_create(program, 0, BPF_TRACE_ITER, nullptr));
    if (!link)
        return system_error("list open calls", "", "", errno);
    UniqueFd iterator(bpf_iter_create(link.get()));
    if (!iterator)
        return system_error("list open calls", "", "", errno);
    std::vector<wire_open_call> records;
    // Reads end between threads, not necessarily between records: they are put together here.
    std::vector<char> bytes;
    std::array<char, 16384> part;
    for (;;) {
        ssize_t size = ::read(iterator.get(), part.data(), part.size());
        if (size < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (size < 0)
            return system_error("list open calls", "", "", errno);
        if (size == 0)
            break;
        bytes.insert(bytes.end(), part.data(), part.data() + size);
    }
    records.resize(bytes.size() / sizeof(wire_open_call));
    std::copy_n(bytes.data(), records.size() * sizeof(wire_open_call),
                reinterpret_cast<char*>(records.data()));
    return records;
}

OpenCall OpenCallList::describe_thread(std::span<const wire_open_call> records,
                                       std::map<uint32_t, UserStacks>& processes) {
    const wire_open_call& record = records.front();
    auto pid = static_cast<pid_t>(record.pid);
    OpenCall thread;
    thread.thread = {record.pid, record.tid, std::string(wire_comm(record.comm))};
    thread.running = record.running;
    if (thread.running)
        return thread;
    thread.wait = wait_text(descriptors_, pid, record.now_ns, record.syscall, record.argument);
    ReturnAddresses replaced;
    for (const wire_open_call& call : records) {
        if (call.return_address)
            replaced.emplace(call.return_slot, call.return_address);
    }
    UserStacks& stacks = processes.try_emplace(record.pid, pid).first->second;
    auto addresses =
        stacks.read({record.ip, record.sp, record.bp}, replaced, size_t{WIRE_MAX_FRAMES});
    std::optional<uint64_t> syscall;
    if (record.syscall >= 0)
        syscall = static_cast<uint64_t>(record.syscall);
    thread.stack = names_.present_stack(pid, record.now_ns, syscall, addresses);
    return thread;
}

std::optional<OpenCall> OpenCallList::name_call(const wire_open_call& record) const {
    auto spec = probes_.find_spec(record.call.spec, record.call.generation);
    auto probe = spec ? probes_.probe_of(*spec) : std::nullopt;
    if (!probe)
        return {};
    OpenCall call;
    call.probe = *probe;
    call.spec = *spec;
    call.age_ns = record.now_ns > record.call.start_ns ? record.now_ns - record.call.start_ns : 0;
    call.depth = record.depth;
    return call;
}

Result<std::vector<OpenCall>> OpenCallList::read(std::optional<ProbeId> probe) {
    auto records = read_records();
    if (!records)
        return records.error();
    std::vector<OpenCall> calls;
    std::map<uint32_t, UserStacks> processes;
    // Records of one thread stand together, and it has one stack.
    for (size_t begin = 0, end = 0; begin < records->size(); begin = end) {
        while (end < records->size() && (*records)[end].tid == (*records)[begin].tid)
            end++;
        std::span of_thread = std::span(*records).subspan(begin, end - begin);
        std::optional<OpenCall> thread;
        for (const wire_open_call& record : of_thread) {
            auto call = name_call(record);
            if (!call || (probe && call->probe != *probe))
                continue;
            if (!thread)
                thread = describe_thread(of_thread, processes);
            call->thread = thread->thread;
            call->running = thread->running;
            call->wait = thread->wait;
            call->stack = thread->stack;
            calls.push_back(std::move(*call));
        }
    }
    std::stable_sort(calls.begin(), calls.end(), [](const OpenCall& left, const OpenCall& right) {
        return left.age_ns > right.age_ns;
    });
    return calls;
}

} // namespace auger
