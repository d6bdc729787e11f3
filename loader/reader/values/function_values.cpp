// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/reader/values/function_values.h"

#include "loader/reader/runtimes/read_go.h"
#include "loader/reader/tables/go_runtime.h"
#include "loader/reader/values/calling_convention.h"
#include "loader/reader/values/dwarf_types.h"
#include "loader/reader/values/named_type.h"
#include "loader/reader/values/names.h"
#include "loader/reader/values/tracepoint_values.h"
#include "loader/reader/values/usdt_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace auger {
namespace {

Error no_values(std::string cause, std::string hint = {}) {
    return {{}, {}, std::move(cause), std::move(hint), Error::Kind::failed};
}

bool same_place(const Place& a, const Place& b) {
    return a.base == b.base && a.number == b.number && a.offsets == b.offsets &&
           a.in_memory == b.in_memory;
}

// The name by which a function's symbol says that the compiler changed its parameters.
std::string clone_name(const ElfFile& file, uint64_t address) {
    const auto& functions = file.functions();
    for (auto at = std::lower_bound(
             functions.begin(), functions.end(), address,
             [](const ElfFunction&function, uint64_t value) { return function.address < value; });
         at != functions.end() && at->address == address; ++at)
        for (std::string_view suffix : {".isra.", ".constprop.", ".part."})
            if (at->name.find(suffix) != at->name.npos)
                return std::string(at->name);
    return {};
}

// Its functions are what their names say. A program's own function may be called `read`, too.
bool is_c_library(const ElfFile& file) {
    const std::string_view path = file.name();
    const std::string_view name = path.substr(path.rfind('/') + 1);
    return name.starts_with("libc.so") || name.starts_with("libc-2.") ||
           name.starts_with("libpthread") || name.starts_with("ld-musl-") ||
           name.starts_with("libc.musl-");
}

// Characters, or a pointer to some.
bool is_text(const ValueType& type) {
    const bool of_many =
        type.kind == ValueType::Kind::array || type.kind == ValueType::Kind::pointer;
    return of_many && type.target && type.target->kind == ValueType::Kind::character;
}

} // namespace

FunctionValues::FunctionValues(const ValueScope& scope) : scope_(scope) {
    if (scope.usdt_arguments) {
        no_dwarf_ = no_values("it does not describe USDT probes");
        if (!scope.debug)
            return;
        if (auto dwarf = scope.debug->dwarf()) // for types
            file_ = *dwarf;
        else
            no_dwarf_ = dwarf.error();
        return;
    }
    if (scope.tracepoint) {
        no_dwarf_ = no_values("it does not describe tracepoints");
        return;
    }
    if (!scope.file || is_c_library(*scope.file))
        known_ = known_function(scope.function);
    if (!scope.debug || !scope.address) {
        no_dwarf_ = no_values("nothing is known of the function's module");
        return;
    }
    if (scope.file)
        clone_ = clone_name(*scope.file, scope.address);
    if (const auto& separate = scope.debug->debug_file(); separate && clone_.empty())
        clone_ = clone_name(*separate, scope.address);
    auto dwarf = scope.debug->dwarf();
    if (!dwarf) {
        no_dwarf_ = dwarf.error();
        return;
    }
    file_ = *dwarf;
    dwarf_ = DwarfFunction::find(file_, scope.address, !clone_.empty());
    if (!dwarf_)
        no_dwarf_ = no_values("the debug information does not describe the function");
}

Result<FunctionValue> FunctionValues::parameter(size_t index) const {
    const bool known =
        known_ && index < std::size(known_->parameters) && !known_->parameters[index].name.empty();
    if (!dwarf_)
        return FunctionValue{
            argument_place(static_cast<unsigned>(index), type_of(known_->parameters[index])),
            known_->parameters[index].kind};
    const DwarfFunction::Parameter& parameter = dwarf_->parameters()[index];
    if (!parameter.place)
        return no_values(parameter.absence);
    FunctionValue value{*parameter.place};
    if (known && known_->parameters[index].kind == ValueFormat::Kind::descriptor &&
        parameter.type.kind == ValueType::Kind::integer && parameter.type.size == 4)
        value.meaning = ValueFormat::Kind::descriptor;
    return value;
}

std::vector<std::pair<std::string, Result<FunctionValue>>> FunctionValues::parameters() const {
    std::vector<std::pair<std::string, Result<FunctionValue>>> all;
    if (scope_.tracepoint) {
        for (const std::string& name : tracepoint_fields(scope_)) {
            if (name.starts_with("__")) // of the tracing itself, as __syscall_nr
                continue;
            auto value = field(name);
            if (value && is_text(value->place.type))
                value->meaning = ValueFormat::Kind::string;
            all.emplace_back("args." + name, std::move(value));
        }
    } else if (scope_.usdt_arguments) {
        const size_t count = split_usdt_arguments(*scope_.usdt_arguments).size();
        for (unsigned i = 0; i < count; ++i)
            all.emplace_back(fmt::format("arg{}", i), position(i));
    } else if (dwarf_) {
        for (size_t i = 0; i < dwarf_->parameters().size(); ++i)
            all.emplace_back(dwarf_->parameters()[i].name, parameter(i));
    } else if (known_) {
        for (size_t i = 0; i < std::size(known_->parameters); ++i)
            if (!known_->parameters[i].name.empty())
                all.emplace_back(known_->parameters[i].name, parameter(i));
    }
    return all;
}

