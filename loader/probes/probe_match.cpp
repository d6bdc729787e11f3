// SPDX-License-Identifier: GPL-3.0-or-later
// Finding names comes first and costs little; only what was found is read and analysed.
#include "loader/probes/probe_match.h"

#include "loader/code/outlined_parts.h"
#include "loader/probes/inlined_copies.h"
#include "loader/probes/module_name.h"
#include "loader/probes/name_matcher.h"
#include "loader/symbols/demangle.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <variant>

namespace auger {
namespace {

constexpr uint64_t function_size_limit = uint64_t{8} << 20; // bytes; nobody writes larger ones

struct Candidate {
    size_t module;
    const FunctionIndex::Function* function;
    std::string_view symbol; // the name that matched
};

Error not_found(const ProbePattern& pattern, std::string cause, std::string hint) {
    return {"find function", pattern.text, std::move(cause), std::move(hint), Error::Kind::failed};
}

std::string join(const std::vector<std::string>& names) {
    return fmt::format("{}", fmt::join(names, ", "));
}

std::vector<Candidate> find_in(size_t number, const ProbeModule& module,
                               const NameMatcher& matcher) {
    std::vector<Candidate> found;
    for (const FunctionIndex::Function& function : module.index->functions()) {
        for (const ElfFunction& symbol : module.index->names(function)) {
            CloneName clone = split_clone_name(symbol.name);
            if (clone.kind != CloneKind::cold && matcher.matches(clone.base)) {
                found.push_back({number, &function, symbol.name});
                break;
            }
        }
    }
    return found;
}

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
    FunctionReader(const FunctionIndex& index, const FunctionIndex::Function& function)
        : index_(index), function_(function) {}

    FunctionBytes read() const {
        const ElfFile& file = index_.file();
        FunctionBytes bytes;
        bytes.body = file.read_code(function_.address, function_.size);
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
            if (part->size > function_size_limit)
                continue;
            if (!shared || leads_into(targets, part->address, part->size) ||
                leads_into(leaving_jumps(
                               {part->address, index_.file().read_code(part->address, part->size)}),
                           function_.address, function_.size))
                own.push_back({part->address, part->size});
        }
        return own;
    }

    static bool leads_into(const std::vector<uint64_t>& targets, uint64_t address, uint64_t size) {
        auto first = std::lower_bound(targets.begin(), targets.end(), address);
        return first != targets.end() && *first - address < size;
    }

    const FunctionIndex& index_;
    const FunctionIndex::Function& function_;
};

// Names by which the variants that an ifunc chooses from may be known: they hold its name.
std::vector<std::string> implementations(const FunctionIndex& index, std::string_view name) {
    std::vector<std::string> names;
    for (const ElfFunction& symbol : index.file().functions())
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
    return join(near);
}

void add_notes(FunctionMatch& match, const FunctionIndex& index, const Candidate& candidate) {
    std::vector<std::string> aliases;
    for (const ElfFunction& symbol : index.names(*candidate.function))
        if (symbol.name != candidate.symbol && aliases.size() < 4)
            aliases.push_back(demangle(symbol.name));
    if (!aliases.empty())
        match.notes.push_back("also named " + join(aliases));
    CloneName clone = split_clone_name(candidate.symbol);
    if (clone.kind == CloneKind::entry)
        match.notes.push_back(fmt::format("a compiler's clone ({}) of the function",
                                          candidate.symbol.substr(clone.base.size())));
    size_t jumps = 0, to_itself = 0;
    for (const ExitPlace& exit : match.exits) {
        jumps += exit.code.kind == ExitKind::jump && !exit.code.to_itself;
        to_itself += exit.code.to_itself;
    }
    if (jumps > 0)
        match.notes.push_back(
            fmt::format("{} of {} exits are tail calls, which end the call at the jump", jumps,
                        match.exits.size()));
    if (to_itself > 0)
        match.notes.push_back("calls itself by a jump: each turn counts as a call");
    if (match.whole_function && match.exits.empty())
        match.notes.push_back("never returns: its calls have no duration");
}

using Outcome = std::variant<FunctionMatch, SkippedFunction>;

