// SPDX-License-Identifier: GPL-3.0-or-later
// Values that are shown come first, so that they stay in the order asked for; what is shown by
// default takes the room that is left.
#include "loader/reader/values/compile_program.h"

#include "loader/reader/values/default_values.h"
#include "loader/reader/values/function_values.h"
#include "loader/reader/values/operand.h"
#include "loader/reader/values/predicate.h"
#include "loader/reader/values/program_builder.h"
#include "loader/values/expression.h"

namespace auger {
namespace {

class Compilation {
  public:
    Compilation(const ProgramRequest& request, const ValueScope& scope)
        : request_(request), values_(scope) {}

    Result<std::optional<CallProgram>> run() {
        CallProgram& program = builder_.program();
        program.wire.label = WIRE_NO_LABEL;
        program.wire.split_mark = request_.split_mark;
        if (request_.traces_slow)
            for (const std::string& text : request_.conditions.show)
                if (auto shown = show(text); !shown)
                    return shown.error();
        if (!request_.split_by.empty()) {
            auto label = value(request_.split_by);
            if (!label)
                return label.error();
            program.wire.label = *label;
        }
        for (auto [use, text] : {std::pair(WIRE_PREDICATE_ONLY, &request_.conditions.only_if),
                                 std::pair(WIRE_PREDICATE_SLOW, &request_.conditions.slow_if),
                                 std::pair(WIRE_PREDICATE_SPLIT, &request_.split_if)})
            if (!text->empty())
                if (auto compiled = predicate(use, *text); !compiled)
                    return compiled.error();
        if (request_.traces_slow && request_.conditions.show.empty() &&
            request_.conditions.show_default)
            show_default_values(values_, request_.shows_trace, builder_);
        if (program.wire.fetches == 0)
            return std::optional<CallProgram>();
        return std::optional<CallProgram>(std::move(program));
    }

  private:
    Result<uint8_t> value(const std::string& text) {
        auto expression = parse_expression(text);
        if (!expression)
            return expression.error();
        auto operand = OperandReader(text, values_).read(**expression);
        if (!operand)
            return operand.error();
        auto index = builder_.add_value(*operand);
        if (!index)
            return expression_error(text, (*expression)->at, index.error().cause,
                                    index.error().hint);
        return index;
    }

    Result<void> show(const std::string& text) {
        auto index = value(text);
        if (!index)
            return index.error();
        builder_.program().shown.push_back({text, *index, {}});
        return {};
    }

    Result<void> predicate(wire_predicate_use use, const std::string& text) {
        auto expression = parse_expression(text);
        if (!expression)
            return expression.error();
        auto compiled = compile_predicate(text, **expression, values_, builder_);
        if (!compiled)
            return compiled.error();
        builder_.program().wire.predicate[use] = *compiled;
        return {};
    }

    const ProgramRequest& request_;
    FunctionValues values_;
    ProgramBuilder builder_;
};

} // namespace

Result<std::optional<CallProgram>> compile_program(const ProgramRequest& request,
                                                   const ValueScope& scope) {
    if (asks_nothing(request)) // nor is debug information read
        return std::optional<CallProgram>();
    return Compilation(request, scope).run();
}

} // namespace auger