Result<FunctionValue> FunctionValues::position(unsigned number) const {
    if (scope_.tracepoint)
        return no_tracepoint_value(scope_);
    if (scope_.usdt_arguments) {
        auto argument = usdt_argument(scope_, number);
        if (!argument)
            return argument.error();
        return FunctionValue{*std::move(argument)};
    }
    if (is_in_go())
        return go_position(number);
    const Place place = argument_place(number, {});
    // Its type, when it is a parameter that is known to be there.
    if (!dwarf_ || dwarf_->conventional())
        for (auto& [name, value] : parameters())
            if (value && same_place(value->place, place))
                return value;
    return FunctionValue{place};
}

// Whether its arguments and results are known to be in registers.
bool FunctionValues::has_go_registers() const {
    const GoTable* table = scope_.file->go_table();
    const GoFunction* function = table ? table->containing(scope_.address) : nullptr;
    return function && has_register_arguments(*scope_.file, *function);
}

Result<FunctionValue> FunctionValues::go_position(unsigned number) const {
    const auto place = go_argument_place(number, {});
    if (!place)
        return no_values("is in none of the registers in which Go passes arguments",
                         "name the parameter");
    bool is_there = has_go_registers();
    for (auto& [name, value] : parameters())
        if (value && same_place(value->place, *place)) {
            if (value->place.type.scalar())
                return value;
            is_there = true; // the first word of a string, say
        }
    if (is_there)
        return FunctionValue{*place};
    return no_values(
        fmt::format("how {} gets its arguments is not known", scope_.function),
        described()
            ? "name the parameter"
            : "name the parameter, which debug information knows: build without -ldflags -w");
}

Result<FunctionValue> FunctionValues::go_result(size_t index) const {
    if (dwarf_) {
        const DwarfFunction::Parameter& result = dwarf_->results()[index];
        return result.place ? Result<FunctionValue>(FunctionValue{*result.place})
                            : no_values(result.absence);
    }
    if (!has_go_registers())
        return no_values(fmt::format("how {} returns its result is not known", scope_.function),
                         "debug information knows: build without -ldflags -w");
    FunctionValue value{*go_argument_place(static_cast<unsigned>(index), {})};
    value.place.at_end = true;
    return value;
}

// By its own name, or retN.
std::optional<size_t> FunctionValues::find_go_result(const std::string& name) const {
    if (!dwarf_)
        return std::nullopt;
    for (size_t i = 0; i < dwarf_->results().size(); i++)
        if (dwarf_->results()[i].name == name || name == fmt::format("ret{}", i))
            return i;
    return std::nullopt;
}

Result<FunctionValue> FunctionValues::field(const std::string& name) const {
    auto place = tracepoint_field(scope_, name);
    if (!place)
        return place.error();
    return FunctionValue{*std::move(place)};
}

Result<FunctionValue> FunctionValues::named(const std::string& name) const {
    if (scope_.tracepoint)
        return no_tracepoint_value(scope_);
    if (scope_.usdt_arguments)
        return no_values(fmt::format("the arguments of {} have no names", scope_.function),
                         "by position they work: arg0, str(arg1)");
    std::vector<std::string> names;
    std::optional<Place> object;
    for (auto& [parameter, value] : parameters()) {
        if (parameter == name)
            return value;
        if (parameter == "this" && value)
            object = value->place;
        if (!parameter.empty())
            names.push_back(parameter);
    }
    if (const auto result = find_go_result(name))
        return go_result(*result);
    if (object) {
        const ValueType type = pointee(object->type);
        if (auto member = find_member(type, name)) {
            if (auto objection = go_through(*object, type))
                return no_values(*std::move(objection));
            if (auto objection = go_to_member(*object, member->offset, member->type))
                return no_values(*std::move(objection));
            object->bits = member->bits;
            return FunctionValue{*object};
        }
    }
    if (described())
        return no_values(fmt::format("{} has no parameter \"{}\"", scope_.function, name),
                         names.empty() ? "it has none" : known_names(name, names));
    return no_values(
        fmt::format("the parameters of {} are not known: {}", scope_.function, no_dwarf_.cause),
        "by position they work: arg0, str(arg1)" +
            (no_dwarf_.hint.empty() ? "" : "; or " + no_dwarf_.hint));
}

