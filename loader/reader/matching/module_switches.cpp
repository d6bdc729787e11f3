// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/reader/matching/module_switches.h"

#include "loader/reader/tables/frame_sections.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace auger {
namespace {

using Verdict = ModuleSwitches::Verdict;
using Kind = CodeToRead::Kind;

constexpr uint64_t most_code = 128 << 20; // bytes; reading them takes some seconds

struct Function {
    uint64_t begin, end; // as linked
    bool part;           // its frame pointer is set up already where it begins
};

// Those that call frame information tells of: compilers write it for all that they make.
std::vector<Function> functions_of(const ElfFile& file) {
    std::vector<Function> functions;
    const FrameSections frames = FrameSections::read(file);
    for (const FrameSection& section : frames.sections) {
        CallFrameInformation information(section.content, section.kind, section.bases);
        while (const auto function = information.next()) {
            FrameProgram program = function->program();
            FrameRow first;
            const bool part = program.next(first) && first.address == function->begin &&
                              first.rule.cfa == WIRE_CFA_REGISTER &&
                              first.rule.cfa_register == register_frame;
            functions.push_back({function->begin, function->end, part});
        }
    }
    std::ranges::sort(functions, {}, &Function::begin);
    return functions;
}

class Reading {
  public:
    explicit Reading(const ElfFile& file) : file_(file), functions_(functions_of(file)) {
        for (const ElfFunction& symbol : file.functions())
            begins_.push_back(symbol.address);
        begins_.push_back(file.entry());
        std::ranges::sort(begins_);
    }

    ModuleSwitches run() {
        uint64_t code = 0;
        for (const auto& [begin, end] : file_.code_ranges()) {
            code += end - begin;
            if (code > most_code)
                return {Verdict::too_much};
        }
        if (code == 0)
            return {Verdict::unreadable};
        for (const auto& [begin, end] : file_.code_ranges()) {
            bytes_ = file_.read_code(begin, end - begin);
            base_ = begin;
            if (bytes_.size() != end - begin)
                return {Verdict::unreadable};
            if (const auto found = read_range(begin, end))
                return {Verdict::found, *found};
        }
        return {Verdict::none};
    }

  private:
    std::optional<StackSwitch> read_range(uint64_t begin, uint64_t end) {
        uint64_t at = begin; // all before it was read
        auto next = std::ranges::lower_bound(functions_, begin, {}, &Function::begin);
        for (; next != functions_.end() && next->begin < end; ++next) {
            if (auto found = read_gap(at, next->begin))
                return found;
            const uint64_t from = std::max(at, next->begin), to = std::min(next->end, end);
            // Two that overlap agree on nothing.
            const Kind kind = from != next->begin ? Kind::unknown_code
                              : next->part        ? Kind::part
                                                  : Kind::function;
            if (auto found = read(from, to, kind))
                return found;
            at = std::max(at, to);
        }
        return read_gap(at, end);
    }

    std::optional<StackSwitch> read_gap(uint64_t begin, uint64_t end) {
        for (auto next = std::ranges::upper_bound(begins_, begin);
             next != begins_.end() && *next < end; ++next) {
            if (auto found = read(begin, *next, Kind::unknown_code))
                return found;
            begin = *next;
        }
        return read(begin, end, Kind::unknown_code);
    }

    std::optional<StackSwitch> read(uint64_t begin, uint64_t end, Kind kind) {
        if (begin >= end)
            return std::nullopt;
        const auto bytes = Bytes(bytes_).subspan(begin - base_, end - begin);
        return find_stack_switch({{begin, bytes}, kind});
    }

    const ElfFile& file_;
    std::vector<Function> functions_;
    std::vector<uint64_t> begins_; // of what may be functions, as symbols say
    std::vector<std::byte> bytes_; // of one range of code
    uint64_t base_ = 0;
};

std::string place(const ElfFile& file, uint64_t address) {
    const auto& functions = file.functions();
    auto behind = std::ranges::upper_bound(functions, address, {}, &ElfFunction::address);
    if (behind != functions.begin() && !std::prev(behind)->name.empty())
        return fmt::format("in {} (0x{:x})", std::prev(behind)->name, address);
    return fmt::format("at 0x{:x}", address);
}

} // namespace

ModuleSwitches find_switches(const ElfFile& file) {
    return Reading(file).run();
}

std::string text_of(const ModuleSwitches& switches, const ElfFile& file) {
    switch (switches.verdict) {
    case Verdict::none:
        return {};
    case Verdict::too_much:
        return "has more code than is read";
    case Verdict::unreadable:
        return "has code that could not be read";
    case Verdict::found:
        break;
    }
    const std::string where = place(file, switches.at.address);
    switch (switches.at.cause) {
    case StackSwitch::Cause::loads_stack_pointer:
        return "loads the stack pointer " + where + ", which may be a switch of stacks";
    case StackSwitch::Cause::system_call:
        return "makes a system call of its own " + where + ", which may be a switch of stacks";
    case StackSwitch::Cause::no_code:
        return "has bytes that are no code " + where;
    }
    return {};
}

} // namespace auger
