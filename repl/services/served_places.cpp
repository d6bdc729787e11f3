// SPDX-License-Identifier: GPL-3.0-or-later
#include "repl/services/served_places.h"

#include "repl/services/client_counts.h"

#include <algorithm>

namespace auger {

Result<void> ServedPlaces::set(const std::vector<ServedAddress>& addresses, pid_t pid,
                               const std::function<void(const HttpServer&)>& closing) {
    std::list<ServedPlace> fresh;
    struct OtherToken {
        ServedPlace* place;
        const ServedAddress* asked;
        AccessToken token;
    };
    std::vector<OtherToken> tokens;
    for (const ServedAddress& asked : addresses) {
        const auto known = std::ranges::find_if(places_, [&](const ServedPlace& place) {
            return place.asked().address == asked.address;
        });
        if (known == places_.end()) {
            auto place = ServedPlace::open(asked, pid);
            if (!place)
                return place.error();
            fresh.push_back(std::move(*place));
            continue;
        }
        auto token = known->other_token(asked);
        if (!token)
            return token.error();
        if (*token)
            tokens.push_back({&*known, &asked, std::move(**token)});
    }
    // Nothing fails from here on.
    for (OtherToken& other : tokens)
        other.place->set_token(*other.asked, std::move(other.token));
    const auto unwanted = [&](const ServedPlace& place) {
        return std::ranges::find(addresses, place.asked().address, &ServedAddress::address) ==
               addresses.end();
    };
    for (const ServedPlace& place : places_) {
        if (unwanted(place)) {
            closing(place.server());
            add_counts(closed_counts_, place.server().counts());
        }
    }
    std::erase_if(places_, unwanted);
    places_.splice(places_.end(), fresh);
    served_ |= !places_.empty();
    return {};
}

std::vector<std::string> ServedPlaces::urls(const std::string& address) const {
    std::vector<std::string> texts;
    for (const ServedPlace& place : places_)
        if (address.empty() || place.asked().address == address)
            texts.push_back(place.url());
    return texts;
}

HttpCounts ServedPlaces::counts() const {
    HttpCounts counts = closed_counts_;
    for (const ServedPlace& place : places_)
        add_counts(counts, place.server().counts());
    return counts;
}

bool ServedPlaces::watched() const {
    return std::ranges::any_of(
        places_, [](const ServedPlace& place) { return place.server().streams() > 0; });
}

void ServedPlaces::publish(const std::string& event) const {
    for (const ServedPlace& place : places_)
        place.server().publish(event);
}

} // namespace auger
