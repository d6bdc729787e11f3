// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/model/stack_labels.h"

namespace auger {

std::string_view text_in_stack(const SymbolTables& symbols, StackId stack, ModuleKind kind,
                               std::string_view begin) {
    constexpr std::string_view end = "]";
    for (const LocationId location : symbols.stack(stack)) {
        if (symbols.module(symbols.location(location).module).kind != kind)
            continue;
        std::string_view text = symbols.name(symbols.found_frames(location).front().function);
        if (text.starts_with(begin) && text.ends_with(end)) {
            text.remove_prefix(begin.size());
            text.remove_suffix(end.size());
        }
        return text;
    }
    return {};
}

std::string_view go_label_text(const SymbolTables& symbols, StackId stack) {
    return text_in_stack(symbols, stack, ModuleKind::go_label, "[golabel ");
}

std::optional<GoLabel> go_label_of(const SymbolTables& symbols, StackId stack) {
    const std::string_view text = go_label_text(symbols, stack);
    const size_t end = text.find('=');
    if (end == text.npos || end == 0)
        return std::nullopt;
    return GoLabel{text.substr(0, end), text.substr(end + 1)};
}

} // namespace auger
