// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/runtimes/v8/function_reader.h"

#include "loader/runtimes/v8/heap.h"
#include "loader/runtimes/v8/source_positions.h"

#include <vector>

namespace auger {
namespace {

constexpr size_t name_limit = 512, file_limit = 4096; // characters
constexpr int32_t positions_limit = 1 << 20;          // bytes of a table
constexpr uint32_t field_bytes = 8;

// A ScopeInfo's flags.
constexpr uint32_t scope_kind = 15, has_class_variable = 1 << 10, has_name = 3 << 12,
                   has_inferred_name = 1 << 14;
// So many variables have their names there; of more there is a table.
constexpr int32_t most_inlined_names = 75, most_variables = 1 << 20;

// What a SharedFunctionInfo has.
struct Shared {
    uint64_t data = 0, name = 0, script = 0;
    uint32_t literal = 0, unique = 0;

    uint32_t cookie() const { return wire_v8_cookie(name, script, literal, unique); }
};

class FunctionReader {
  public:
    FunctionReader(const ReadMemory& read, const V8Layout& layout)
        : heap_(read, layout.objects), walk_(layout.walk), objects_(layout.objects) {}

    bool is_shared(uint64_t pointer) { return has_type(pointer, walk_.shared_type); }
    std::optional<Shared> shared(uint64_t pointer);
    std::optional<V8Function> function(const Shared& shared, uint32_t offset);
    FunctionProblem problem() const { return heap_.problem(); }

  private:
    bool read_scope(uint64_t scope, V8Function& function);
    bool read_script(uint64_t script, V8Function& function);
    // What an interpreted function executes; nothing: it is not there, or is something else.
    std::optional<uint64_t> bytecode(uint64_t data);
    std::optional<uint32_t> position(uint64_t bytecode, uint32_t offset);
    // A string, or an empty one where something else stands for none. Nothing: it cannot be read.
    std::optional<std::string> text_or_none(uint64_t object, uint32_t offset, size_t most);
    bool has_type(uint64_t pointer, uint32_t type) { return heap_.type(pointer) == type; }

