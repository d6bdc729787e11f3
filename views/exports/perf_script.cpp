// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/exports/perf_script.h"

#include "views/exports/exported_samples.h"
#include "views/frame_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

namespace auger {

namespace {

constexpr std::array<std::string_view, sample_kinds> events = {"cpu", "blocked", "runnable"};

// Importers take what stands in the last parentheses, up to the first blank.
std::string module_text(std::string_view path) {
    std::string text = frame_text(path);
    std::ranges::replace_if(
        text, [](char c) { return c == ' ' || c == '(' || c == ')'; }, '_');
    return text;
}

} // namespace

Result<uint64_t> write_perf_script(const Model& model, const ExportQuery& query, ByteSink& out) {
    const SymbolTables& symbols = model.symbols();
    std::vector<std::string> functions(symbols.functions()); // as text; empty: not yet
    std::vector<std::string> modules;
    const auto module_of = [&](ModuleId id) -> const std::string& {
        if (modules.size() <= id.index())
            modules.resize(id.index() + 1);
        std::string& text = modules[id.index()];
        if (text.empty()) {
            const ModuleInfo& module = symbols.module(id);
            // By perf's name for it, importers know the kernel's frames.
            text =
                module.kind == ModuleKind::kernel ? "[kernel.kallsyms]" : module_text(module.path);
        }
        return text;
    };
    for (const std::string& note : export_notes(model, query))
        out.write("# " + note + "\n");
    uint64_t samples = 0;
    std::string record;
    ExportedSamples(model, query).for_each([&](const ExportedSample& one) {
        const ThreadInfo& thread = symbols.thread(one.sample.thread);
        const uint64_t us = one.sample.time_ns / 1000;
        record.clear();
        fmt::format_to(std::back_inserter(record), "{} {}/{} [{:03}] {}.{:06}: {:10} {}:\n",
                       label_text(thread.comm), thread.pid, thread.tid, one.sample.cpu,
                       us / 1'000'000, us % 1'000'000, std::llround(one.weight_ns),
                       events[static_cast<size_t>(one.sample.kind)]);
        for (const ExportedFrame& frame : one.frames) {
            std::string& name = functions[frame.entry->function.index()];
            if (name.empty())
                name = perf_frame_text(symbols.name(frame.entry->function));
            const ModuleId module = symbols.function(frame.entry->function).module;
            fmt::format_to(std::back_inserter(record), "\t{:16x} {} ({})\n",
                           symbols.location(frame.location).address, name, module_of(module));
        }
        record += '\n';
        out.write(record);
        samples++;
    });
    return samples;
}

} // namespace auger
