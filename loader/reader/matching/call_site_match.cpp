// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/reader/matching/call_site_match.h"

#include "loader/probes/module_name.h"
#include "loader/reader/matching/line_match.h"
#include "loader/reader/matching/module_calls.h"
#include "loader/reader/matching/own_functions.h"
#include "loader/reader/matching/wanted_callee.h"
#include "loader/reader/names/demangle.h"
#include "loader/reader/tables/go_runtime.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace auger {
namespace {

constexpr size_t listed_names = 6;

// Decides on the calls that were found, one by one.
class SiteMatcher {
  public:
    // `limit`: functions to which a pointer may point.
    SiteMatcher(const ProbePattern& pattern, std::span<const ProbeModule> modules, size_t limit)
        : pattern_(pattern), modules_(modules), limit_(limit), wanted_(pattern, modules) {}

    ModuleCalls& calls_of(size_t module) {
        return calls_.try_emplace(module, module, modules_[module]).first->second;
    }
    const WantedCallee& wanted() const { return wanted_; }

    // Calls of the function at [low, high). `line` is where they stand, when it is known.
    void look_at(ModuleCalls& calls, const FunctionIndex::Function& function, uint64_t low,
                 uint64_t high, std::string_view file, uint32_t line) {
        const auto& found = calls.in(function);
        const bool nameless = function.name_count == 0;
        const auto place = [&](uint64_t address) { // as stacks show it
            return fmt::format("{}+{:#x}", file_base_name(calls.module().path), address);
        };
        const std::string caller =
            nameless ? place(function.address)
                     : demangle_without_parameters(calls.module().index->best_name(function));
        if (!found) {
            result.skipped.push_back({calls.number(), caller, found.error().cause});
            return;
        }
        for (const CallInstruction& call : *found) {
            // Stubs of the linker's are nothing but jumps, too.
            if (call.address < low || call.address >= high || (nameless && call.jump) ||
                !seen_.insert({calls.number(), call.address}).second)
                continue;
            const Callee callee = calls.callees().of(call);
            const std::string_view name = wanted_.fitting_name(callee, calls.number());
            const std::string inside =
                nameless ? place(call.address)
                         : fmt::format("{}+{:#x}", caller, call.address - function.address);
            if (!name.empty())
                add(calls, call,
                    {demangle_without_parameters(name), wanted_.place(callee, calls.number(), name),
                     caller, std::string(file), line, call.length, call.jump, function.address,
                     std::nullopt},
                    name, inside,
                    callee.ifunc ? "through an ifunc, which chose an implementation at the start"
                                 : "");
            else if (pattern_.line && calls.callees().through_variable(call))
                add_pointer(calls, call, caller, file, line, inside);
            else if (callee.known() && !call.jump)
                others.insert(demangle_without_parameters(callee.names.front()));
        }
    }

    ProbeMatches result;
    std::vector<SkippedPlace> pointers; // calls that might be meant
    std::set<std::string> others;       // whom other calls on the line call

  private:
    // A call that may go to the wanted function: the kernel looks, each time.
    void add_pointer(const ModuleCalls& calls, const CallInstruction& call,
                     const std::string& caller, std::string_view file, uint32_t line,
                     const std::string& inside) {
        const auto skip = [&](std::string reason) {
            pointers.push_back({calls.number(),
                                fmt::format("{} at {}", call.jump ? "jump" : "call", inside),
                                "goes through a pointer (a function pointer or virtual function)" +
                                    std::move(reason)});
        };
        const auto& pointees = wanted_.pointees();
        if (call.jump)
            return skip(" and is a tail call: nothing comes back to this line; time the function "
                        "itself");
        if (!call.operand)
            return skip(" that is thread-local; time the function itself");
        if (pointees.size() > limit_)
            return skip(fmt::format(", and {} matches {} functions, more than the limit of {}",
                                    pattern_.function, pointees.size(), limit_));
        CallSite::Pointer pointer{*call.operand, {}};
        const WantedCallee::Pointee* first = nullptr;
        std::set<std::string> names;
        for (const WantedCallee::Pointee& pointee : pointees) {
            pointer.callees.push_back(pointee.place);
            if (pointee.name.empty())
                continue;
            names.insert(demangle_without_parameters(pointee.name));
            if (!first)
                first = &pointee;
        }
        if (!first)
            return skip(fmt::format(", and no function {} that it may point to is known (not by an "
                                    "ifunc, whose implementations have other names)",
                                    pattern_.function));
        const bool several = names.size() > 1;
        add(calls, call,
            {several ? pattern_.function : *names.begin(),
             several ? std::nullopt : std::optional(first->place), caller, std::string(file), line,
             call.length, false, 0, std::move(pointer)},
            first->name, inside,
            several ? fmt::format("counts calls of any of {} functions", names.size()) : "");
    }

