// SPDX-License-Identifier: GPL-3.0-or-later
#include "bench/stack_shares.h"

#include "loader/symbols/symbolizer.h"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

namespace auger::bench {

namespace {

// The first functions of processes and threads: of the C library, ld.so, and Go's runtime.
constexpr std::array<std::string_view, 14> beginnings = {
    "_start",
    "_dl_start_user",
    "__clone3",
    "clone3",
    "__clone",
    "clone",
    "__libc_start_call_main",
    "_rt0_amd64_linux",
    "runtime.rt0_go",
    "runtime.goexit",
    "runtime.mstart",
    "runtime.clone",
    "runtime.mcall",
    "runtime.morestack", // of a goroutine that has been preempted
};

bool is_beginning(std::string_view function) {
    if (function.ends_with(".abi0"))
        function.remove_suffix(5);
    return std::ranges::find(beginnings, function) != beginnings.end();
}

bool is_user_code(ModuleKind kind) {
    return kind == ModuleKind::file || kind == ModuleKind::vdso || kind == ModuleKind::jit ||
           kind == ModuleKind::unknown;
}

} // namespace

StackShares stack_shares(const Model& model, const std::string& process, uint64_t from_ns) {
    StackShares shares;
    const SymbolTables& symbols = model.symbols();
    const SampleStore& store = model.samples();
    for (size_t i = 0; i < store.size(); i++) {
        if (store.times()[i] < from_ns || model.process_name(store.threads()[i]) != process)
            continue;
        uint64_t depth = 0;
        std::string_view outermost, cause;
        bool outermost_named = false;
        for (const LocationId location : symbols.stack(store.stacks()[i])) {
            const FunctionId function = symbols.frames(location).back().function;
            const ModuleInfo& module = symbols.module(symbols.function(function).module);
            const std::string_view name = symbols.name(function);
            if (module.kind == ModuleKind::cut)
                cause = name;
            if (!is_user_code(module.kind))
                continue;
            depth++;
            outermost = name;
            outermost_named = name != unknown_name &&
                              !name.starts_with(std::string(base_name(module.path)) + "+0x");
            shares.named += outermost_named;
        }
        if (depth == 0)
            continue;
        shares.samples++;
        shares.frames += depth;
        shares.depths.push_back(static_cast<double>(depth));
        if (!cause.empty()) {
            shares.cut[std::string(cause)]++;
            shares.cut_at[std::string(cause) + " " + std::string(outermost)]++;
            continue;
        }
        shares.whole++;
        if (!outermost_named)
            continue;
        shares.named_beginnings++;
        if (is_beginning(outermost))
            shares.known_beginnings++;
        else
            shares.other_beginnings[std::string(outermost)]++;
    }
    return shares;
}

} // namespace auger::bench
