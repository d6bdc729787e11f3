// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/runtimes/php/native_function.h"

#include "loader/runtimes/bounded_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace auger {
namespace {

// Of struct _zend_executor_globals, in all versions known (see globals_frame in layout.cpp).
constexpr uint64_t globals_functions = 432, globals_classes = 440;
// Of struct _zend_class_entry, likewise.
constexpr uint64_t class_functions = 64;
// Of struct _zend_array and Bucket (Zend/zend_types.h), and of zend_string.
constexpr uint64_t table_buckets = 16, table_used = 24;
constexpr uint64_t bucket_bytes = 32, bucket_hash = 16, bucket_key = 24;
constexpr uint64_t string_length = 16, string_text = 24;

constexpr uint32_t most_buckets = 1 << 16;
constexpr size_t name_limit = 512;

// `handler` of zend_internal_function (Zend/zend_compile.h), behind what that shares with
// zend_op_array: arg_info at 40; since 8.0 attributes; since 8.2 T and run_time_cache; since 8.4
// doc_comment and prop_info.
uint64_t handler_of(uint32_t version) {
    return version == 0x0704 ? 48 : version <= 0x0801 ? 56 : version <= 0x0803 ? 72 : 88;
}

// Behind the handler and the module, since 8.4: functions without a frame of their own, one for
// each number of arguments that PHP calls it with so (zend_frameless_function_info).
constexpr uint32_t first_with_frameless = 0x0804;
constexpr uint64_t frameless_behind = 16, frameless_bytes = 16;
constexpr size_t most_frameless = 4;

// zend_inline_hash_func(): DJBX33A, with the highest bit.
uint64_t hash_of(std::string_view text) {
    uint64_t hash = 5381;
    for (const char letter : text)
        hash = hash * 33 + static_cast<uint8_t>(letter);
    return hash | uint64_t{1} << 63;
}

class TableSearch {
  public:
    TableSearch(const ReadMemory& read, const PhpLayout& layout) : memory_(read), layout_(layout) {}

    NativeFunction find(uint64_t globals, std::string_view name) {
        NativeFunction found = follow(globals, name);
        if (!memory_.failed())
            return found;
        return {.problem = memory_.late() ? "the process's memory could not be read in time"
                                          : "its entry in the process's memory cannot be read"};
    }

  private:
    uint64_t word(uint64_t address) {
        uint64_t value;
        memory_.get(address, value);
        return value;
    }

    // What stands for the name in a table; 0: it has none.
    uint64_t item(uint64_t table, std::string_view name) {
        const uint64_t buckets = word(table + table_buckets), hash = hash_of(name);
        uint32_t used;
        memory_.get(table + table_used, used);
        for (uint32_t i = 0; i < std::min(used, most_buckets) && !memory_.failed(); i++) {
            const uint64_t bucket = buckets + i * bucket_bytes;
            if (word(bucket + bucket_hash) == hash && is_text(word(bucket + bucket_key), name))
                return word(bucket);
        }
        return 0;
    }

    bool is_text(uint64_t string, std::string_view text) {
        std::string found(text.size(), 0);
        return string && word(string + string_length) == text.size() &&
               memory_.bytes(string + string_text, reinterpret_cast<std::byte*>(found.data()),
                             found.size()) &&
               found == text;
    }

    std::vector<uint64_t> with_frameless(uint64_t function, uint64_t handler) {
        std::vector<uint64_t> all = {handler};
        if (layout_.version < first_with_frameless)
            return all;
        const uint64_t infos = word(function + handler_of(layout_.version) + frameless_behind);
        for (size_t i = 0; infos && i < most_frameless; i++) {
            const uint64_t frameless = word(infos + i * frameless_bytes);
            if (!frameless)
                break;
            all.push_back(frameless);
        }
        return all;
    }

    NativeFunction follow(uint64_t globals, std::string_view name) {
        uint64_t functions = word(globals + globals_functions);
        const uint64_t classes = word(globals + globals_classes);
        if (!functions || !classes)
            return {.problem = "PHP has not begun a request yet", .may_come = true};
        std::string lower(name.substr(name.starts_with('\\') ? 1 : 0, name_limit));
        for (char& letter : lower)
            if (letter >= 'A' && letter <= 'Z')
                letter = static_cast<char>(letter - 'A' + 'a');
        std::string_view function = lower;
        if (const size_t colons = function.rfind("::"); colons != function.npos) {
            const uint64_t entry = item(classes, function.substr(0, colons));
            if (!entry)
                return {.problem = fmt::format("there is no class {}", lower.substr(0, colons)),
                        .may_come = true};
            functions = entry + class_functions;
            function.remove_prefix(colons + 2);
        }
        const uint64_t found = item(functions, function);
        if (!found)
            return {.problem = "PHP has no such function"};
        uint8_t type;
        memory_.get(found + WIRE_PHP_FUNCTION_TYPE, type);
        if (wire_php_is_user(type))
            return {.problem = "it is written in PHP: the interpreter executes it, and there is "
                               "nothing to probe",
                    .hint = "functions of PHP's extensions can be timed, for example "
                            "php:preg_match or php:PDO::query"};
        const uint64_t address = word(found + handler_of(layout_.version));
        if (!address)
            return {.problem = "its entry in the process's memory is not as expected"};
        return {.addresses = with_frameless(found, address)};
    }

    BoundedMemory memory_;
    const PhpLayout& layout_;
};

} // namespace

NativeFunction find_native_function(const ReadMemory& read, const PhpLayout& layout,
                                    uint64_t globals, std::string_view name) {
    return TableSearch(read, layout).find(globals, name);
}

} // namespace auger
