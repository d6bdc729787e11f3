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
        uint32_t label = UINT32_MAX;        // in the tree; UINT32_MAX: not asked for yet
        uint64_t first_sample = UINT64_MAX; // that was placed
    };

    uint32_t place(uint64_t number) override;
    size_t put(uint32_t leaf, CallClass, const SampleSum&, int32_t held) override;
    void fade(const SampleSum& sum) override { tree_.faded += sum; }
    void rescale(double factor) override { tree_.rescale(factor); }

    void follow_threads(size_t& budget);
    bool follow_names(size_t& budget);
    bool settle(size_t& budget);
    uint32_t label_of(uint64_t number);
    uint32_t label_id(const std::string& text);
    bool relabel(ThreadId);

    FlameQuery query_;
    FlameTree tree_;
    std::vector<Leaf> leaves_; // by the tree's leaf
    FlatMap leaf_of_;          // by stack and label
    std::unordered_map<std::string, uint32_t> label_ids_;
    std::vector<Thread> threads_; // by ThreadId; those with an id beyond all share the last
    // Of flames by process: a main thread's name is that of all its threads.
    std::unordered_map<uint32_t, std::vector<ThreadId>> threads_of_;
    size_t threads_seen_ = 0;
    uint64_t threads_version_ = 0;

    uint64_t sweep_version_ = 0; // names up to here are in the tree, once the sweep is through
    size_t sweep_at_ = SIZE_MAX;

    // Before it is shown for the first time leaves alone are summed up, then settled one by one.
    enum class Phase : uint8_t { summing, settling, following } phase_ = Phase::summing;
    uint32_t settle_at_ = 0;
    std::vector<FunctionId> path_;
};

} // namespace auger