Outcome place(const Candidate& candidate, const ProbeModule& module, uint64_t offset) {
    const FunctionIndex& index = *module.index;
    const FunctionIndex::Function& function = *candidate.function;
    const ElfFile& file = index.file();
    std::string name = demangle(candidate.symbol);
    auto skip = [&](std::string reason) -> Outcome {
        return SkippedFunction{candidate.module, name, std::move(reason)};
    };
    if (function.ifunc) {
        std::vector<std::string> variants = implementations(index, candidate.symbol);
        return skip(
            "is an ifunc: the program chooses an implementation when it starts; probe that" +
            (variants.empty() ? std::string() : ", one of " + join(variants)));
    }
    if (function.size > function_size_limit)
        return skip("is larger than 8 MB");
    std::optional<uint64_t> first_offset = file.offset_of_address(function.address);
    if (!first_offset)
        return skip("has no code in the file");
    if (offset != 0 && offset >= function.size)
        return skip(
            fmt::format("+{:#x} is behind its end: it has {:#x} bytes", offset, function.size));

    FunctionBytes bytes = FunctionReader(index, function).read();
    std::vector<CodePart> cold = bytes.cold_parts();
    Result<FunctionCode> analysed =
        analyse_function({function.address, bytes.body}, cold, [&](uint64_t address, size_t size) {
            return file.read_code(address, size);
        });
    if (!analysed)
        return skip(analysed.error().cause +
                    (analysed.error().hint.empty() ? "" : "; " + analysed.error().hint));
    FunctionCode& code = *analysed;

    FunctionMatch match{};
    match.module = candidate.module;
    match.name = std::move(name);
    match.mangled = candidate.symbol;
    match.address = function.address;
    match.size = function.size;
    match.file_offset = *first_offset;
    match.whole_function = offset == 0;
    if (file.is_go())
        match.no_return_probe = "Go moves its stacks and checks return addresses";
    if (offset != 0) {
        uint64_t address = function.address + offset;
        if (!code.is_boundary(address))
            return skip(fmt::format("+{:#x} is in the middle of an instruction; the nearest ones "
                                    "begin at {}",
                                    offset, nearest_boundaries(code, function.address, address)));
        std::optional<Instruction> instruction =
            decode(std::span(bytes.body).subspan(offset), address);
        if (!instruction || instruction->cost == ProbeCost::refused)
            return skip(
                fmt::format("the kernel takes no probe on the instruction at +{:#x}", offset));
        // Linux turns it into a call, which overwrites what leaf code keeps below its stack.
        if (instruction->nop5)
            return skip(fmt::format("a probe on the 5-byte nop at +{:#x} could overwrite data on "
                                    "its stack",
                                    offset));
        match.entry = {address, *first_offset + offset, instruction->cost};
        add_notes(match, index, candidate);
        return match;
    }
    std::optional<uint64_t> entry_offset = file.offset_of_address(code.entry);
    if (!entry_offset)
        return skip("has no code in the file");
    match.entry = {code.entry, *entry_offset, code.entry_cost};
    for (const CodeExit& exit : code.exits)
        if (std::optional<uint64_t> exit_offset = file.offset_of_address(exit.address))
            match.exits.push_back({exit, *exit_offset});
    add_notes(match, index, candidate);
    return match;
}

// Modules that the pattern speaks of, in the order in which they are searched.
std::vector<size_t> modules_of(const ProbePattern& pattern, std::span<const ProbeModule> modules) {
    std::vector<size_t> numbers;
    for (size_t i = 0; i < modules.size(); ++i) {
        if (pattern.library.empty() ||
            module_matches(pattern.library, modules[i].index->file(), modules[i].path))
            numbers.push_back(i);
    }
    std::stable_partition(numbers.begin(), numbers.end(),
                          [&](size_t i) { return modules[i].main_program; });
    return numbers;
}

Error no_such_library(const ProbePattern& pattern, std::span<const ProbeModule> modules) {
    std::vector<std::string> names;
    for (const ProbeModule& module : modules)
        if (names.size() < 8)
            names.emplace_back(module_base_name(module.path));
    return not_found(pattern, "no mapped file is named " + pattern.library,
                     names.empty() ? "" : "mapped are " + join(names));
}

