// SPDX-License-Identifier: GPL-3.0-or-later
// ProbedFile: a file that probes sit in, and the links that put them there. Probes are places in
// the content that was analysed: in any other they would change what a program computes. So the
// file is leased while there are probes in it: whoever opens it for writing waits in the kernel
// until they are gone.
#pragma once

#include "loader/base/fd.h"
#include "loader/base/result.h"
#include "loader/kernel/link_processes.h"
#include "loader/process/file_content.h"

#include <sys/types.h>

#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

namespace auger {

class ProbedFile {
  public:
    // Of a file that nobody watches, for benchmarks. Its links are made and closed here.
    ProbedFile() = default;
    // Leases the file that `fd` is of; breaks of the lease are signalled (SIGIO) to thread
    // `told_tid`. Where the file system or our rights do not allow leases, leased() is false and
    // it has to be looked at. `processes` make and close the links; null: we do. Fails when its
    // content is not `analysed` any more, or when somebody has it open for writing.
    static Result<std::unique_ptr<ProbedFile>> lease(int fd, const FileContent& analysed,
                                                     std::string path, pid_t told_tid,
                                                     std::shared_ptr<LinkProcesses> processes);
    ~ProbedFile();

    const std::string& path() const { return path_; }
    const FileContent& content() const { return content_; }
    int fd() const { return file_.get(); }
    bool leased() const { return leased_; }

    using Links = std::vector<UniqueFd>;
    // Makes links, which may take as long as it likes: nobody writes meanwhile. The id is for the
    // functions below. Fails when the file has been withdrawn.
    Result<uint64_t> attach(std::span<const LinkRequest> requests);
    // Takes the links out; they are to be closed, with this file's processes, and then said to be
    // by detached(): until then nobody may write.
    Links begin_detaching(uint64_t id);
    LinkProcesses* processes() const { return processes_.get(); }
    void detached();
    std::vector<uint64_t> link_ids(uint64_t id) const;
    size_t links(uint64_t id) const;

    // Somebody waits to write, or has written. From any thread.
    bool is_written_to() const;
    // Takes all probes off, lets the writer go on, and lets nobody attach any more.
    void withdraw();
    bool withdrawn() const;

  private:
    std::string path_;
    FileContent content_;
    UniqueFd file_; // a description of its own, that of the lease
    bool leased_ = false;
    std::shared_ptr<LinkProcesses> processes_;

    mutable std::mutex mutex_;
    std::condition_variable none_detaching_;
    size_t detaching_ = 0;
    bool withdrawn_ = false;
    uint64_t next_id_ = 1;
    std::map<uint64_t, Links> links_;
};

} // namespace auger
