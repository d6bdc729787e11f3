// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/screen/flame_colours.h"

#include <array>
#include <functional>

namespace auger {

FlameColours effective(FlameColours colours, const Model& model, const SampleSum& whole) {
    if (colours != FlameColours::automatic)
        return colours;
    if (model.split().active && model.split().threshold.kind != Threshold::Kind::none)
        return FlameColours::classes;
    return whole.blocked_ns + whole.runnable_ns > 0 ? FlameColours::waits : FlameColours::modules;
}

FlameColours next_after(FlameColours colours) {
    switch (colours) {
    case FlameColours::waits:
        return FlameColours::classes;
    case FlameColours::classes:
        return FlameColours::modules;
    case FlameColours::modules:
        return FlameColours::languages;
    default:
        return FlameColours::waits;
    }
}

namespace {

constexpr FillName kernel_fill{Fill::module0, "kernel"};
constexpr FillName native_fill{Fill::module1, "native"};
constexpr FillName python_fill{Fill::module2, "Python"};
constexpr FillName generated_fill{Fill::module3, "generated code"};
constexpr FillName java_fill{Fill::module4, "Java"};
constexpr FillName js_fill{Fill::module5, "JavaScript"};
constexpr FillName php_fill{Fill::module6, "PHP"};
constexpr FillName ruby_fill{Fill::module7, "Ruby"};
constexpr FillName perl_fill{Fill::module8, "Perl"};

Fill language_fill(ModuleKind kind) {
    switch (kind) {
    case ModuleKind::file:
    case ModuleKind::go_label:
        return native_fill.fill;
    case ModuleKind::kernel:
    case ModuleKind::vdso:
    case ModuleKind::syscall:
    case ModuleKind::waker:
        return kernel_fill.fill;
    case ModuleKind::python:
    case ModuleKind::task:
        return python_fill.fill;
    case ModuleKind::java:
        return java_fill.fill;
    case ModuleKind::js:
        return js_fill.fill;
    case ModuleKind::php:
        return php_fill.fill;
    case ModuleKind::ruby:
        return ruby_fill.fill;
    case ModuleKind::perl:
        return perl_fill.fill;
    case ModuleKind::jit:
        return generated_fill.fill;
    case ModuleKind::cut:
    case ModuleKind::unknown:
        break;
    }
    return Fill::outside;
}

} // namespace

std::span<const FillName> language_fills() {
    static constexpr std::array all = {kernel_fill, native_fill, python_fill,
                                       java_fill,   js_fill,     php_fill,
                                       ruby_fill,   perl_fill,   generated_fill};
    return all;
}

std::vector<FillShare> fills_of(const Model& model, const FlameTree& tree, uint32_t index,
                                FlameColours colours) {
    const FlameNode& node = tree.nodes[index];
    const ClassSums classes = tree.classes(index);
    const SampleSum sum = classes.sum();
    std::vector<FillShare> shares;
    const double whole = sum.weight_ns;
    if (colours == FlameColours::languages) {
        if (node.depth < 2)
            return {{Fill::outside, 1}};
        const ModuleId module = model.symbols().function(node.function).module;
        return {{language_fill(model.symbols().module(module).kind), 1}};
    }
    if (colours == FlameColours::modules || !(whole > 0)) {
        constexpr std::array<Fill, 6> fills = {Fill::module0, Fill::module1, Fill::module2,
                                               Fill::module3, Fill::module4, Fill::module5};
        if (node.depth < 2)
            return {{Fill::outside, 1}};
        // By the path, not the number: a module keeps its colour from run to run.
        const ModuleId module = model.symbols().function(node.function).module;
        const size_t hash = std::hash<std::string>{}(model.symbols().module(module).path);
        return {{fills[hash % fills.size()], 1}};
    }
    if (colours == FlameColours::classes) {
        constexpr std::array<Fill, call_classes> fills = {Fill::slow, Fill::fast, Fill::open,
                                                          Fill::outside};
        for (CallClass c : all_call_classes)
            shares.push_back({fills[static_cast<size_t>(c)], classes[c].weight_ns / whole});
        return shares;
    }
    return {{Fill::cpu, sum.cpu_ns() / whole},
            {Fill::blocked, sum.blocked_ns / whole},
            {Fill::runnable, sum.runnable_ns / whole}};
}

} // namespace auger
