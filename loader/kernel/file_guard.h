// SPDX-License-Identifier: GPL-3.0-or-later
// FileGuard: takes the probes of files off before other content is written in their place
// (`cp new old`), in a thread of its own, so that the writer waits for nothing else that we do.
#pragma once

#include "loader/base/fd.h"
#include "loader/kernel/probed_file.h"

#include <atomic>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace auger {

class FileGuard {
  public:
    // `processes` make and close the links of its files; null: we do.
    static Result<std::unique_ptr<FileGuard>> make(std::shared_ptr<LinkProcesses> processes);
    LinkProcesses* link_processes() const { return processes_.get(); }
    ~FileGuard();

    // The file that `fd` is of, as it was analysed; one object for all of its probes. Fails as
    // ProbedFile::lease() does.
    Result<std::shared_ptr<ProbedFile>> guard(int fd, const FileContent& analysed,
                                              const std::string& path);
    // Other content was written to the file while it was guarded: processes may still have the
    // former one in memory.
    bool rewritten(const FileContent& content);
    // How often guard() has failed: what is asked for may be had later.
    uint64_t refused() const { return refused_; }
    // Closes them some time later, together with others.
    void close_later(std::shared_ptr<ProbedFile> file, ProbedFile::Links links);

    // Readable when there is something to take.
    int fd() const { return changed_event_.get(); }
    // The files that have been withdrawn since the last call.
    std::vector<std::shared_ptr<ProbedFile>> take_changed();

  private:
    using Key = std::pair<uint64_t, uint64_t>; // device and inode

    FileGuard() = default;
    // The threads, when they are first needed: others fork as long as there are none.
    void start();
    void watch();
    void close_waiting();
    std::vector<std::shared_ptr<ProbedFile>> files();

    std::shared_ptr<LinkProcesses> processes_;
    UniqueFd changed_event_, wake_event_;
    UniqueFd written_; // inotify, of files that cannot be leased
    std::atomic<pid_t> tid_ = 0;
    std::atomic<bool> ends_ = false;

    std::mutex mutex_;
    std::condition_variable closing_;
    std::map<Key, std::weak_ptr<ProbedFile>> files_;
    std::set<Key> rewritten_;
    std::atomic<uint64_t> refused_ = 0;
    std::vector<std::shared_ptr<ProbedFile>> changed_;
    std::vector<std::pair<std::shared_ptr<ProbedFile>, ProbedFile::Links>> to_close_;

    std::thread watcher_, closer_;
};

} // namespace auger
