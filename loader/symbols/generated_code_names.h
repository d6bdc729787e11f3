// SPDX-License-Identifier: GPL-3.0-or-later
// GeneratedCodeNames: names of the code that one program generates, from what it writes of it: its
// perf map and its jitdump. A confined process reads them; here they are opened, with suspicion: a
// perf map beneath the target's root, no symbolic link; both regular files, of the target's user or
// root.
#pragma once

#include "loader/symbols/module_names.h"

namespace auger {

// Fails when the open file is not to be trusted: what a program of `uid`'s wrote is `uid`'s or
// root's.
Result<void> check_generated_file(int fd, const std::string& path, uid_t uid);
// `root` is a folder's descriptor, `namespace_pid` the number in the name. Fails also when there is
// none; it may come later.
Result<UniqueFd> open_perf_map(int root, pid_t namespace_pid, uid_t uid);

class GeneratedCodeNames final : public ModuleNames {
  public:
    // What is given must outlive it. Each use takes a number from `uses`.
    GeneratedCodeNames(ModuleSource source, int own_root, NameProcesses& processes,
                       const WorkProgress& progress, uint64_t& uses);

    std::vector<AddressName> names(std::span<const AddressQuery> queries) override;
    bool refresh() override;
    size_t memory() const { return memory_; } // bytes, in the process
    // What was named keeps its name; nothing else will have one.
    void let_go();

    const uid_t user;
    uint64_t last_use;

  private:
    // What a file was when it was read.
    struct State {
        uint64_t device = 0, inode = 0, size = 0;
        static State of(int fd);
        friend bool operator==(const State&, const State&) = default;
    };
    // What there is to read now.
    struct Files {
        UniqueFd map;
        int dump = -1;
        State map_state, dump_state;
        name_messages::Request request() const;
        std::vector<int> descriptors() const;
    };
    Files open_files();
    Result<void> open_in(NameProcess& process, uint32_t number);
    // Whether there was something new.
    Result<bool> take(const Files& files, const Result<std::string>& answer);
    void end(std::string why);

    const ModuleSource source_;
    const int own_root_;
    const WorkProgress& progress_;
    uint64_t& uses_;
    std::optional<NameConversation> conversation_; // nothing: no more names will come
    State map_, dump_;
    bool more_ = false; // was there the last time
    size_t memory_ = 0;
};

} // namespace auger
