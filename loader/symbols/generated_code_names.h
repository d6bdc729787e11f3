// SPDX-License-Identifier: GPL-3.0-or-later
// GeneratedCodeNames: names of the code that one program generates, from what it writes of it: its
// perf map and its jitdump. They are opened here (generated_files.h); a confined process reads
// them.
#pragma once

#include "loader/symbols/module_names.h"

namespace auger {

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
        bool open_to_others = false; // may be written by others than their owner
        name_messages::Request request() const;
        std::vector<int> descriptors() const;
    };
    Files open_files();
    Result<void> open_in(NameProcess& process, uint32_t number);
    Result<void> take(const Files& files, const Result<std::string>& answer);
    void end(std::string why);

    const ModuleSource source_;
    const int own_root_;
    const WorkProgress& progress_;
    uint64_t& uses_;
    std::optional<NameConversation> conversation_; // nothing: no more names will come
    State map_, dump_;
    bool more_ = false;   // was there the last time
    bool unseen_ = false; // there is news that refresh() has not told
    size_t memory_ = 0;
};

} // namespace auger
