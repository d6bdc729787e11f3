// SPDX-License-Identifier: GPL-3.0-or-later
// The index is two arrays: functions by address, and symbol numbers by name.
#include "loader/reader/elf/function_index.h"

#include <algorithm>
#include <numeric>

namespace auger {
namespace {

bool all_digits(std::string_view text) {
    return !text.empty() &&
           std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

bool clone_word(std::string_view word) {
    return word == "constprop" || word == "isra" || word == "part" || word == "lto_priv" ||
           word == "localalias" || word == "llvm";
}

} // namespace

CloneName split_clone_name(std::string_view name) {
    CloneKind kind = CloneKind::none;
    for (;;) {
        size_t dot = name.rfind('.');
        if (dot == name.npos || dot == 0)
            return {name, kind};
        std::string_view word = name.substr(dot + 1);
        size_t start = dot;
        if (all_digits(word)) {
            start = name.rfind('.', dot - 1);
            if (start == name.npos || start == 0)
                return {name, kind};
            word = name.substr(start + 1, dot - start - 1);
        }
        if (word == "cold")
            kind = CloneKind::cold;
        else if (!clone_word(word))
            return {name, kind};
        else if (kind == CloneKind::none)
            kind = CloneKind::entry;
        name = name.substr(0, start);
    }
}

FunctionIndex::FunctionIndex(std::shared_ptr<const ElfFile> file,
                             std::shared_ptr<const ElfFile> debug_file)
    : file_(std::move(file)), symbols_(debug_file ? std::move(debug_file) : file_) {
    const std::vector<ElfFunction>& symbols = symbols_->functions();
    for (uint32_t i = 0; i < symbols.size(); ++i) {
        if (functions_.empty() || functions_.back().address != symbols[i].address)
            functions_.push_back({symbols[i].address, 0, i, 0, false, false});
        Function& function = functions_.back();
        function.size = std::max(function.size, symbols[i].size);
        function.ifunc |= symbols[i].ifunc;
        ++function.name_count;
    }
    for (size_t i = 0; i < functions_.size(); ++i) {
        Function& function = functions_[i];
        uint64_t room = file_->code_end(function.address) - function.address;
        if (function.size == 0) {
            function.size_guessed = true;
            function.size =
                i + 1 < functions_.size() ? functions_[i + 1].address - function.address : room;
        }
        function.size = std::min(function.size, room);
    }
    // What lies in no segment has no code.
    std::erase_if(functions_, [](const Function& function) { return function.size == 0; });

    by_name_.resize(symbols.size());
    std::iota(by_name_.begin(), by_name_.end(), 0);
    std::sort(by_name_.begin(), by_name_.end(),
              [&](uint32_t a, uint32_t b) { return symbols[a].name < symbols[b].name; });
}

std::span<const ElfFunction> FunctionIndex::names(const Function& function) const {
    return {symbols_->functions().data() + function.first_name, function.name_count};
}

std::string_view FunctionIndex::best_name(const Function& function) const {
    std::span<const ElfFunction> all = names(function);
    return std::min_element(all.begin(), all.end(),
                            [](const ElfFunction& a, const ElfFunction& b) {
                                if (a.global != b.global)
                                    return a.global;
                                return a.name.size() < b.name.size();
                            })
        ->name;
}

const FunctionIndex::Function* FunctionIndex::at(uint64_t address) const {
    auto found = std::lower_bound(
        functions_.begin(), functions_.end(), address,
        [](const Function& function, uint64_t value) { return function.address < value; });
    return found != functions_.end() && found->address == address ? &*found : nullptr;
}

const FunctionIndex::Function* FunctionIndex::containing(uint64_t address) const {
    auto after = std::upper_bound(
        functions_.begin(), functions_.end(), address,
        [](uint64_t value, const Function& function) { return value < function.address; });
    // A short function may lie inside a longer one (several entries of one assembly routine): the
    // innermost wins, and a few steps back are enough in every honest file.
    for (int steps = 0; after != functions_.begin() && steps < 16; ++steps) {
        --after;
        if (address - after->address < after->size)
            return &*after;
    }
    return nullptr;
}

std::vector<const FunctionIndex::Function*> FunctionIndex::named(std::string_view mangled) const {
    const std::vector<ElfFunction>& symbols = symbols_->functions();
    std::vector<const Function*> found;
    auto first =
        std::lower_bound(by_name_.begin(), by_name_.end(), mangled,
                         [&](uint32_t i, std::string_view name) { return symbols[i].name < name; });
    for (; first != by_name_.end() && symbols[*first].name == mangled; ++first)
        if (const Function* function = at(symbols[*first].address))
            found.push_back(function);
    return found;
}

std::vector<const FunctionIndex::Function*>
FunctionIndex::cold_candidates(const Function& function) const {
    const std::vector<ElfFunction>& symbols = symbols_->functions();
    std::vector<const Function*> found;
    for (const ElfFunction& name : names(function)) {
        std::string prefix = std::string(name.name) + ".cold";
        auto first = std::lower_bound(
            by_name_.begin(), by_name_.end(), std::string_view(prefix),
            [&](uint32_t i, std::string_view text) { return symbols[i].name < text; });
        for (; first != by_name_.end() && symbols[*first].name.starts_with(prefix); ++first) {
            std::string_view rest = symbols[*first].name.substr(prefix.size());
            if (!rest.empty() && (rest[0] != '.' || !all_digits(rest.substr(1))))
                continue;
            const Function* part = at(symbols[*first].address);
            if (part && std::find(found.begin(), found.end(), part) == found.end())
                found.push_back(part);
        }
    }
    return found;
}

} // namespace auger
