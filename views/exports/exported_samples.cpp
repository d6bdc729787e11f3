// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/exports/exported_samples.h"

#include <algorithm>

namespace auger {

std::vector<ExportedSamples::Shown> ExportedSamples::find_shown() const {
    std::vector<Shown> shown;
    SamplePass pass(model_, query_.window, query_.filter);
    while (pass.work(SIZE_MAX, [&](size_t i, CallClass call_class, double factor) {
        shown.push_back({static_cast<uint32_t>(i), call_class, factor});
    }))
        ;
    const uint64_t* times = model_.samples().times();
    std::ranges::stable_sort(shown, {}, [&](const Shown& one) { return times[one.index]; });
    return shown;
}

bool ExportedSamples::expand(const StoredSample& sample) {
    const SymbolTables& symbols = model_.symbols();
    frames_.clear();
    const auto stack = symbols.stack(sample.stack);
    symbols.for_each_frame(stack, [&](size_t place, const FrameEntry& entry) {
        if (is_chosen(symbols, entry.function, query_.frames))
            frames_.push_back({stack[place], place, &entry});
    });
    if (query_.under.empty())
        return true;
    path_.clear();
    for (auto frame = frames_.rbegin(); frame != frames_.rend(); ++frame)
        path_.push_back(frame->entry->function);
    const std::string label = query_.by.label(model_, sample.thread, sample.stack, sample.cpu);
    if (!under_.cut(label, path_))
        return false;
    frames_.resize(path_.size()); // callers are at the end
    return true;
}

} // namespace auger
