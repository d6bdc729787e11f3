// SPDX-License-Identifier: GPL-3.0-or-later
// FunctionValues: the parameters and the result of one function, and errno: where they are and of
// what type. By DWARF where there is some, else by what is known of the C library's functions, else
// only by the calling convention.
#pragma once

#include "loader/base/result.h"
#include "loader/reader/values/compile_program.h"
#include "loader/reader/values/dwarf_function.h"
#include "loader/reader/values/place.h"
#include "loader/reader/values/well_known.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace auger {

struct FunctionValue {
    Place place;
    // Beyond what the type says, of a well-known function's parameter or result.
    std::optional<ValueFormat::Kind> meaning{};
};

// Errors have a cause and a hint; who knows the text adds where.
class FunctionValues {
  public:
    explicit FunctionValues(const ValueScope& scope);

    Result<FunctionValue> position(unsigned number) const;
    // A parameter, or a member of the object that the function is called for.
    Result<FunctionValue> named(const std::string& name) const;
    Result<FunctionValue> result() const;
    Result<FunctionValue> error_number() const;
    // The coroutine of the task that CPython runs where the call begins.
    Result<FunctionValue> task() const;
    // What the thread works for: `trace` or `span_id`; nothing for other names, and where a
    // thread's work is not what is looked at.
    std::optional<FunctionValue> context(std::string_view name) const;
    // Whether its calls are goroutines', which return on any thread.
    bool is_in_go() const;
    // Fails where goroutines have no labels that are understood.
    Result<void> has_go_labels() const;
    // Whether `args` are the fields of a tracepoint's record; and one of them.
    bool has_fields() const { return scope_.tracepoint.has_value(); }
    Result<FunctionValue> field(const std::string& name) const;
    // One of the debug information, or a basic one.
    Result<ValueType> type(const std::string& name) const;

    // In order; those that cannot be read have an error. Of a tracepoint its fields (args.NAME), of
    // a USDT probe its arguments (arg0).
    std::vector<std::pair<std::string, Result<FunctionValue>>> parameters() const;
    bool returns_nothing() const;
    bool sets_errno() const { return known_ && known_->sets_errno; }
    // Whether anything is known of the function.
    bool described() const {
        return dwarf_ || known_ || scope_.tracepoint || scope_.usdt_arguments;
    }

  private:
    Result<FunctionValue> parameter(size_t index) const;
    // Of Go's functions.
    bool has_go_registers() const;
    Result<FunctionValue> go_position(unsigned number) const;
    Result<FunctionValue> go_result(size_t index) const;
    std::optional<size_t> find_go_result(const std::string& name) const;

    const ValueScope& scope_;
    std::shared_ptr<DwarfFile> file_; // null: there is none
    std::optional<DwarfFunction> dwarf_;
    Error no_dwarf_; // why there is none
    const KnownFunction* known_ = nullptr;
    std::string clone_; // the function's own name, if the compiler made it of another one
};

} // namespace auger
