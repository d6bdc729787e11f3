// SPDX-License-Identifier: GPL-3.0-or-later
// Probing: the kernel programs of auger and, beside them, programs that do nothing, attached to the
// same places of the same functions in the same way.
#pragma once

#include "loader/kernel/attachment.h"
#include "loader/kernel/features.h"
#include "loader/kernel/programs.h"
#include "loader/kernel/spec_table.h"
#include "loader/reader/elf/function_index.h"
#include "loader/reader/matching/probe_match.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

struct empty_bpf;

namespace auger::bench {

// The value, or an exception with the error's message: a bench that cannot measure ends.
template <typename T>
T take(Result<T> result) {
    if (!result)
        throw std::runtime_error(result.error().message());
    return std::move(*result);
}
void take(const Result<void>& result);

// Functions of one file, analysed as `time` does it.
struct Functions {
    std::shared_ptr<const ElfFile> file;
    std::vector<PlaceMatch> matches;

    // `pattern` as in `time PATTERN`.
    static Functions find(const std::string& path, const std::string& pattern);
    static Functions find(const std::string& path, const std::vector<std::string>& names);
};

// auger's programs with a table of specs, without anything above them.
class Tracker {
  public:
    explicit Tracker(const Features& features);

    Programs& programs() { return *programs_; }
    // Makes a process a target, as the console would.
    void observe(pid_t pid);
    void forget(pid_t pid);
    void set_filter(uint64_t filter); // as config().filter
    // What has to be attached for the functions, each with a spec of its own (its id is written to
    // `specs` for release()). `pid` as in AttachmentRequest.
    enum class Exits { rets, cheap };
    AttachmentRequest request(const Functions& functions, ExitWay exit, AttachWay way,
                              std::vector<SpecId>& specs, Exits exits = Exits::rets);
    void release(const std::vector<SpecId>& specs);
    SpecTable& specs() { return *specs_; }

  private:
    std::unique_ptr<Programs> programs_;
    std::unique_ptr<SpecTable> specs_;
};

class EmptyPrograms {
  public:
    explicit EmptyPrograms(const Features& features);
    ~EmptyPrograms();
    // uprobe_multi links only.
    std::vector<UniqueFd> attach(const AttachmentRequest& request) const;
    // At the places of the off-CPU sampler.
    std::vector<UniqueFd> attach_to_switches() const;

  private:
    empty_bpf* skeleton_;
};

} // namespace auger::bench
