// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/reader/matching/function_place.h"

#include "loader/reader/code/outlined_parts.h"
#include "loader/reader/matching/callees.h"
#include "loader/reader/matching/function_bytes.h"
#include "loader/reader/matching/tail_ends.h"
#include "loader/reader/names/demangle.h"
#include "loader/reader/tables/go_runtime.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace auger {
namespace {

// What is read of one function before it is analysed.
struct FunctionBytes {
    std::vector<std::byte> body;
    std::vector<CodeRange> cold_ranges;
    std::vector<std::vector<std::byte>> cold;
    std::vector<CodePart> cold_parts() const {
        std::vector<CodePart> parts;
        for (size_t i = 0; i < cold.size(); ++i)
            parts.push_back({cold_ranges[i].address, cold[i]});
        return parts;
    }
};

class FunctionReader {
  public:
    FunctionReader(const ProbeModule& module, const FunctionIndex::Function& function)
        : module_(module), index_(*module.index), function_(function) {}

    Result<FunctionBytes> read() const {
        const ElfFile& file = index_.file();
        FunctionBytes bytes;
        auto body_bytes = read_function(module_, function_);
        if (!body_bytes)
            return body_bytes.error();
        bytes.body = *std::move(body_bytes);
        CodePart body{function_.address, bytes.body};
        bytes.cold_ranges = own_cold_parts(body);
        std::vector<CodeRange> unnamed = find_outlined_parts(
            body, [&](uint64_t address) { return index_.containing(address) != nullptr; },
            [&](uint64_t address, size_t size) { return file.read_code(address, size); });
        bytes.cold_ranges.insert(bytes.cold_ranges.end(), unnamed.begin(), unnamed.end());
        for (const CodeRange& range : bytes.cold_ranges)
            bytes.cold.push_back(file.read_code(range.address, range.size));
        return bytes;
    }

  private:
    // Static functions of one name in several files share the name of their cold parts as well: its
    // own are those that it jumps to or that jump back to it. (A part that handles exceptions is
    // entered by the unwinder only.)
    std::vector<CodeRange> own_cold_parts(const CodePart& body) const {
        std::vector<const FunctionIndex::Function*> candidates = index_.cold_candidates(function_);
        std::vector<CodeRange> own;
        if (candidates.empty())
            return own;
        bool shared = false;
        for (const ElfFunction& symbol : index_.names(function_))
            shared |= index_.named(symbol.name).size() > 1;
        std::vector<uint64_t> targets = leaving_jumps(body);
        for (const FunctionIndex::Function* part : candidates) {
            const auto code = read_function(module_, *part);
            if (!code)
                continue;
            if (!shared || leads_into(targets, part->address, part->size) ||
                leads_into(leaving_jumps({part->address, *code}), function_.address,
                           function_.size))
                own.push_back({part->address, code->size()});
        }
        return own;
    }

    static bool leads_into(const std::vector<uint64_t>& targets, uint64_t address, uint64_t size) {
        auto first = std::lower_bound(targets.begin(), targets.end(), address);
        return first != targets.end() && *first - address < size;
    }

