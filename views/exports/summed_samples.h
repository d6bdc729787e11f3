// SPDX-License-Identifier: GPL-3.0-or-later
// An export's samples as formats of profiles have them: summed where they share a stack and all
// that tells samples apart, stacks as locations with the lines at each, and the time of it all.
#pragma once

#include "views/exports/exported_samples.h"
#include "views/exports/trace_links.h"

#include <array>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

namespace auger {

// By what their time was spent on.
struct SampleSums {
    std::array<double, sample_kinds> samples{};
    std::array<double, sample_kinds> weight_ns{};

    double all_samples() const { return samples[0] + samples[1] + samples[2]; }
    SampleSums& operator+=(const SampleSums& other) {
        for (size_t i = 0; i < sample_kinds; i++) {
            samples[i] += other.samples[i];
            weight_ns[i] += other.weight_ns[i];
        }
        return *this;
    }
};

// `Stack` is what a format has made of a sample's stack.
template <typename Stack>
class SummedSamples {
  public:
    // Samples that share all of this are one.
    struct Key {
        StackId stack;
        ThreadId thread;
        CallClass call_class;
        uint32_t spec; // of the innermost call; or UINT32_MAX
        uint32_t link; // to a trace, see link(); or 0
        auto operator<=>(const Key&) const = default;
    };
    struct Entry {
        Stack stack;
        SampleSums sums;
    };

    // `with_links`: samples of different traces are not summed.
    SummedSamples(const Model& model, bool with_links) : model_(model) {
        if (with_links)
            links_.emplace(model);
    }

    // Calls make_stack(frames) for the first sample of each key.
    template <typename MakeStack>
    void add(const ExportedSample& one, MakeStack make_stack) {
        const CallIndex call = one.sample.call;
        auto [entry, is_new] =
            entries_.try_emplace({one.sample.stack, one.sample.thread, one.call_class,
                                  call == no_call ? UINT32_MAX : model_.calls()[call].spec.value,
                                  links_ ? links_->of(call) : 0});
        if (is_new)
            entry->second.stack = make_stack(one.frames);
        const auto kind = static_cast<size_t>(one.sample.kind);
        entry->second.sums.samples[kind] += one.samples;
        entry->second.sums.weight_ns[kind] += one.weight_ns;
    }
    const std::map<Key, Entry>& entries() const { return entries_; }
    // The function that the innermost call is of. Null: there is none.
    const std::string* probe(const Key& key) const {
        return key.spec < model_.specs().size() ? &model_.specs()[key.spec].function : nullptr;
    }

    // Null: it is not known what trace they belong to.
    const TraceLink* link(const Key& key) const {
        return key.link ? &(*links_)[key.link] : nullptr;
    }

  private:
    const Model& model_;
    std::optional<TraceLinks> links_;
    std::map<Key, Entry> entries_;
};

// Calls visit(lines) for each location of a stack, leaf first: the frames at it, innermost first.
template <typename Visit>
void for_each_location(std::span<const ExportedFrame> frames, Visit visit) {
    for (size_t at = 0; at < frames.size();) {
        size_t end = at + 1;
        while (end < frames.size() && frames[end].place == frames[at].place)
            end++;
        visit(frames.subspan(at, end - at));
        at = end;
    }
}

// What tells such a location apart: one address has other lines where rules leave out some.
using LocationLines = std::tuple<LocationId, const FrameEntry*, const FrameEntry*>;
inline LocationLines location_lines(std::span<const ExportedFrame> lines) {
    return {lines.front().location, lines.front().entry, lines.back().entry};
}

// What an export is of: the window, as far back as there are samples.
struct ExportedTime {
    std::optional<uint64_t> begin_ns; // since 1970; nothing: the stream does not tell
    uint64_t duration_ns = 0;
};
ExportedTime exported_time(const Model&, const ExportQuery&);

} // namespace auger
