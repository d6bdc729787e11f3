// SPDX-License-Identifier: GPL-3.0-or-later
// A flame's tree that follows the samples of its query, the names of their functions and those of
// their threads.
#pragma once

#include "views/model/classed_samples.h"
#include "views/model/flame_stream.h"

#include <unordered_map>

namespace auger {

class FlameStream::Folding final : public ClassedSamples {
  public:
    Folding(const Model&, const FlameQuery&);

    bool refresh(size_t& budget);
    const FlameQuery& query() const { return query_; }
    const FlameTree& tree() const { return tree_; }
    size_t memory_bytes() const;

  private:
    struct Leaf {
        uint32_t label = 0;
        uint64_t named_at = 0; // SymbolTables::names_version() when its path was found
        bool used = false;
    };
    struct Thread {
        uint32_t label = no_label_yet;      // in the tree; counts as a use of it
        uint64_t first_sample = UINT64_MAX; // that was placed
        uint64_t process = 0;               // process_key() of whose id this is
        uint32_t pid = 0, tid = 0;
    };
    static constexpr uint32_t no_label_yet = UINT32_MAX;

    uint32_t place(uint64_t number) override;
    size_t put(uint32_t leaf, CallClass, const SampleSum&, int32_t held) override;
    void fade(const SampleSum& sum) override { tree_.faded += sum; }

    bool follow_threads(size_t& budget);
    bool move_renamed(size_t& budget);
    void relabel_all(const std::vector<ThreadId>&, std::vector<ThreadId>& renamed);
    void know_thread(ThreadId, std::vector<ThreadId>& renamed);
    void forget_thread(ThreadId, std::vector<ThreadId>& renamed);
    bool follow_names(size_t& budget);
    bool settle(size_t& budget);
    uint32_t label_of(uint64_t number);
    uint32_t label_id(const std::string& text);
    void use_label(uint32_t label) { label_uses_[label]++; }
    void drop_label(uint32_t label);
    bool relabel(ThreadId);

    FlameQuery query_;
    FlameTree tree_;
    std::vector<Leaf> leaves_; // by the tree's leaf
    FlatMap leaf_of_;          // by stack and label
    std::unordered_map<std::string, uint32_t> label_ids_;
    std::vector<uint32_t> label_uses_; // by threads and leaves
    std::vector<uint32_t> free_labels_;
    std::vector<Thread> threads_; // by ThreadId
    // Of flames by process: a main thread's name is that of all its threads.
    std::unordered_map<uint64_t, std::vector<ThreadId>> threads_of_; // by process_key()
    uint64_t threads_version_ = 0;
    std::vector<uint8_t> is_renamed_; // by ThreadId: has another label than its samples
    uint64_t move_from_ = UINT64_MAX; // samples from here on may be of those; UINT64_MAX: none

    uint64_t sweep_version_ = 0; // names up to here are in the tree, once the sweep is through
    size_t sweep_at_ = SIZE_MAX;

    // Before it is shown for the first time leaves alone are summed up, then settled one by one.
    enum class Phase : uint8_t { summing, settling, following } phase_ = Phase::summing;
    uint32_t settle_at_ = 0;
    std::vector<FunctionId> path_;
};

} // namespace auger
