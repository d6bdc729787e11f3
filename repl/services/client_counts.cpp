// SPDX-License-Identifier: GPL-3.0-or-later
#include "repl/services/client_counts.h"

namespace auger {
namespace {

// Why requests were refused, by the answer's status.
std::string cause_of(unsigned code) {
    switch (code) {
    case 401:
        return "no token";
    case 403:
        return "other host or origin";
    case 409:
        return "not possible";
    case 413:
        return "too large";
    case 500:
        return "failed";
    case 503:
        return "too many";
    default:
        return "wrong request";
    }
}

} // namespace

void add_counts(HttpCounts& to, const HttpCounts& counts) {
    for (const auto& [code, count] : counts.answers)
        to.answers[code] += count;
    to.not_admitted += counts.not_admitted;
}

void put_counts(const HttpCounts& counts, ClientsStatus& status) {
    for (const auto& [code, count] : counts.answers) {
        if (code < 400)
            status.answered += count;
        else
            status.refused[cause_of(code)] += count;
    }
    if (counts.not_admitted)
        status.refused["other user"] = counts.not_admitted;
}

} // namespace auger
