// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/go_switches.h"

#include "loader/kernel/clock.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace auger {

static_assert(park_reasons == WIRE_GO_REASONS);

namespace {

// Differs from all numbers of sampling of waits; see wire_config.
constexpr uint32_t epoch_bit = 0x8000'0000;

// Less of a CPU is nobody's harm.
constexpr double least_load = 0.01;

} // namespace

GoSwitches::~GoSwitches() {
    programs_.config().go_epoch = 0;
}

bool GoSwitches::is_on() const {
    return programs_.config().go_epoch != 0;
}

std::optional<PlaceGroup> GoSwitches::places_in(const TargetModule& module, const TargetView& view,
                                                const GoPlaces& places, AttachmentRequest request) {
    if (places.switches.empty()) {
        sink_.on_notice(clock_ns(),
                        fmt::format("{}: how long goroutines are parked is not known: where "
                                    "this version of the Go runtime does it is not understood",
                                    module.path));
        return std::nullopt;
    }
    request.exit = ExitWay::go_switches;
    request.subject = fmt::format("switches of goroutines in {}", module.path);
    for (const GoSwitchPlace& place : places.switches)
        request.entries.add(place.offset, place.what);
    return PlaceGroup(module, view, std::move(request));
}

void GoSwitches::add(const TargetModule& module, const TargetView& view, const GoPlaces& places,
                     AttachmentRequest request) {
    if (!knows(module.identity())) {
        auto file = places_in(module, view, places, std::move(request));
        if (!file)
            return;
        files_.push_back(*std::move(file));
    }
    if (!wanted_)
        return;
    too_often_ = false; // somebody asks anew
    if (!is_on())
        begin(view);
    else if (auto attached = attach_all(view); !attached)
        give_up(attached.error());
}

bool GoSwitches::add_program(const TargetModule& module, const TargetView& view,
                             const GoPlaces& places, AttachmentRequest request) {
    if (knows(module.identity()))
        return true;
    auto file = places_in(module, view, places, std::move(request));
    if (!file)
        return false;
    if (auto attached = file->attach(programs_, view); !attached) {
        sink_.on_notice(clock_ns(),
                        fmt::format("{}: how long goroutines are parked is not known: {}",
                                    module.path, attached.error().message()));
        return false;
    }
    files_.push_back(*std::move(file));
    if (!is_on())
        begin(view);
    return true;
}

bool GoSwitches::knows(FileIdentity file) const {
    return std::ranges::find(files_, file, &PlaceGroup::file) != files_.end();
}

void GoSwitches::remove_unless(const std::function<bool(FileIdentity)>& is_timed) {
    std::erase_if(files_, [&](const PlaceGroup& file) { return !is_timed(file.file()); });
    if (files_.empty())
        end();
}

void GoSwitches::set_wanted(bool wanted, const TargetView& view) {
    if (wanted == std::exchange(wanted_, wanted))
        return;
    too_often_ = false;
    if (wanted)
        begin(view);
    else
        end();
}

Result<void> GoSwitches::attach_all(const TargetView& view) {
    for (PlaceGroup& file : files_)
        if (auto attached = file.attach(programs_, view); !attached)
            return attached;
    return {};
}

// Calls count as watched from the number on, when all is attached.
void GoSwitches::begin(const TargetView& view) {
    if (files_.empty())
        return;
    if (auto attached = attach_all(view); !attached) {
        give_up(attached.error());
        return;
    }
    programs_.config().go_epoch = epoch_bit | ++epochs_;
}

void GoSwitches::end() {
    programs_.config().go_epoch = 0;
    for (PlaceGroup& file : files_)
        file = PlaceGroup(file, file.request());
}

void GoSwitches::give_up(const Error& error) {
    end();
    sink_.on_notice(clock_ns(), fmt::format("how long goroutines are parked is not known: {}",
                                            error.message()));
}

void GoSwitches::update(const TargetView& view) {
    if (!is_on())
        return;
    for (PlaceGroup& file : files_)
        if (!file.reason_to_widen(view).empty())
            if (auto widened = file.widen_in_place(programs_, view); !widened) {
                give_up(widened.error());
                return;
            }
    if (auto attached = attach_all(view); !attached)
        give_up(attached.error());
}

void GoSwitches::forget_process(pid_t pid) {
    for (PlaceGroup& file : files_)
        file.forget_process(pid);
}

void GoSwitches::leave_others(const TargetView& view) {
    for (PlaceGroup& file : files_)
        file.leave_others(view);
}

void GoSwitches::forget_withdrawn() {
    if (std::erase_if(files_, [](const PlaceGroup& file) { return file.withdrawn(); }) > 0)
        begin_anew();
}

void GoSwitches::withdraw(FileIdentity withdrawn) {
    const auto is_it = [&](const PlaceGroup& file) {
        return !file.per_process() && file.file() == withdrawn;
    };
    if (std::erase_if(files_, is_it) > 0)
        begin_anew();
}

// Calls that are open in a file whose switches are no longer seen have not been watched whole.
void GoSwitches::begin_anew() {
    if (is_on())
        programs_.config().go_epoch = files_.empty() ? 0 : epoch_bit | ++epochs_;
}

void GoSwitches::add_link_ids(std::vector<uint64_t>& ids) const {
    for (const PlaceGroup& file : files_)
        file.add_link_ids(ids);
}

void GoSwitches::judge(const Cost& cost, uint64_t target_ns, uint64_t span_ns) {
    const auto span = static_cast<double>(span_ns), of_target = static_cast<double>(cost.ns),
               of_others = static_cast<double>(cost.of_others_ns);
    if (!is_on() || span <= 0)
        return;
    const bool burdens_target = of_target >= least_load * span &&
                                of_target > most_share * static_cast<double>(target_ns),
               burdens_others = of_others > most_share * span;
    if (!burdens_target && !burdens_others)
        return;
    end();
    too_often_ = true;
    const std::string why =
        burdens_target
            ? fmt::format(
                  "goroutines switch {:.0f} times a second, and watching that took {:.0f} % of the "
                  "target's CPU time",
                  static_cast<double>(cost.switches) / span * 1e9,
                  100 * of_target / std::max(static_cast<double>(target_ns), of_target))
            : fmt::format("goroutines switch {:.0f} times a second in processes that run the same "
                          "program and are not observed, and watching that took {:.0f} % of a CPU",
                          static_cast<double>(cost.of_others) / span * 1e9, 100 * of_others / span);
    sink_.on_notice(clock_ns(), why + ", so it has ended: how long they are parked is no longer "
                                      "known; `sample RATE`, then `sample wall RATE` tries again");
}

LedgerEvent::Goroutines GoSwitches::state() const {
    return is_on()      ? LedgerEvent::Goroutines::watched
           : too_often_ ? LedgerEvent::Goroutines::too_often
                        : LedgerEvent::Goroutines::unwatched;
}

} // namespace auger