    const ProbeModule& module_;
    const FunctionIndex& index_;
    const FunctionIndex::Function& function_;
};

// Names by which the variants that an ifunc chooses from may be known: they hold its name.
std::vector<std::string> implementations(const FunctionIndex& index, std::string_view name) {
    std::vector<std::string> names;
    for (const ElfFunction& symbol : index.symbols().functions())
        if (!symbol.ifunc && names.size() < 5 && symbol.name.size() > name.size() &&
            symbol.name.find(std::string(name) + "_") != std::string_view::npos)
            names.emplace_back(symbol.name);
    return names;
}

std::string nearest_boundaries(const FunctionCode& code, uint64_t start, uint64_t address) {
    auto after = std::upper_bound(code.boundaries.begin(), code.boundaries.end(), address);
    std::vector<std::string> near;
    if (after != code.boundaries.begin())
        near.push_back(fmt::format("+{:#x}", *std::prev(after) - start));
    if (after != code.boundaries.end() && *after > start)
        near.push_back(fmt::format("+{:#x}", *after - start));
    return fmt::format("{}", fmt::join(near, ", "));
}

// What it jumps to, where the code tells; through the PLT, too.
std::vector<std::string> tail_targets(const PlaceMatch& match, const ProbeModule& module) {
    std::vector<std::string> names;
    std::optional<Callees> imported;
    for (const ExitPlace& exit : match.exits) {
        if (exit.code.kind != ExitKind::jump || exit.code.to_itself || !exit.code.target)
            continue;
        std::string name;
        if (const auto* target = module.index->containing(exit.code.target)) {
            name = demangle_without_parameters(module.index->best_name(*target));
        } else {
            if (!imported)
                imported.emplace(module.index.pointer());
            if (const Callee& callee = imported->at_code(exit.code.target); callee.known())
                name = demangle_without_parameters(callee.names.front());
        }
        if (!name.empty() && names.size() < 4 && std::ranges::find(names, name) == names.end())
            names.push_back(std::move(name));
    }
    return names;
}

void add_notes(PlaceMatch& match, const ProbeModule& module, const FunctionCandidate& candidate) {
    const FunctionIndex& index = *module.index;
    std::vector<std::string> aliases;
    for (const ElfFunction& symbol : index.names(*candidate.function))
        if (symbol.name != candidate.symbol && aliases.size() < 4)
            aliases.push_back(demangle(symbol.name));
    if (!aliases.empty())
        match.notes.push_back("also named " + fmt::format("{}", fmt::join(aliases, ", ")));
    CloneName clone = split_clone_name(candidate.symbol);
    if (clone.kind == CloneKind::entry)
        match.notes.push_back(fmt::format("a compiler's clone ({}) of the function",
                                          candidate.symbol.substr(clone.base.size())));
    size_t jumps = 0, to_itself = 0;
    for (const ExitPlace& exit : match.exits) {
        jumps += exit.code.kind == ExitKind::jump && !exit.code.to_itself;
        to_itself += exit.code.to_itself;
    }
    if (jumps > 0) {
        match.jumps_to = tail_targets(match, module);
        match.notes.push_back(fmt::format(
            "{} of {} exits are tail calls{}", jumps, match.exits.size(),
            match.jumps_to.empty() ? "" : fmt::format(" of {}", fmt::join(match.jumps_to, ", "))));
    }
    if (to_itself > 0)
        match.notes.push_back("calls itself by a jump: each turn counts as a call");
    if (match.kind == PlaceKind::function && match.exits.empty())
        match.notes.push_back("never returns: its calls have no duration");
}

// A function that is looked at: its code is read and analysed once.
class Placing {
  public:
    Placing(const FunctionCandidate& candidate, const ProbeModule& module)
        : candidate_(candidate), module_(module), index_(*module.index), file_(index_.file()),
          function_(*candidate.function), name_(demangle(candidate.symbol)) {}

    PlaceOutcome skip(std::string reason) const {
        return SkippedPlace{candidate_.module, name_, std::move(reason)};
    }

    // What speaks against the function as a whole; nothing when it can be probed.
    std::optional<PlaceOutcome> analyse() {
        if (function_.ifunc) {
            std::vector<std::string> variants = implementations(index_, candidate_.symbol);
            return skip(
                "is an ifunc: the program chooses an implementation when it starts; probe that" +
                (variants.empty() ? std::string()
                                  : fmt::format(", one of {}", fmt::join(variants, ", "))));
        }
        first_offset_ = file_.offset_of_address(function_.address);
        if (!first_offset_ || !file_.is_executable(function_.address))
            return skip("has no code in the file");
        auto bytes = FunctionReader(module_, function_).read();
        if (!bytes)
            return skip(bytes.error().cause +
                        (bytes.error().hint.empty() ? "" : "; " + bytes.error().hint));
        bytes_ = *std::move(bytes);
        std::vector<CodePart> cold = bytes_.cold_parts();
        Result<FunctionCode> analysed = analyse_function(
            {function_.address, bytes_.body}, cold,
            [&](uint64_t address, size_t size) { return file_.read_code(address, size); },
            is_go_code(file_, function_.address));
        if (!analysed)
            return skip(analysed.error().cause +
                        (analysed.error().hint.empty() ? "" : "; " + analysed.error().hint));
        code_ = *std::move(analysed);
        return std::nullopt;
    }

