// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/model/frame_choice.h"

namespace auger {

std::string_view name_of(FrameChoice choice) {
    switch (choice) {
    case FrameChoice::all:
        return "all";
    case FrameChoice::language:
        return "language";
    case FrameChoice::native:
        return "native";
    }
    return "";
}

FrameChoice next_after(FrameChoice choice) {
    switch (choice) {
    case FrameChoice::all:
        return FrameChoice::language;
    case FrameChoice::language:
        return FrameChoice::native;
    case FrameChoice::native:
        break;
    }
    return FrameChoice::all;
}

bool is_of_language(const SymbolTables& symbols, FunctionId function) {
    const ModuleKind kind = symbols.module(symbols.function(function).module).kind;
    return kind == ModuleKind::python || kind == ModuleKind::task || kind == ModuleKind::java ||
           kind == ModuleKind::js || kind == ModuleKind::php || kind == ModuleKind::ruby ||
           kind == ModuleKind::perl || kind == ModuleKind::jit;
}

bool is_chosen(const SymbolTables& symbols, FunctionId function, FrameChoice choice) {
    return choice == FrameChoice::all ||
           (choice == FrameChoice::language) == is_of_language(symbols, function);
}

void keep_chosen(const SymbolTables& symbols, FrameChoice choice, std::vector<FunctionId>& path) {
    if (choice != FrameChoice::all)
        std::erase_if(path, [&](FunctionId f) { return !is_chosen(symbols, f, choice); });
}

} // namespace auger
