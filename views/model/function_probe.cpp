// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/model/function_probe.h"

#include "views/short_name.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace auger {
namespace {

// "libc.so.6" -> "libc".
std::string library_stem(std::string_view path) {
    const std::string_view file = path.substr(path.rfind('/') + 1);
    const size_t end = file.find(".so");
    if (end == std::string_view::npos || end == 0)
        return {};
    // "libc-2.36.so" goes by its own name.
    return std::string(file.substr(0, end));
}

// Of a function as it was found, which is how probes know it.
const ProbeInfo* probe_of_found(const Model& model, FunctionId id) {
    const Function& function = model.symbols().function(id);
    const std::string_view name = model.symbols().name(id);
    const std::string& module = model.symbols().module(function.module).path;
    const ProbeInfo* found = nullptr;
    for (const auto& [number, probe] : model.probes()) {
        if (probe.deleted)
            continue;
        for (SpecId spec : probe.specs) {
            const SpecInfo& info = model.specs()[spec.index()];
            if (info.way_out.kind() != ObservedExit::Kind::call_site && info.module == module &&
                (info.function == name || info.function == short_name(name)))
                found = &probe;
        }
    }
    return found;
}

bool is_runtime_library(std::string_view path) {
    constexpr std::array<std::string_view, 10> names = {
        "libc.so", "libc-2.",    "ld-linux",     "ld-musl",   "libc.musl",
        "libm.so", "libpthread", "libstdc++.so", "libc++.so", "libgcc_s.so"};
    const std::string_view file = path.substr(path.rfind('/') + 1);
    return std::ranges::any_of(names,
                               [&](std::string_view name) { return file.starts_with(name); });
}

} // namespace

bool is_of_runtime(const SymbolTables& symbols, FunctionId id) {
    const std::string_view name = symbols.name(id);
    return name.starts_with("std::") || name.starts_with("runtime.") ||
           is_runtime_library(symbols.module(symbols.function(id).module).path);
}

bool is_an_address(const SymbolTables& symbols, FunctionId id) {
    const std::string& path = symbols.module(symbols.function(id).module).path;
    const std::string_view file = std::string_view(path).substr(path.rfind('/') + 1);
    const std::string_view name = symbols.name(id);
    return name.starts_with(file) && name.substr(file.size()).starts_with("+0x");
}

const ProbeInfo* probe_of(const Model& model, FunctionId shown) {
    const ProbeInfo* newest = nullptr;
    for (const FunctionId id : model.symbols().found_as(shown)) {
        const ProbeInfo* probe = probe_of_found(model, id);
        if (probe && (!newest || newest->id < probe->id))
            newest = probe;
    }
    return newest;
}

std::string probe_text_of(const Model& model, FunctionId id) {
    if (const ProbeInfo* probe = probe_of_found(model, id))
        return probe->text;
    const Function& function = model.symbols().function(id);
    const std::string library = library_stem(model.symbols().module(function.module).path);
    std::string name(model.symbols().name(id));
    return library.empty() ? name : library + ":" + name;
}

} // namespace auger
