// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/reader/matching/wanted_callee.h"

namespace auger {
namespace {

// `__recv_chk` -> `recv`; empty when it is no such name.
std::string_view unfortified(std::string_view name) {
    constexpr std::string_view prefix = "__", suffix = "_chk";
    if (!name.starts_with(prefix) || !name.ends_with(suffix) ||
        name.size() <= prefix.size() + suffix.size())
        return {};
    return name.substr(prefix.size(), name.size() - prefix.size() - suffix.size());
}

} // namespace

WantedCallee::WantedCallee(const ProbePattern& pattern, std::span<const ProbeModule> modules)
    : pattern_(pattern), modules_(modules), matcher_(pattern) {}

std::string_view WantedCallee::fitting_name(const Callee& callee, size_t module) const {
    for (std::string_view name : callee.names) {
        const CloneName clone = split_clone_name(name);
        if (clone.kind == CloneKind::cold)
            continue;
        const std::string_view plain = unfortified(clone.base);
        if ((matcher_.matches(clone.base) || (!plain.empty() && matcher_.matches(plain))) &&
            in_library(callee, module, name))
            return name;
    }
    return {};
}

bool WantedCallee::in_library(const Callee& callee, size_t module, std::string_view name) const {
    if (pattern_.library.empty())
        return true;
    const auto fits = [&](const ProbeModule& candidate) {
        return is_library(pattern_.library, candidate);
    };
    if (callee.address)
        return fits(modules_[module]);
    for (const ProbeModule& candidate : modules_)
        if (fits(candidate) && !candidate.index->named(name).empty())
            return true;
    return false;
}

std::vector<WantedCallee::Pointee> WantedCallee::find_pointees() const {
    std::vector<Pointee> found;
    for (size_t module = 0; module < modules_.size(); ++module) {
        const FunctionIndex& index = *modules_[module].index;
        for (const FunctionIndex::Function& function : index.functions()) {
            Callee callee{{}, function.address, function.ifunc};
            for (const ElfFunction& symbol : index.names(function))
                callee.names.push_back(symbol.name);
            const std::string_view name = fitting_name(callee, module);
            if (!name.empty() && !callee.ifunc)
                found.push_back({{module, function.address}, name});
        }
        const Slots slots(index.file_pointer());
        for (const Slots::Stub& stub : slots.stubs()) {
            if (!fitting_name({{stub.symbol}, 0, false}, module).empty())
                found.push_back({{module, stub.address}, {}});
        }
    }
    return found;
}

const std::vector<WantedCallee::Pointee>& WantedCallee::pointees() const {
    if (!pointees_)
        pointees_ = find_pointees();
    return *pointees_;
}

std::optional<CallSite::Callee> WantedCallee::place(const Callee& callee, size_t module,
                                                    std::string_view name) const {
    if (callee.ifunc)
        return std::nullopt;
    if (callee.address)
        return CallSite::Callee{module, callee.address};
    for (size_t i = 0; i < modules_.size(); ++i)
        for (const FunctionIndex::Function* function : modules_[i].index->named(name))
            if (!function->ifunc)
                return CallSite::Callee{i, function->address};
    return std::nullopt;
}

} // namespace auger