    PlaceOutcome whole() const {
        PlaceMatch match = begin(PlaceKind::function);
        std::optional<EntryPlace> entry = place(code_.entry);
        if (!entry)
            return skip("has no code in the file");
        match.entry = *entry;
        if (code_.argument_entry)
            match.argument_entry = place(*code_.argument_entry);
        match.exits = places(code_.exits);
        match.cheap_exits = places(code_.cheap_exits);
        add_notes(match, module_, candidate_);
        return match;
    }

    PlaceOutcome instruction(uint64_t offset, PlaceKind kind) const {
        if (offset >= function_.size)
            return skip(fmt::format("+{:#x} is behind its end: it has {:#x} bytes", offset,
                                    function_.size));
        PlaceMatch match = begin(kind);
        uint64_t address = function_.address + offset;
        if (!code_.is_boundary(address))
            return skip(fmt::format("+{:#x} is in the middle of an instruction; the nearest ones "
                                    "begin at {}",
                                    offset, nearest_boundaries(code_, function_.address, address)));
        std::optional<Instruction> instruction =
            decode(std::span(bytes_.body).subspan(offset), address);
        if (!instruction || instruction->cost == ProbeCost::refused)
            return skip(
                fmt::format("the kernel takes no probe on the instruction at +{:#x}", offset));
        // Linux turns it into a call, which overwrites what leaf code keeps below its stack.
        if (instruction->nop5)
            return skip(fmt::format("a probe on the 5-byte nop at +{:#x} could overwrite data on "
                                    "its stack",
                                    offset));
        match.entry = {address, *first_offset_ + offset, instruction->cost};
        add_notes(match, module_, candidate_);
        return match;
    }

  private:
    std::optional<EntryPlace> place(const FunctionCode::Entry& entry) const {
        if (auto offset = file_.offset_of_address(entry.address))
            return EntryPlace{entry.address, *offset, entry.cost, entry.repeats};
        return {};
    }

    std::vector<ExitPlace> places(const std::vector<CodeExit>& exits) const {
        std::vector<ExitPlace> all;
        for (const CodeExit& exit : exits)
            if (std::optional<uint64_t> offset = file_.offset_of_address(exit.address))
                all.push_back({exit, *offset});
        return all;
    }

    PlaceMatch begin(PlaceKind kind) const {
        PlaceMatch match{};
        match.kind = kind;
        match.module = candidate_.module;
        match.name = name_;
        match.mangled = candidate_.symbol;
        match.address = function_.address;
        match.size = function_.size;
        match.file_offset = *first_offset_;
        match.in_go = is_go_code(file_, function_.address);
        if (file_.is_go())
            match.no_return_probe = "Go moves its stacks and checks return addresses";
        return match;
    }

    const FunctionCandidate& candidate_;
    const ProbeModule& module_;
    const FunctionIndex& index_;
    const ElfFile& file_;
    const FunctionIndex::Function& function_;
    std::string name_;
    std::optional<uint64_t> first_offset_;
    FunctionBytes bytes_;
    FunctionCode code_;
};

} // namespace

PlaceOutcome place_function(const FunctionCandidate& candidate, const ProbeModule& module) {
    PlaceOutcome outcome = place_code(candidate, module);
    if (auto* const match = std::get_if<PlaceMatch>(&outcome))
        match->tail_ends = find_tail_ends(*match, module);
    return outcome;
}

PlaceOutcome place_code(const FunctionCandidate& candidate, const ProbeModule& module) {
    Placing placing(candidate, module);
    if (auto refused = placing.analyse())
        return *std::move(refused);
    return placing.whole();
}

PlaceOutcome place_instruction(const FunctionCandidate& candidate, const ProbeModule& module,
                               uint64_t offset, PlaceKind kind) {
    Placing placing(candidate, module);
    if (auto refused = placing.analyse())
        return *std::move(refused);
    return placing.instruction(offset, kind);
}

} // namespace auger
