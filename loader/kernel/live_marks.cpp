// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/live_marks.h"

#include "loader/kernel/clock.h"

#include <fmt/format.h>

#include <algorithm>

namespace auger {

Result<uint32_t> LiveMarks::free_bit() {
    for (uint32_t tried = 0; tried < marks_.size(); tried++) {
        uint32_t bit = next_bit_;
        next_bit_ = (next_bit_ + 1) % marks_.size();
        if (!marks_[bit])
            return bit;
    }
    return Error{"watch calls", fmt::format("more than {} facts", WIRE_MAX_MARKS),
                 "all places are taken", "`unsplit` or `only off` frees some"};
}

// Returns how many places are new.
Result<size_t> LiveMarks::attach_new(Mark& mark, const TargetView& view, bool explain) {
    ParsedProbe parsed = parse_probe(mark.line);
    if (parsed.error)
        return parsed.error->error;
    if (parsed.pattern->line == 0 || parsed.pattern->call_site)
        return Error{"watch line", mark.line, "this is not a line",
                     "write FILE:LINE, as main.cc:12", Error::Kind::usage};
    MatchOptions options;
    options.explain = explain;
    auto matches = readers_.find(*parsed.pattern, view.files(), options);
    if (!matches)
        return matches.error();
    AttachmentRequest request;
    request.way = way_;
    request.exit = ExitWay::none;
    request.guard = &guard_;
    std::vector<PlaceGroup> groups;
    size_t places = 0;
    for (const PlaceMatch& match : matches->places) {
        const TargetModule& module = view.modules[match.module];
        auto of_module = [&](const PlaceGroup& group) { return group.file() == module.identity(); };
        if (std::ranges::any_of(mark.groups, of_module))
            continue;
        auto group = std::ranges::find_if(groups, of_module);
        if (group == groups.end()) {
            request.subject = fmt::format("{} in {}", mark.line, module.path);
            groups.emplace_back(module, view, request);
            group = std::prev(groups.end());
        }
        group->request().entries.add(match.entry.file_offset, mark.info.bit);
        mark.costs.push_back(match.entry.cost);
        places++;
    }
    for (PlaceGroup& group : groups) {
        if (auto attached = group.attach(programs_, view); !attached)
            return attached.error();
    }
    std::ranges::move(groups, std::back_inserter(mark.groups));
    if (places == 0 && mark.groups.empty() && !matches->being_read.empty())
        return Error{"watch line", mark.line,
                     view.modules[matches->being_read.front()].file->path_and_owner() +
                         " is still being read",
                     "try again later"};
    if (places == 0 && mark.groups.empty())
        return Error{"watch line", mark.line, "no copy of it can be probed",
                     matches->skipped.empty() ? "" : matches->skipped.front().reason};
    return places;
}

Result<MarkInfo> LiveMarks::watch_line(const std::string& line, const TargetView& view) {
    auto bit = free_bit();
    if (!bit)
        return bit.error();
    Mark mark;
    mark.info = {*bit, "at " + line, 0};
    mark.line = line;
    mark.hits_before = programs_.other_hits()[*bit];
    auto places = attach_new(mark, view, true);
    if (!places)
        return places.error();
    mark.info.since_ns = clock_ns();
    if (*places > 1)
        sink_.on_notice(mark.info.since_ns,
                        fmt::format("{}: {} copies of the line are watched", line, *places));
    MarkInfo info = mark.info;
    marks_[*bit] = std::move(mark);
    return info;
}

Result<MarkInfo> LiveMarks::watch(const std::string& text) {
    auto bit = free_bit();
    if (!bit)
        return bit.error();
    marks_[*bit] = Mark{{*bit, text, clock_ns()}, {}, {}, {}};
    return marks_[*bit]->info;
}

void LiveMarks::release(uint32_t bit) {
    if (bit < marks_.size())
        marks_[bit].reset();
}

void LiveMarks::update(const TargetView& view, uint64_t now_ns) {
    for (auto& mark : marks_) {
        if (!mark || mark->line.empty())
            continue;
        for (PlaceGroup& group : mark->groups) {
            auto attached = group.reason_to_widen(view).empty()
                                ? group.attach(programs_, view)
                                : group.widen_in_place(programs_, view);
            if (!attached)
                sink_.on_notice(now_ns, attached.error().message());
        }
        // The line may have more code in what has been loaded since; mostly it has not.
        (void)attach_new(*mark, view, false);
    }
}

void LiveMarks::withdraw(FileIdentity file, const std::string& why, uint64_t now_ns) {
    for (auto& mark : marks_) {
        const size_t gone = !mark ? 0 : std::erase_if(mark->groups, [&](const PlaceGroup& group) {
            return !group.per_process() && group.file() == file;
        });
        if (gone > 0)
            sink_.on_notice(now_ns, fmt::format("{} is no longer watched: {}", mark->line, why));
    }
}

void LiveMarks::leave_others(const TargetView& view) {
    for (auto& mark : marks_) {
        if (!mark)
            continue;
        for (PlaceGroup& group : mark->groups)
            group.leave_others(view);
    }
}

void LiveMarks::forget_process(pid_t pid) {
    for (auto& mark : marks_) {
        if (!mark)
            continue;
        for (PlaceGroup& group : mark->groups)
            group.forget_process(pid);
    }
}

void LiveMarks::forget_withdrawn() {
    for (auto& mark : marks_) {
        if (mark)
            std::erase_if(mark->groups, [](const PlaceGroup& group) { return group.withdrawn(); });
    }
}

void LiveMarks::add_link_ids(std::vector<uint64_t>& ids) const {
    for (const auto& mark : marks_) {
        if (!mark)
            continue;
        for (const PlaceGroup& group : mark->groups)
            group.add_link_ids(ids);
    }
}

LiveMarks::Hits LiveMarks::hits(const HitCosts& costs) const {
    Hits sum;
    if (empty())
        return sum;
    const auto counted = programs_.other_hits();
    for (const auto& mark : marks_) {
        if (!mark || mark->costs.empty())
            continue;
        uint64_t each = 0;
        for (const ProbeCost cost : mark->costs)
            each += costs.of(cost);
        const uint64_t hits = counted[mark->info.bit] - mark->hits_before;
        sum.hits += hits;
        sum.cost_ns += hits * each / mark->costs.size();
    }
    return sum;
}

bool LiveMarks::empty() const {
    return std::ranges::none_of(marks_, [](const auto& mark) { return mark.has_value(); });
}

} // namespace auger