Result<ValueType> FunctionValues::type(const std::string& name) const {
    if (auto known = basic_value_type(name))
        return *std::move(known);
    if (file_)
        return find_type(file_->handle(), dwarf_ ? std::optional(dwarf_->unit()) : std::nullopt,
                         name);
    return no_values(
        fmt::format("there is no debug information that could know the type \"{}\": {}", name,
                    no_dwarf_.cause),
        "without it there are u8 to u64, s8 to s64, C's integers, char" +
            (no_dwarf_.hint.empty() ? "" : "; or " + no_dwarf_.hint));
}

bool FunctionValues::returns_nothing() const {
    if (scope_.tracepoint || scope_.usdt_arguments)
        return true;
    return dwarf_   ? (dwarf_->in_go() ? dwarf_->results().empty()
                                       : dwarf_->result_type().kind == ValueType::Kind::nothing)
           : known_ ? known_->result.name.empty()
                    : false;
}

Result<FunctionValue> FunctionValues::result() const {
    if (scope_.tracepoint)
        return no_tracepoint_value(scope_);
    if (scope_.usdt_arguments)
        return no_values("a USDT probe is a place, which returns nothing");
    if (returns_nothing())
        return no_values(fmt::format("{} returns nothing", scope_.function));
    if (is_in_go())
        return go_result(0);
    if (clone_.find(".isra.") != clone_.npos)
        return no_values(fmt::format("the compiler may have removed the result of {}", clone_));
    const bool fits = known_ && (!dwarf_ || dwarf_->result_type().size == known_->result.size);
    const auto meaning = fits ? std::optional(known_->result.kind) : std::nullopt;
    if (dwarf_) {
        if (!dwarf_->result())
            return no_values(dwarf_->result_type().kind == ValueType::Kind::floating
                                 ? "is a floating-point number, which cannot be read"
                                 : fmt::format("is a {}, which is not returned in one register",
                                               dwarf_->result_type().name));
        return FunctionValue{*dwarf_->result(), meaning};
    }
    FunctionValue value{Place::of_register(register_result, {}), meaning};
    if (known_)
        value.place.type = type_of(known_->result);
    value.place.at_end = true;
    return value;
}

Result<FunctionValue> FunctionValues::error_number() const {
    if (scope_.tracepoint)
        return no_tracepoint_value(scope_);
    if (scope_.usdt_arguments)
        return no_values("it is known where a call returns, and a USDT probe is a place");
    if (!scope_.error_number)
        return scope_.error_number.error();
    ValueType type;
    type.kind = ValueType::Kind::integer;
    type.size = 4;
    FunctionValue value{Place(), ValueFormat::Kind::error_number};
    value.place.base = WIRE_BASE_THREAD;
    value.place.offsets = {*scope_.error_number};
    value.place.in_memory = true;
    value.place.at_end = true;
    value.place.type = std::move(type);
    return value;
}

Result<FunctionValue> FunctionValues::task() const {
    if (scope_.tracepoint)
        return no_tracepoint_value(scope_);
    FunctionValue value{Place(), ValueFormat::Kind::task};
    value.place.base = WIRE_BASE_TASK;
    value.place.type.kind = ValueType::Kind::pointer;
    value.place.type.size = 8;
    value.place.type.name = "a task, by its coroutine's address or its number";
    return value;
}

// A tracepoint may be hit in an interrupt, of a thread that has nothing to do with it.
std::optional<FunctionValue> FunctionValues::context(std::string_view name) const {
    const bool is_trace = name == "trace";
    if ((!is_trace && name != "span_id") || scope_.tracepoint)
        return std::nullopt;
    ValueType type;
    type.kind = is_trace ? ValueType::Kind::other : ValueType::Kind::integer;
    type.is_signed = false;
    type.name = is_trace ? "a trace id" : "a span id";
    FunctionValue value{Place(),
                        is_trace ? ValueFormat::Kind::trace_id : ValueFormat::Kind::span_id};
    value.place.base = WIRE_BASE_CONTEXT;
    value.place.number = is_trace ? WIRE_CONTEXT_TRACE : WIRE_CONTEXT_SPAN;
    value.place.type = std::move(type);
    return value;
}

bool FunctionValues::is_in_go() const {
    return scope_.file && !scope_.usdt_arguments && is_go_code(*scope_.file, scope_.address);
}

// Of a library's functions goroutines may be callers.
Result<void> FunctionValues::has_go_labels() const {
    if (scope_.tracepoint)
        return no_tracepoint_value(scope_);
    if (!scope_.file || !scope_.file->is_go())
        return {};
    const auto go = read_go(*scope_.file);
    if (!go || !go->sets_labels)
        return no_values("nothing in the program sets labels of goroutines",
                         "pprof.Do() and pprof.SetGoroutineLabels() of runtime/pprof set them");
    if (!go->has_known_labels())
        return no_values(go->problem(), "they are of Go 1.17 to 1.27");
    return {};
}

} // namespace auger
