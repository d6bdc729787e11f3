// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/symbols/kernel_symbols.h"

#include <algorithm>
#include <charconv>
#include <limits>

namespace auger {
namespace {

// A preference among names of one address: global before local, then the plainer.
bool better(std::string_view a, std::string_view b) {
    const bool plain_a = !a.starts_with('_'), plain_b = !b.starts_with('_');
    return plain_a != plain_b ? plain_a : a.size() < b.size();
}

} // namespace

KernelSymbols::KernelSymbols(std::string text) : text_(std::move(text)) {
    if (text_.size() > std::numeric_limits<uint32_t>::max())
        text_.resize(0);
    bool any = false, any_address = false;
    size_t at = 0;
    while (at < text_.size()) {
        const size_t end = std::min(text_.find('\n', at), text_.size());
        const char* line = text_.data() + at;
        const char* stop = text_.data() + end;
        uint64_t address = 0;
        const auto [after, error] = std::from_chars(line, stop, address, 16);
        at = end + 1;
        // "ffffffff81000000 T name[\t[module]]"
        if (error != std::errc() || stop - after < 4 || after[0] != ' ' || after[2] != ' ')
            continue;
        any = true;
        any_address = any_address || address != 0;
        const char type = static_cast<char>(after[1] | 0x20);
        if ((type != 't' && type != 'w') || address == 0)
            continue;
        const char* name = after + 3;
        const char* name_end = std::find(name, stop, '\t');
        Symbol symbol{address, static_cast<uint32_t>(name - text_.data()),
                      static_cast<uint32_t>(name_end - name), 0, 0};
        if (stop - name_end > 3 && name_end[1] == '[' && stop[-1] == ']') {
            symbol.module = static_cast<uint32_t>(name_end + 2 - text_.data());
            symbol.module_size = static_cast<uint32_t>(stop - 1 - (name_end + 2));
        }
        symbols_.push_back(symbol);
    }
    restricted_ = any && !any_address;
    const std::string_view all = text_;
    std::sort(symbols_.begin(), symbols_.end(), [&](const Symbol& a, const Symbol& b) {
        if (a.address != b.address)
            return a.address < b.address;
        return better(all.substr(a.name, a.name_size), all.substr(b.name, b.name_size));
    });
    symbols_.erase(std::unique(symbols_.begin(), symbols_.end(),
                               [](const auto& a, const auto& b) { return a.address == b.address; }),
                   symbols_.end());
}

std::optional<KernelSymbols::Match> KernelSymbols::find(uint64_t address) const {
    auto after = std::upper_bound(symbols_.begin(), symbols_.end(), address,
                                  [](uint64_t a, const Symbol& s) { return a < s.address; });
    if (after == symbols_.begin())
        return std::nullopt;
    const Symbol& symbol = *--after;
    const std::string_view all = text_;
    return Match{all.substr(symbol.name, symbol.name_size),
                 all.substr(symbol.module, symbol.module_size), address - symbol.address};
}

} // namespace auger
