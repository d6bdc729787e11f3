// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/stream/observed_exit.h"

#include <array>

namespace auger {

namespace {

using Kind = ObservedExit::Kind;

// In the order of the kinds; `other` has none.
constexpr std::array<std::string_view, 8> texts = {
    "ret",  "trampoline", "call site", "ret, in callers", "ret, without its tail",
    "span", "span point", "count",
};
constexpr std::string_view jumps_to_text = "; jumps to ";

bool may_jump(Kind kind) {
    return kind == Kind::in_callers || kind == Kind::without_tail;
}

} // namespace

ObservedExit ObservedExit::parse(std::string_view text) {
    for (size_t i = 0; i < texts.size(); i++) {
        const auto kind = static_cast<Kind>(i);
        if (text == texts[i])
            return kind;
        if (!may_jump(kind) || !text.starts_with(texts[i]))
            continue;
        const std::string_view rest = text.substr(texts[i].size());
        if (rest.starts_with(jumps_to_text) && rest.size() > jumps_to_text.size())
            return {kind, std::string(rest.substr(jumps_to_text.size()))};
    }
    return {Kind::other, std::string(text)};
}

std::string ObservedExit::text() const {
    if (kind_ == Kind::other)
        return detail_;
    std::string text(texts[static_cast<size_t>(kind_)]);
    return detail_.empty() ? text : text.append(jumps_to_text).append(detail_);
}

} // namespace auger
