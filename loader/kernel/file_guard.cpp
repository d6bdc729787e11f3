// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/file_guard.h"

#include "loader/kernel/links.h"
#include "loader/process/capabilities.h"

#include <linux/capability.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <fmt/format.h>

#include <array>
#include <csignal>
#include <iterator>

namespace auger {

namespace {

// Files that cannot be leased: what is written through a shared mapping makes no event.
constexpr int look_interval_ms = 100;

void raise_event(const UniqueFd& event) {
    const uint64_t one = 1;
    (void)!write(event.get(), &one, sizeof(one));
}

// Empties a non-blocking descriptor.
void drain(const UniqueFd& fd) {
    std::array<char, 4096> bytes;
    while (read(fd.get(), bytes.data(), bytes.size()) > 0) {
    }
}

// Threads of ours take no signals: those are the main thread's.
sigset_t block_all_signals() {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    return before;
}

} // namespace

Result<std::unique_ptr<FileGuard>> FileGuard::make(std::shared_ptr<LinkProcesses> processes) {
    std::unique_ptr<FileGuard> guard(new FileGuard);
    guard->processes_ = std::move(processes);
    for (UniqueFd* event : {&guard->changed_event_, &guard->wake_event_}) {
        event->reset(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
        if (!*event)
            return system_error("watch probed files", "");
    }
    // It is needed for few files; where there can be none, those are looked at.
    guard->written_.reset(inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
    return guard;
}

void FileGuard::start() {
    const sigset_t before = block_all_signals();
    watcher_ = std::thread([this] {
        begin_thread("leases", capability(CAP_LEASE)); // to end them, too
        watch();
    });
    closer_ = std::thread([this] {
        begin_thread("closer", 0);
        close_waiting();
    });
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    tid_.wait(0);
}

FileGuard::~FileGuard() {
    {
        std::lock_guard lock(mutex_);
        ends_ = true;
    }
    raise_event(wake_event_);
    closing_.notify_one();
    for (std::thread* thread : {&watcher_, &closer_}) {
        if (thread->joinable())
            thread->join();
    }
}

Result<std::shared_ptr<ProbedFile>> FileGuard::guard(int fd, const FileContent& analysed,
                                                     const std::string& path) {
    const Key key{analysed.device, analysed.inode};
    std::lock_guard lock(mutex_);
    std::erase_if(files_, [](const auto& file) { return file.second.expired(); });
    if (auto file = files_[key].lock(); file && !file->withdrawn()) {
        // Other times (a new name, other rights) with the same content are no change.
        auto now = FileContent::of(fd);
        if (file->content() == analysed || (now && *now == analysed && !file->is_written_to()))
            return file;
    }
    if (!watcher_.joinable())
        start();
    auto leased = ProbedFile::lease(fd, analysed, path, tid_, processes_);
    if (!leased) {
        refused_++;
        return leased.error();
    }
    std::shared_ptr<ProbedFile> file = *std::move(leased);
    files_[key] = file;
    if (!file->leased()) {
        if (written_)
            inotify_add_watch(written_.get(), fmt::format("/proc/self/fd/{}", file->fd()).c_str(),
                              IN_MODIFY);
        raise_event(wake_event_); // it has to be looked at from now on
    }
    return file;
}

bool FileGuard::rewritten(const FileContent& content) {
    std::lock_guard lock(mutex_);
    return rewritten_.contains({content.device, content.inode});
}

std::vector<std::shared_ptr<ProbedFile>> FileGuard::take_changed() {
    drain(changed_event_);
    std::lock_guard lock(mutex_);
    return std::exchange(changed_, {});
}

std::vector<std::shared_ptr<ProbedFile>> FileGuard::files() {
    std::vector<std::shared_ptr<ProbedFile>> present;
    std::lock_guard lock(mutex_);
    for (const auto& [key, file] : files_) {
        if (auto alive = file.lock())
            present.push_back(std::move(alive));
    }
    return present;
}

void FileGuard::watch() {
    sigset_t broken;
    sigemptyset(&broken);
    sigaddset(&broken, SIGIO);
    const UniqueFd signals(signalfd(-1, &broken, SFD_CLOEXEC | SFD_NONBLOCK));
    tid_ = static_cast<pid_t>(syscall(SYS_gettid));
    tid_.notify_all();
    bool look = false;
    while (!ends_) {
        std::array<pollfd, 3> waiting = {{{signals.get(), POLLIN, 0},
                                          {wake_event_.get(), POLLIN, 0},
                                          {written_.get(), POLLIN, 0}}};
        poll(waiting.data(), waiting.size(), look ? look_interval_ms : -1);
        for (const UniqueFd* fd : {&signals, &std::as_const(wake_event_), &std::as_const(written_)})
            drain(*fd);
        look = false;
        for (const std::shared_ptr<ProbedFile>& file : files()) {
            if (file->withdrawn())
                continue;
            look |= !file->leased();
            if (!file->is_written_to())
                continue;
            file->withdraw();
            std::lock_guard lock(mutex_);
            changed_.push_back(file);
            rewritten_.insert({file->content().device, file->content().inode});
            raise_event(changed_event_);
        }
    }
}

void FileGuard::close_later(std::shared_ptr<ProbedFile> file, ProbedFile::Links links) {
    std::lock_guard lock(mutex_);
    to_close_.emplace_back(std::move(file), std::move(links));
    closing_.notify_one();
}

void FileGuard::close_waiting() {
    std::unique_lock lock(mutex_);
    for (;;) {
        closing_.wait(lock, [&] { return ends_ || !to_close_.empty(); });
        if (to_close_.empty())
            return;
        auto batch = std::exchange(to_close_, {});
        lock.unlock();
        ProbedFile::Links links;
        for (auto& [file, some] : batch)
            std::move(some.begin(), some.end(), std::back_inserter(links));
        close_links(processes_.get(), std::move(links));
        for (auto& [file, some] : batch)
            file->detached();
        batch.clear();
        lock.lock();
    }
}

} // namespace auger
