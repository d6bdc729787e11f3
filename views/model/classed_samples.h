// SPDX-License-Identifier: GPL-3.0-or-later
// Follows the model's samples of a window and a class: what a view that is kept up to date builds
// on. Each sample is put in when it comes, taken out when it leaves the window or the store, and
// put in anew when its class changes: when the call that decides it ends or outlives the threshold,
// or when a percentile threshold moves. Samples that one call decides are linked, so that such a
// change costs no more than the samples concerned. Whether a stack is one that is asked for depends
// on names, so all are looked at again when names come.
//
// Under an ewma window weights are kept as they were seen from a landmark, growing with time, so
// that nothing needs to be touched as time goes by; reading takes one factor. Before they grow out
// of bounds, hundreds of time constants later, it has to be made anew.
#pragma once

#include "views/model/classifier.h"
#include "views/model/window.h"

#include <deque>
#include <queue>
#include <vector>

namespace auger {

class ClassedSamples {
  public:
    // The model must outlive it.
    ClassedSamples(const Model&, const Window&, const ClassFilter&);
    virtual ~ClassedSamples() = default;

    // False when it cannot follow any more and has to be made anew: the split or `only` was edited,
    // more of what it holds was overwritten at once than is worth taking out, or its landmark is
    // too long ago.
    bool can_follow() const;
    // Takes in what came, for at most about `budget` steps, which it takes off; returns whether
    // something is left to do.
    bool advance(size_t& budget);
    // What sums have to be multiplied with to be seen from the window's end.
    double scale() const;
    size_t held() const { return samples_.size(); }
    size_t memory_bytes() const;

  protected:
    // Samples are numbered as they come to the model. A place for one, which put() gets.
    virtual uint32_t place(uint64_t number) = 0;
    // One sample more (1) or fewer (-1) there; returns how many steps that took.
    virtual size_t put(uint32_t place, CallClass, const SampleSum&, int32_t held) = 0;
    // A sample was too faint to be kept, or no longer is: it is in nothing that was put.
    virtual void fade(const SampleSum&) = 0;

    const Model& model() const { return model_; }
    size_t index_of(uint64_t number) const { return number % model_.samples().capacity(); }
    // Moves the shown samples from this one on for which `moves(index in the store)` holds to
    // wherever place() says now, and `from` along; returns whether some are left.
    template <typename Moves>
    bool replace(uint64_t& from, Moves moves, size_t& budget) {
        constexpr uint64_t a_step = 16; // to look at so many takes about one
        from = std::max({from, first_, model_.samples_evicted()});
        for (; from < end(); from++) {
            if (budget == 0)
                return true;
            budget -= from % a_step == 0;
            if (at(from).shown && moves(index_of(from)))
                budget -= std::min(budget, put_again(from, {true, at(from).call_class}));
        }
        return false;
    }

  private:
    struct Verdict {
        bool shown;
        CallClass call_class;
    };
    struct Sample {
        uint64_t time_ns = 0;
        uint64_t weight_ns = 0;
        uint32_t place = 0;         // when shown
        uint32_t next_in_group = 0; // distance; 0: the last
        uint32_t group = 0;
        CallClass call_class = CallClass::outside;
        SampleKind kind = SampleKind::cpu;
        bool shown = false; // it was put
        bool left = false;  // the window
    };
    // Samples that one call decides, the stored ones among them first to last.
    struct Group {
        CallIndex call = no_call; // no_call: free
        uint64_t first = 0;
        uint64_t last = 0;
        CallClass call_class = CallClass::open;
        bool shown = false;
        bool open = false;   // may change
        bool listed = false; // in open_
    };
    struct Decider;

    Sample& at(uint64_t number) { return samples_[number - first_]; }
    ThreadId thread_of(uint64_t number) const {
        return model_.samples().threads()[index_of(number)];
    }
    StackId stack_of(uint64_t number) const { return model_.samples().stacks()[index_of(number)]; }
    bool asks_for_stacks() const { return filter_.in || !kept_stacks_.empty(); }
    uint64_t end() const { return first_ + samples_.size(); }
    SampleSum sum_of(const Sample&) const;
    double time_constants(uint64_t time_ns) const; // since the landmark
    double growth(uint64_t time_ns) const;
    uint64_t oldest_in_window() const;

    bool drop_overwritten(size_t& budget);
    bool drop_expired(size_t& budget);
    bool reconsider(const Decider&, size_t& budget);
    bool follow_stacks(const Decider&, size_t& budget);
    bool take_in(const Decider&, size_t& budget);

    size_t put_again(uint64_t number, Verdict);
    size_t leave(Sample&, bool fades);
    void pop_front();
    size_t decide(const Decider&, uint64_t number);
    size_t decide_group(const Decider&, uint32_t group);
    size_t decide_filtered(const Decider&, Group&);
    // The call that decides a sample of what there is now; no_call: none does.
    CallIndex decisive(const Decider&, uint64_t number);
    uint32_t group_of(CallIndex, uint64_t number);

    const Model& model_;
    Window window_;
    ClassFilter filter_;
    SplitInfo split_;
    OnlyInfo only_;
    StackCondition kept_stacks_;
    ThresholdState threshold_;

    std::deque<Sample> samples_;
    uint64_t first_ = 0; // number of the first one
    uint64_t latest_ns_ = 0;
    // Samples that came late: not in the order of their times. The oldest first.
    using Late = std::pair<uint64_t, uint64_t>; // time, number
    std::priority_queue<Late, std::vector<Late>, std::greater<>> late_;

    std::vector<Group> groups_;
    std::vector<uint32_t> free_groups_;
    std::vector<uint32_t> group_of_call_; // by CallIndex
    std::vector<uint32_t> open_;          // groups that may change
    size_t all_groups_from_ = SIZE_MAX;   // groups from here on are to be looked at anew
    uint64_t stacks_from_ = UINT64_MAX;   // stacks of samples from here on are, likewise ...
    uint64_t names_version_;              // ... for names as of then
    uint64_t landmark_ns_;                // of an ewma window
};

} // namespace auger
