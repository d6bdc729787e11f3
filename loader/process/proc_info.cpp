// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/process/proc_info.h"

#include "loader/process/safe_open.h"

#include <dirent.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <map>
#include <memory>
#include <set>

namespace auger {

Error process_error(const std::string& operation, pid_t pid, std::string cause) {
    return {operation,
            std::to_string(pid),
            cause == std::strerror(ENOENT) ? std::strerror(ESRCH) : std::move(cause),
            {}};
}

namespace {

// Of /proc/PID/stat's flags: PF_KTHREAD of linux/sched.h.
constexpr uint64_t kernel_thread_flag = 0x0020'0000;

template <typename T>
std::optional<T> number(std::string_view text) {
    T value{};
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || stop != text.data() + text.size() || text.empty())
        return std::nullopt;
    return value;
}

std::string_view take_word(std::string_view& text) {
    text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
    const size_t end = std::min(text.find_first_of(" \t\n"), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(end);
    return word;
}

// A vanished /proc entry means a vanished process: say that rather than "No such file".
Error process_error(const std::string& operation, pid_t pid) {
    return system_error(operation, std::to_string(pid), {}, errno == ENOENT ? ESRCH : errno);
}

Result<std::string> read_proc(pid_t pid, const char* name) {
    auto text = read_file(fmt::format("/proc/{}/{}", pid, name), 1 << 20);
    if (!text)
        return process_error(fmt::format("read {} of process", name), pid);
    return text;
}

Result<std::vector<pid_t>> numeric_entries(const std::string& folder) {
    std::unique_ptr<DIR, int (*)(DIR*)> entries(opendir(folder.c_str()), closedir);
    if (!entries)
        return system_error("list", folder);
    std::vector<pid_t> ids;
    while (const dirent* entry = readdir(entries.get()))
        if (const auto id = number<pid_t>(entry->d_name))
            ids.push_back(*id);
    std::sort(ids.begin(), ids.end());
    return ids;
}

// Calls `use` with the words after "Name:" of /proc/PID/status.
Result<std::vector<std::string>> status_words(pid_t pid, std::string_view name) {
    const auto text = read_proc(pid, "status");
    if (!text)
        return text.error();
    std::string_view rest = *text;
    while (!rest.empty()) {
        const size_t end = std::min(rest.find('\n'), rest.size());
        std::string_view line = rest.substr(0, end);
        rest.remove_prefix(std::min(end + 1, rest.size()));
        if (!line.starts_with(name))
            continue;
        line.remove_prefix(name.size());
        std::vector<std::string> words;
        for (std::string_view word = take_word(line); !word.empty(); word = take_word(line))
            words.emplace_back(word);
        return words;
    }
    return Error{"read status of process", std::to_string(pid), fmt::format("no {}", name), {}};
}

} // namespace

std::optional<ProcessStat> parse_stat(std::string_view text) {
    const size_t open = text.find('(');
    const size_t close = text.rfind(')');
    if (open == text.npos || close == text.npos || close < open)
        return std::nullopt;
    ProcessStat stat;
    stat.comm = text.substr(open + 1, close - open - 1);
    text.remove_prefix(close + 1);
    // Fields from the third on; start time is the 22nd.
    const std::string_view state = take_word(text);
    const auto parent = number<pid_t>(take_word(text));
    std::optional<uint64_t> flags, user_ticks, kernel_ticks, threads;
    for (int field = 5; field < 22; field++) {
        const std::string_view word = take_word(text);
        if (field == 9)
            flags = number<uint64_t>(word);
        else if (field == 14)
            user_ticks = number<uint64_t>(word);
        else if (field == 15)
            kernel_ticks = number<uint64_t>(word);
        else if (field == 20)
            threads = number<uint64_t>(word);
    }
    const auto start = number<uint64_t>(take_word(text));
    if (state.size() != 1 || !parent || !start)
        return std::nullopt;
    stat.state = state[0];
    stat.parent = *parent;
    stat.start_ticks = *start;
    stat.cpu_ticks = user_ticks.value_or(0) + kernel_ticks.value_or(0);
    stat.threads = static_cast<uint32_t>(threads.value_or(0));
    stat.kernel = (flags.value_or(0) & kernel_thread_flag) != 0;
    return stat;
}

Result<ProcessStat> read_stat(pid_t pid) {
    const auto text = read_proc(pid, "stat");
    if (!text)
        return text.error();
    if (auto stat = parse_stat(*text))
        return *std::move(stat);
    return Error{"read stat of process", std::to_string(pid), "not understood", {}};
}

Result<std::vector<pid_t>> threads_of(pid_t pid) {
    auto ids = numeric_entries(fmt::format("/proc/{}/task", pid));
    if (!ids)
        return process_error("list threads of process", pid);
    return ids;
}

bool has_ended(pid_t pid) {
    const auto stat = read_stat(pid);
    if (!stat || stat->state == 'X')
        return true;
    if (stat->state != 'Z')
        return false;
    const auto threads = threads_of(pid);
    return !threads || threads->size() <= 1;
}

pid_t living_thread(pid_t pid) {
    const auto lives = [](pid_t tid) {
        const auto stat = read_stat(tid);
        return stat && stat->state != 'Z' && stat->state != 'X';
    };
    const auto threads =
        lives(pid) ? Result<std::vector<pid_t>>(std::vector<pid_t>()) : threads_of(pid);
    if (!threads)
        return pid;
    const auto other = std::find_if(threads->begin(), threads->end(), lives);
    return other == threads->end() ? pid : *other;
}

Result<std::string> comm_of(pid_t tid) {
    auto text = read_proc(tid, "comm");
    if (text && text->ends_with('\n'))
        text->pop_back();
    return text;
}

Result<std::string> exe_path(pid_t pid) {
    std::string path(4096, '\0');
    ssize_t length = readlink(fmt::format("/proc/{}/exe", pid).c_str(), path.data(), path.size());
    if (length < 0)
        if (const pid_t thread = living_thread(pid); thread != pid)
            length =
                readlink(fmt::format("/proc/{}/exe", thread).c_str(), path.data(), path.size());
    if (length < 0)
        return process_error("find the executable of process", pid);
    path.resize(static_cast<size_t>(length));
    constexpr std::string_view deleted = " (deleted)";
    if (path.ends_with(deleted))
        path.resize(path.size() - deleted.size());
    return path;
}

static Result<uint64_t> status_number(pid_t tid, const char* key) {
    const auto words = status_words(tid, key);
    if (!words)
        return words.error();
    const auto count = words->empty() ? std::nullopt : number<uint64_t>(words->front());
    if (!count)
        return Error{"read status of process", std::to_string(tid), "not understood", {}};
    return *count;
}

Result<uint64_t> waits_of(pid_t tid) {
    return status_number(tid, "voluntary_ctxt_switches:");
}

Result<uint64_t> switches_of(pid_t tid) {
    const auto waits = waits_of(tid);
    const auto others = status_number(tid, "nonvoluntary_ctxt_switches:");
    if (!waits || !others)
        return waits ? others.error() : waits.error();
    return *waits + *others;
}

Result<OnCpu> on_cpu(pid_t tid) {
    const auto text = read_proc(tid, "schedstat");
    if (!text)
        return text.error();
    std::string_view rest = *text;
    const auto ns = number<uint64_t>(take_word(rest));
    take_word(rest); // ns for which it was runnable
    const auto times = number<uint64_t>(take_word(rest));
    if (!ns || !times)
        return Error{"read schedstat of thread", std::to_string(tid), "not understood", {}};
    return OnCpu{*ns, *times};
}

Result<std::vector<pid_t>> all_pids() {
    return numeric_entries("/proc");
}

std::vector<pid_t> descendants_of(std::span<const pid_t> pids) {
    std::multimap<pid_t, pid_t> children;
    const auto all = all_pids();
    for (const pid_t pid : all ? *all : std::vector<pid_t>{}) {
        const auto stat = read_stat(pid);
        if (stat && stat->state != 'Z' && stat->state != 'X')
            children.emplace(stat->parent, pid);
    }
    std::set<pid_t> found;
    std::vector<pid_t> parents(pids.begin(), pids.end());
    while (!parents.empty()) {
        const auto [first, last] = children.equal_range(parents.back());
        parents.pop_back();
        for (auto child = first; child != last; ++child) {
            if (child->second != getpid() && found.insert(child->second).second)
                parents.push_back(child->second);
        }
    }
    for (const pid_t pid : pids)
        found.erase(pid);
    return {found.begin(), found.end()};
}

Result<std::vector<pid_t>> pids_by_name(std::string_view name) {
    const auto pids = all_pids();
    if (!pids)
        return pids.error();
    std::vector<pid_t> found;
    for (const pid_t pid : *pids) {
        if (pid == getpid())
            continue;
        const auto comm = comm_of(pid);
        bool matches = comm && *comm == name;
        if (!matches) {
            const auto path = exe_path(pid); // kernel threads have none
            matches = path && std::string_view(*path).substr(path->rfind('/') + 1) == name;
        }
        if (matches)
            found.push_back(pid);
    }
    return found;
}

Result<pid_t> process_of_thread(pid_t tid) {
    const auto words = status_words(tid, "Tgid:");
    if (!words)
        return words.error();
    const auto pid = words->empty() ? std::nullopt : number<pid_t>(words->front());
    if (!pid)
        return Error{"find the process of thread", std::to_string(tid), "not understood", {}};
    return *pid;
}

Result<pid_t> namespace_pid(pid_t pid) {
    const auto words = status_words(pid, "NSpid:");
    if (!words)
        return words.error();
    const auto inner = words->empty() ? std::nullopt : number<pid_t>(words->back());
    return inner.value_or(pid);
}

bool filters_system_calls(pid_t pid) {
    const auto words = status_words(pid, "Seccomp:");
    return !words || words->empty() || words->front() != "0";
}

Result<uid_t> uid_of(pid_t pid) {
    const auto words = status_words(pid, "Uid:");
    if (!words)
        return words.error();
    const auto uid = words->empty() ? std::nullopt : number<uid_t>(words->front());
    if (!uid)
        return Error{"read the user of process", std::to_string(pid), "not understood", {}};
    return *uid;
}

} // namespace auger
