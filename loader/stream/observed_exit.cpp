// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/stream/observed_exit.h"

#include <array>

namespace auger {

namespace {

using Kind = ObservedExit::Kind;

// In the order of the kinds; `other` has none.
constexpr std::array<std::string_view, 9> texts = {
    "ret",
    "trampoline",
    "call site",
    "ret, in callers",
    "ret, without its tail",
    "ret, in callees",
    "span",
    "span point",
    "count",
};
// What stands between a kind's text and the detail, and behind that.
struct Around {
    std::string_view before, behind;
};

Around around_detail(Kind kind) {
    if (kind == Kind::exit_instructions)
        return {" (", ")"};
    if (kind == Kind::in_callers || kind == Kind::without_tail || kind == Kind::in_callees)
        return {"; jumps to ", ""};
    return {};
}

} // namespace

ObservedExit ObservedExit::parse(std::string_view text) {
    for (size_t i = 0; i < texts.size(); i++) {
        const auto kind = static_cast<Kind>(i);
        if (text == texts[i])
            return kind;
        const auto [before, behind] = around_detail(kind);
        if (before.empty() || !text.starts_with(texts[i]))
            continue;
        std::string_view rest = text.substr(texts[i].size());
        if (rest.size() <= before.size() + behind.size() || !rest.starts_with(before) ||
            !rest.ends_with(behind))
            continue;
        rest.remove_prefix(before.size());
        rest.remove_suffix(behind.size());
        return {kind, std::string(rest)};
    }
    return {Kind::other, std::string(text)};
}

std::string ObservedExit::text() const {
    if (kind_ == Kind::other)
        return detail_;
    std::string text(texts[static_cast<size_t>(kind_)]);
    if (detail_.empty())
        return text;
    const auto [before, behind] = around_detail(kind_);
    return text.append(before).append(detail_).append(behind);
}

} // namespace auger