    void add(const ModuleCalls& calls, const CallInstruction& call, CallSite site,
             std::string_view symbol, const std::string& inside, std::string note) {
        const ElfFile& file = calls.module().index->file();
        const std::string where =
            site.line ? fmt::format("{}@{}:{} in {}", site.function, file_base_name(site.file),
                                    site.line, site.caller)
                      : fmt::format("{}@{}", site.function, inside);
        const auto skip = [&](std::string reason) {
            result.skipped.push_back({calls.number(), where, std::move(reason)});
        };
        const auto offset = file.offset_of_address(call.address);
        if (call.jump && !pattern_.line)
            return skip(
                fmt::format("is a tail call: it leaves by a jump, and nothing comes back to "
                            "this line; time {} itself, or name the line",
                            site.function));
        if (call.jump && is_go_code(file, call.address))
            return skip("is a tail call in Go's code");
        if (call.jump && call.conditional && call.condition == no_condition)
            return skip("leaves by a loop or jrcxz instruction");
        if (!offset || call.cost == ProbeCost::refused || !file.is_executable(call.address))
            return skip("the kernel takes no probe on this call instruction");
        if (!call.jump && !call.last && !call.returns)
            return skip("the kernel takes no probe where the call returns to");
        PlaceMatch match{};
        match.kind = PlaceKind::call_site;
        match.module = calls.number();
        match.name = where;
        match.mangled = symbol;
        match.address = call.address;
        match.size = call.length;
        match.file_offset = *offset;
        match.entry = {call.address, *offset, call.cost};
        if (call.conditional)
            match.entry.repeats = call.condition;
        match.in_go = is_go_code(file, call.address);
        if (call.returns)
            if (const auto back = file.offset_of_address(call.returns->address)) {
                CodeExit exit{};
                exit.address = call.returns->address;
                exit.cost = call.returns->cost;
                exit.condition = no_condition;
                match.exits.push_back({exit, *back});
            }
        if (call.last && !call.jump)
            match.notes.push_back("never returns: its calls have no duration");
        if (!note.empty())
            match.notes.push_back(std::move(note));
        match.site = std::move(site);
        result.places.push_back(std::move(match));
    }