    V8Heap heap_;
    const wire_v8& walk_;
    const V8Objects& objects_;
};

std::optional<Shared> FunctionReader::shared(uint64_t pointer) {
    Shared shared;
    if (!heap_.get(pointer, walk_.shared_data, shared.data) ||
        !heap_.get(pointer, walk_.shared_name, shared.name) ||
        !heap_.get(pointer, walk_.shared_script, shared.script) ||
        !heap_.get(pointer, walk_.shared_literal, shared.literal) ||
        !heap_.get(pointer, walk_.shared_unique, shared.unique))
        return std::nullopt;
    return shared;
}

std::optional<std::string> FunctionReader::text_or_none(uint64_t object, uint32_t offset,
                                                        size_t most) {
    uint64_t word = 0;
    if (!heap_.get(object, offset, word))
        return std::nullopt;
    if (!V8Heap::is_pointer(word))
        return std::string();
    const auto type = heap_.type(word);
    if (!type)
        return std::nullopt;
    return heap_.is_string(*type) ? heap_.text(word, most) : std::string();
}

bool FunctionReader::read_scope(uint64_t scope, V8Function& function) {
    uint32_t flags = 0, at = objects_.scope_variables;
    const auto locals = heap_.integer(scope, objects_.scope_locals);
    if (!heap_.get(scope, objects_.scope_flags, flags) || !locals || *locals < 0 ||
        *locals > most_variables)
        return false;
    const auto read_place = [&] {
        const auto begin = heap_.integer(scope, at), end = heap_.integer(scope, at + field_bytes);
        at += 2 * field_bytes;
        if (!begin || !end)
            return false;
        if (*begin >= 0 && *end >= *begin) {
            function.begin = static_cast<uint32_t>(*begin);
            function.end = static_cast<uint32_t>(*end);
        }
        return true;
    };
    if (objects_.scope_begins_with_place && !read_place())
        return false;
    if ((flags & scope_kind) == objects_.scope_module)
        at += field_bytes;
    const auto variables = static_cast<uint32_t>(*locals);
    at += (*locals < most_inlined_names ? 2 * variables : 1 + variables) * field_bytes;
    if (flags & has_class_variable)
        at += field_bytes;
    if (flags & has_name) {
        const auto name = text_or_none(scope, at, name_limit);
        if (!name)
            return false;
        function.name = *name;
        at += 2 * field_bytes;
    }
    if (flags & has_inferred_name) {
        const auto name = text_or_none(scope, at, name_limit);
        if (!name)
            return false;
        if (function.name.empty())
            function.name = *name;
        at += field_bytes;
    }
    return objects_.scope_begins_with_place || read_place();
}

bool FunctionReader::read_script(uint64_t pointer, V8Function& function) {
    V8Script script{.pointer = pointer};
    const auto id = heap_.integer(pointer, objects_.script_id);
    const auto file = text_or_none(pointer, objects_.script_name, file_limit);
    if (!id || !file || !heap_.get(pointer, objects_.script_source, script.source))
        return false;
    script.id = *id;
    // Some have none, as those of a snapshot.
    const auto type = V8Heap::is_pointer(script.source) ? heap_.type(script.source) : std::nullopt;
    if (!type || !heap_.is_string(*type))
        script.source = 0;
    else if (!heap_.get(script.source, objects_.string_length, script.length))
        return false;
    function.file = *file;
    function.script = script;
    return true;
}

std::optional<uint64_t> FunctionReader::bytecode(uint64_t data) {
    const auto type = heap_.type(data);
    if (!type)
        return std::nullopt;
    std::optional<uint64_t> found = data;
    if (*type == objects_.interpreter_data_type)
        found = heap_.pointer(data, objects_.interpreter_data_bytecode);
    else if (*type == objects_.code_type)
        found = heap_.pointer(data, objects_.code_bytecode);
    return found && has_type(*found, walk_.bytecode_type) ? found : std::nullopt;
}

std::optional<uint32_t> FunctionReader::position(uint64_t bytecode, uint32_t offset) {
    const uint32_t first = objects_.bytecode_data - WIRE_V8_TAG;
    const auto length = heap_.integer(bytecode, objects_.bytecode_length);
    const auto table = heap_.pointer(bytecode, objects_.bytecode_positions);
    // Of functions without one V8 makes it when somebody asks.
    const auto size = table ? heap_.integer(*table, objects_.array_length) : std::nullopt;
    if (!length || !size || *size < 0 || *size > positions_limit || offset < first ||
        offset - first >= static_cast<uint32_t>(*length))
        return std::nullopt;
    std::vector<std::byte> bytes(static_cast<size_t>(*size));
    if (!heap_.bytes(*table, objects_.array_data, bytes))
        return std::nullopt;
    const auto found = v8_source_position(bytes, offset - first);
    return found ? std::optional(found->position) : std::nullopt;
}

std::optional<V8Function> FunctionReader::function(const Shared& shared, uint32_t offset) {
    V8Function function;
    // A name alone, or a number in place of none, of those that were not compiled yet.
    const auto type = V8Heap::is_pointer(shared.name) ? heap_.type(shared.name) : std::nullopt;
    if (type == objects_.scope_type) {
        if (!read_scope(shared.name, function))
            return std::nullopt;
    } else if (type && heap_.is_string(*type)) {
        const auto name = heap_.text(shared.name, name_limit);
        if (!name)
            return std::nullopt;
        function.name = *name;
    }
    // While it is debugged something else may stand there.
    if (has_type(shared.script, objects_.script_type) && !read_script(shared.script, function))
        return std::nullopt;
    if (offset != WIRE_V8_COMPILED)
        if (const auto executed = bytecode(shared.data))
            function.position = position(*executed, offset);
    return heap_.failed() ? std::nullopt : std::optional(function);
}

// What moves in the meantime may be read in part: so it is read twice, and must be the same.
std::variant<V8Function, FunctionProblem> read_twice(const ReadMemory& read, const V8Layout& layout,
                                                     uint64_t pointer,
                                                     std::optional<uint32_t> cookie,
                                                     uint32_t offset) {
    std::optional<V8Function> before;
    for (const bool again : {false, true}) {
        FunctionReader reader(read, layout);
        const bool is_one = reader.is_shared(pointer);
        const auto shared = reader.shared(pointer);
        if (!shared)
            return reader.problem();
        if (!is_one || (cookie && shared->cookie() != *cookie))
            return FunctionProblem::gone;
        auto function = reader.function(*shared, offset);
        if (!function)
            return reader.problem();
        if (again && *function != *before)
            return FunctionProblem::gone;
        before = std::move(function);
    }
    return *before;
}

} // namespace

std::variant<V8Function, FunctionProblem> read_v8_function(const ReadMemory& read,
                                                           const V8Layout& layout, uint64_t pointer,
                                                           uint64_t second) {
    return read_twice(read, layout, pointer, static_cast<uint32_t>(second),
                      static_cast<uint32_t>(second >> 32));
}

std::variant<V8Function, FunctionProblem> read_v8_inlined(const ReadMemory& read,
                                                          const V8Layout& layout, uint64_t pointer,
                                                          uint32_t position) {
    auto answer = read_twice(read, layout, pointer, {}, WIRE_V8_COMPILED);
    if (auto* const function = std::get_if<V8Function>(&answer))
        function->position = position;
    return answer;
}

} // namespace auger