Error no_such_function(const ProbePattern& pattern, std::span<const ProbeModule> modules,
                       const std::vector<size_t>& searched) {
    size_t copies = 0;
    size_t functions = 0;
    for (size_t i : searched) {
        functions += modules[i].index->functions().size();
        if (modules[i].main_program || !pattern.library.empty())
            copies += count_inlined_copies(modules[i].index->file(), pattern);
    }
    if (copies > 0)
        return not_found(pattern,
                         fmt::format("exists only inlined ({} {}), so it has no entry to probe",
                                     copies, copies == 1 ? "copy" : "copies"),
                         "probe the function that it was inlined into");
    if (functions == 0)
        return not_found(pattern, "the program has no symbols",
                         "it is stripped: probe an address (0x...) or a library function");
    std::vector<std::string> near = near_matches(pattern, modules);
    return not_found(pattern, "no such function",
                     near.empty() ? "" : "did you mean " + join(near) + "?");
}

// The candidate for an address, with the offset in its function.
Result<std::pair<Candidate, uint64_t>> at_address(const ProbePattern& pattern,
                                                  std::span<const ProbeModule> modules,
                                                  const std::vector<size_t>& searched) {
    for (size_t i : searched) {
        if (pattern.library.empty() && !modules[i].main_program)
            continue;
        const FunctionIndex& index = *modules[i].index;
        if (const FunctionIndex::Function* function = index.containing(*pattern.address))
            return std::pair{Candidate{i, function, index.best_name(*function)},
                             *pattern.address - function->address};
    }
    return not_found(pattern, "no known function holds this address",
                     "addresses are as linked, not as mapped");
}

} // namespace

Result<ProbeMatches> match_probe(const ProbePattern& pattern, std::span<const ProbeModule> modules,
                                 const MatchOptions& options) {
    std::vector<size_t> searched = modules_of(pattern, modules);
    if (searched.empty() && !pattern.library.empty())
        return no_such_library(pattern, modules);

    std::vector<Candidate> candidates;
    uint64_t offset = pattern.offset;
    if (pattern.address) {
        auto found = at_address(pattern, modules, searched);
        if (!found)
            return found.error();
        candidates.push_back(found->first);
        offset = found->second;
    } else {
        NameMatcher matcher(pattern);
        for (size_t i : searched) {
            // The main program comes first and hides libraries, unless one is named.
            if (pattern.library.empty() && !modules[i].main_program && !candidates.empty() &&
                modules[candidates.front().module].main_program)
                break;
            std::vector<Candidate> found = find_in(i, modules[i], matcher);
            candidates.insert(candidates.end(), found.begin(), found.end());
        }
    }
    if (candidates.empty())
        return no_such_function(pattern, modules, searched);
    if (candidates.size() > options.limit)
        return not_found(pattern,
                         fmt::format("matches {} functions, more than the limit of {}",
                                     candidates.size(), options.limit),
                         "write a narrower pattern");

    ProbeMatches result;
    std::vector<std::string> places;
    for (const Candidate& candidate : candidates) {
        Outcome outcome = place(candidate, modules[candidate.module], offset);
        if (auto* skipped = std::get_if<SkippedFunction>(&outcome)) {
            result.skipped.push_back(std::move(*skipped));
            continue;
        }
        result.functions.push_back(std::move(std::get<FunctionMatch>(outcome)));
        std::string file(module_base_name(modules[candidate.module].path));
        if (!modules[candidate.module].main_program &&
            std::find(places.begin(), places.end(), file) == places.end())
            places.push_back(std::move(file));
    }
    if (result.functions.empty()) {
        const SkippedFunction& first = result.skipped.front();
        std::string more =
            result.skipped.size() > 1
                ? fmt::format("{} more cannot be probed either", result.skipped.size() - 1)
                : "";
        return Error{"probe", first.name, first.reason, std::move(more), Error::Kind::failed};
    }
    if (pattern.library.empty() && !places.empty())
        result.notes.push_back("found in " + join(places));
    return result;
}

} // namespace auger
