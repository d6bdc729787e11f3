// SPDX-License-Identifier: GPL-3.0-or-later
#include "repl/services/shippers.h"

#include <algorithm>
#include <iterator>
#include <ranges>
#include <utility>

namespace auger {

Shipper* Shippers::find(const Shipping& receiver) const {
    const auto found = std::ranges::find_if(shippers_, [&](const auto& shipper) {
        return shipper->active() && shipper->shipping().is_to_the_same(receiver);
    });
    return found != shippers_.end() ? found->get() : nullptr;
}

Shipper& Shippers::idle_one() {
    const auto idle =
        std::ranges::find_if(shippers_, [](const auto& shipper) { return !shipper->active(); });
    if (idle != shippers_.end())
        return **idle;
    return *shippers_.emplace_back(
        std::make_unique<Shipper>(backend_, model_, clocks_, make_poster_));
}

Result<void> Shippers::set(const std::vector<Shipping>& wanted) {
    std::vector<std::pair<Shipper*, Shipping>> changed; // what each had
    const auto change = [&](Shipper& shipper, const Shipping& to) -> Result<void> {
        Shipping before = shipper.shipping();
        if (auto set = shipper.set(to); !set)
            return set;
        changed.emplace_back(&shipper, std::move(before));
        return {};
    };
    // First those that end: another one may want what waits in the same folder.
    for (const auto& shipper : shippers_)
        if (shipper->active() && std::ranges::none_of(wanted, [&](const Shipping& one) {
                return one.is_to_the_same(shipper->shipping());
            }))
            (void)change(*shipper, {}); // which does not fail
    for (const Shipping& one : wanted) {
        Shipper* const known = find(one);
        if (known && known->shipping() == one)
            continue;
        if (auto set = change(known ? *known : idle_one(), one); !set) {
            for (const auto& [shipper, before] : std::views::reverse(changed))
                (void)shipper->set(before);
            return set;
        }
    }
    wanted_ = wanted;
    return {};
}

bool Shippers::active() const {
    return std::ranges::any_of(shippers_, [](const auto& one) { return one->active(); });
}

void Shippers::work() {
    for (const auto& shipper : shippers_)
        shipper->work();
}

void Shippers::add_wake_fds(std::vector<int>& fds) const {
    for (const auto& shipper : shippers_)
        shipper->add_wake_fds(fds);
}

uint64_t Shippers::due_ns() const {
    uint64_t due = UINT64_MAX;
    for (const auto& shipper : shippers_)
        due = std::min(due, shipper->due_ns());
    return due;
}

std::chrono::nanoseconds Shippers::idle_time(std::chrono::nanoseconds longest) const {
    for (const auto& shipper : shippers_)
        longest = shipper->idle_time(longest);
    return longest;
}

void Shippers::finish() {
    std::vector<Shipper*> all;
    for (const auto& shipper : shippers_)
        all.push_back(shipper.get());
    Shipper::finish(all);
}

std::vector<ShippingStatus> Shippers::status() const {
    std::vector<ShippingStatus> all;
    for (const Shipping& one : wanted_)
        if (find(one))
            all.push_back(status(one));
    return all;
}

ShippingStatus Shippers::status(const Shipping& receiver) const {
    const Shipper* const shipper = find(receiver);
    return shipper ? shipper->status() : ShippingStatus();
}

std::string Shippers::folder(const Shipping& receiver) const {
    const Shipper* const shipper = find(receiver);
    return shipper ? shipper->folder() : std::string();
}

std::vector<std::string> Shippers::take_news() {
    std::vector<std::string> news;
    for (const auto& shipper : shippers_)
        std::ranges::move(shipper->take_news(), std::back_inserter(news));
    return news;
}

Result<void> Shippers::outcome() const {
    for (const auto& shipper : shippers_)
        if (auto outcome = shipper->outcome(); !outcome)
            return outcome;
    return {};
}

} // namespace auger
