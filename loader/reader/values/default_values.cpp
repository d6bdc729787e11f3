// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/reader/values/default_values.h"

#include "loader/reader/values/dwarf_types.h"
#include "loader/reader/values/operand.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

namespace auger {
namespace {

std::optional<uint8_t> add_value(Result<FunctionValue> value, ProgramBuilder& builder) {
    if (!value)
        return std::nullopt;
    const ValueType& type = value->place.type;
    // A std::string, or a reference or pointer to one; other structures are no text.
    const bool structure = type.kind == ValueType::Kind::structure ||
                           (has_pointee(type) && pointee(type).kind == ValueType::Kind::structure);
    if (structure || value->meaning == ValueFormat::Kind::string || is_constant_text(type))
        if (auto operand = string_operand(*value))
            if (auto index = builder.add_value(*operand))
                return *index;
    if (is_reference(type))
        return std::nullopt;
    auto operand = number_operand(*std::move(value));
    if (!operand)
        return std::nullopt;
    auto index = builder.add_value(*operand);
    return index ? std::optional(*index) : std::nullopt;
}

// Nothing when a parameter has the name.
std::optional<uint8_t> add_context(const std::string& name, const FunctionValues& values,
                                   ProgramBuilder& builder) {
    const auto context = values.named(name) ? std::nullopt : values.context(name);
    if (!context)
        return std::nullopt;
    const auto operand = context->meaning == ValueFormat::Kind::trace_id ? trace_operand(*context)
                                                                         : number_operand(*context);
    const auto index = operand ? builder.add_value(*operand) : Error{};
    return index ? std::optional(*index) : std::nullopt;
}

void show_described_values(const FunctionValues& values, ProgramBuilder& builder) {
    CallProgram& program = builder.program();
    // The result comes last, and says more than a late parameter.
    const auto result =
        values.returns_nothing() ? std::nullopt : add_value(values.result(), builder);
    const auto error =
        result && values.sets_errno() ? add_value(values.error_number(), builder) : std::nullopt;
    for (auto& [name, value] : values.parameters()) {
        if (name.empty())
            continue;
        if (const auto index = add_value(std::move(value), builder))
            program.shown.push_back({name, *index, {}});
    }
    if (result)
        program.shown.push_back({"ret", *result, {}});
    if (error)
        program.shown.push_back({"errno", *error, result});
}

} // namespace

void show_default_values(const FunctionValues& values, bool with_trace, ProgramBuilder& builder) {
    std::vector<ShownValue> context;
    for (const char* name : {"trace", "span_id"})
        if (const auto index = with_trace ? add_context(name, values, builder) : std::nullopt)
            context.push_back({name, *index, {}, true});
    if (values.described())
        show_described_values(values, builder);
    std::ranges::move(context, std::back_inserter(builder.program().shown));
}

} // namespace auger