    const ProbePattern& pattern_;
    std::span<const ProbeModule> modules_;
    size_t limit_;
    WantedCallee wanted_;
    std::map<size_t, ModuleCalls> calls_;
    std::set<std::pair<size_t, uint64_t>> seen_;
};

// Lines of the same file from which the function is called.
std::set<uint32_t> calling_lines(SiteMatcher& matcher, const std::vector<LineInModule>& lines) {
    std::set<uint32_t> found;
    for (const LineInModule& line : lines) {
        ModuleCalls& calls = matcher.calls_of(line.module);
        std::set<const FunctionIndex::Function*> functions;
        for (const LineBlock& block : line.table->blocks_of(line.line.file))
            if (const auto* function = calls.module().index->containing(block.low))
                functions.insert(function);
        for (const auto* function : functions) {
            const auto& all = calls.in(*function);
            if (!all)
                continue;
            for (const CallInstruction& call : *all) {
                const auto at = line.table->line_at(call.address);
                if (at && at->file == line.line.file &&
                    !matcher.wanted().fitting_name(calls.callees().of(call), line.module).empty())
                    found.insert(at->line);
            }
        }
    }
    return found;
}

Error not_called(const ProbePattern& pattern, SiteMatcher& matcher,
                 const std::vector<LineInModule>& lines) {
    const std::set<uint32_t> near = calling_lines(matcher, lines);
    std::vector<std::string> said;
    if (!near.empty())
        said.push_back(fmt::format("it is called on line {}", fmt::join(near, ", ")));
    std::vector<std::string> others;
    for (const std::string& name : matcher.others)
        if (others.size() < listed_names)
            others.push_back(name);
    if (!others.empty())
        said.push_back(fmt::format("line {} calls {}", pattern.line, fmt::join(others, ", ")));
    return not_found(pattern,
                     fmt::format("line {} has no call of {}", pattern.line, pattern.function),
                     fmt::format("{}", fmt::join(said, "; ")));
}

// Calls from one line.
std::optional<Error> match_lines(const ProbePattern& pattern, std::span<const ProbeModule> modules,
                                 SiteMatcher& matcher, bool& absent) {
    auto lines = find_line(pattern, modules, absent);
    if (!lines)
        return lines.error();
    for (const LineInModule& line : *lines) {
        ModuleCalls& calls = matcher.calls_of(line.module);
        const FunctionIndex& index = *modules[line.module].index;
        for (const LineBlock& block : line.blocks) {
            // A block may lead from one function into the next.
            for (uint64_t at = block.low; at < block.high;) {
                const FunctionIndex::Function* function = index.containing(at);
                if (!function)
                    break;
                matcher.look_at(calls, *function, at, block.high, line.table->path(line.line.file),
                                pattern.line);
                at = function->address + function->size;
            }
        }
    }
    if (matcher.result.places.empty() && matcher.result.skipped.empty() && matcher.pointers.empty())
        return not_called(pattern, matcher, *lines);
    matcher.result.skipped.insert(matcher.result.skipped.end(), matcher.pointers.begin(),
                                  matcher.pointers.end());
    matcher.result.notes = file_notes(pattern, *lines);
    return std::nullopt;
}

// Of code of which only call frame information says where its functions are: of stripped files all
// that is not exported. By address.
std::vector<FunctionIndex::Function> nameless_functions(const ProbeModule& module) {
    std::vector<FunctionIndex::Function> nameless;
    const auto collect = [&](const OwnFunctions& own) {
        for (const auto& [begin, end] : own.all())
            if (end > begin && !module.index->containing(begin))
                nameless.push_back({begin, end - begin, 0, 0, false, false});
    };
    if (module.debug)
        collect(module.debug->own_functions()); // read once
    else
        collect(OwnFunctions(module.index->file()));
    return nameless;
}

// Calls from anywhere: in the main program, or in libraries when it has none.
std::optional<Error> match_everywhere(const ProbePattern& pattern,
                                      std::span<const ProbeModule> modules, SiteMatcher& matcher,
                                      bool explain, bool& absent) {
    for (const bool main_programs : {true, false}) {
        for (size_t i = 0; i < modules.size(); ++i) {
            if (modules[i].main_program != main_programs || !modules[i].searched)
                continue;
            ModuleCalls& calls = matcher.calls_of(i);
            const Result<std::shared_ptr<const LineTable>>* lines =
                modules[i].debug ? &modules[i].debug->lines() : nullptr;
            const auto look = [&](const FunctionIndex::Function& function) {
                if (!calls.may_call(function, matcher.wanted()))
                    return;
                const auto& found = calls.in(function);
                for (size_t c = 0; found && c < found->size(); ++c) {
                    const uint64_t address = (*found)[c].address;
                    const auto at = lines && *lines ? (**lines)->line_at(address) : std::nullopt;
                    matcher.look_at(calls, function, address, address + 1,
                                    at ? std::string_view((**lines)->path(at->file)) : "",
                                    at ? at->line : 0);
                }
            };
            std::ranges::for_each(modules[i].index->functions(), look);
            std::ranges::for_each(nameless_functions(modules[i]), look);
        }
        if (!matcher.result.places.empty() || !matcher.result.skipped.empty())
            return std::nullopt;
    }
    absent = true;
    std::vector<std::string> near;
    if (explain)
        near = near_matches(pattern, modules);
    return not_found(pattern, "nothing in the target calls " + pattern.function,
                     near.empty() ? "calls through pointers cannot be seen in the code"
                                  : fmt::format("near names: {}", fmt::join(near, ", ")));
}

} // namespace

Result<ProbeMatches> match_call_sites(const ProbePattern& pattern,
                                      std::span<const ProbeModule> modules,
                                      const MatchOptions& options, bool& absent) {
    SiteMatcher matcher(pattern, modules, options.limit);
    const auto error = pattern.line
                           ? match_lines(pattern, modules, matcher, absent)
                           : match_everywhere(pattern, modules, matcher, options.explain, absent);
    if (error)
        return *error;
    ProbeMatches& result = matcher.result;
    if (result.places.size() > options.limit)
        return not_found(pattern,
                         fmt::format("has {} call sites, more than the limit of {}",
                                     result.places.size(), options.limit),
                         "name a line");
    std::sort(result.places.begin(), result.places.end(),
              [](const PlaceMatch& a, const PlaceMatch& b) {
                  return std::pair(a.module, a.address) < std::pair(b.module, b.address);
              });
    if (pattern.line && result.places.size() > 1)
        result.notes.push_back(fmt::format(
            "{} call instructions of this line, each counted by itself", result.places.size()));
    return std::move(result);
}

} // namespace auger
