// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/runtimes/ruby/objects.h"

#include <algorithm>
#include <array>

namespace auger {
namespace {

constexpr uint64_t text_limit = 1024;    // bytes
constexpr uint64_t variable_limit = 256; // of a class, that are looked at

// RBasic's flags, and what they say of the kinds of objects that are read (include/ruby/internal).
constexpr uint32_t type_mask = 0x1f, class_type = 2, module_type = 3, text_type = 5, array_type = 7;
constexpr uint32_t text_on_heap = 1 << 13, text_length_shift = 14, text_length_mask = 0x1f;
constexpr uint32_t array_in_object = 1 << 13, array_length_shift = 15;
constexpr uint64_t object_begin = 16; // what follows flags and class

// rb_symbols_t (symbol.c): IDs of methods that are operators are their numbers, those of others
// have kinds in their lowest bits. The former are below 256, the latter above 2,000.
constexpr uint64_t symbol_texts = 16, last_operator = 255, kind_bits = 4, symbols_of_array = 512,
                   words_of_symbol = 2;

// RClass, rb_classext_t, st_table and its entries, where classes have names in variables.
constexpr uint64_t class_extension = 24, extension_variables = 8, table_begin = 32, table_end = 40,
                   table_entries = 48, entry_bytes = 24, no_entry = UINT64_MAX;

bool is_object(uint64_t value) {
    return value > 8 && value % 8 == 0;
}

} // namespace

uint32_t RubyMemory::flags_of(uint64_t object) {
    uint32_t flags = 0;
    if (is_object(object))
        memory_.get(object, flags);
    return flags;
}

std::optional<std::string> RubyMemory::text(uint64_t object) {
    const uint32_t flags = flags_of(object);
    if ((flags & type_mask) != text_type)
        return std::nullopt;
    const bool in_object = !(flags & text_on_heap), has_length = objects().text_has_length;
    uint64_t length = flags >> text_length_shift & text_length_mask, from = object + object_begin;
    if (!in_object || has_length) {
        memory_.get(from, length);
        from += sizeof length;
    }
    if (!in_object && !memory_.get(from, from))
        return std::nullopt;
    std::string text(std::min(length, text_limit), '\0');
    if (!memory_.bytes(from, reinterpret_cast<std::byte*>(text.data()), text.size()))
        return std::nullopt;
    if (length > text_limit)
        text += "...";
    return text;
}

std::optional<uint64_t> RubyMemory::element(uint64_t object, uint64_t index) {
    const uint32_t flags = flags_of(object);
    if ((flags & type_mask) != array_type)
        return std::nullopt;
    uint64_t length = flags >> array_length_shift & objects().array_mask,
             from = object + object_begin;
    if (!(flags & array_in_object) &&
        (!memory_.get(from, length) || !memory_.get(from + 2 * sizeof length, from)))
        return std::nullopt;
    uint64_t value = 0;
    if (index >= length || !memory_.get(from + index * sizeof value, value))
        return std::nullopt;
    return value;
}

std::optional<std::string> RubyMemory::symbol(uint64_t id) {
    const uint64_t number = id > last_operator ? id >> kind_bits : id;
    uint64_t texts = 0;
    if (!memory_.get(process_.symbols + symbol_texts, texts))
        return std::nullopt;
    const auto part = element(texts, number / symbols_of_array);
    const auto name =
        part ? element(*part, number % symbols_of_array * words_of_symbol) : std::nullopt;
    return name ? text(*name) : std::nullopt;
}

std::optional<uint64_t> RubyMemory::variable(uint64_t klass, std::string_view name) {
    uint64_t extension = 0, table = 0, entries = 0;
    std::array<uint64_t, 2> range{};
    if (!memory_.get(klass + class_extension, extension) || extension == 0 ||
        !memory_.get(extension + extension_variables, table) || table == 0 ||
        !memory_.get(table + table_begin, range) || !memory_.get(table + table_entries, entries))
        return std::nullopt;
    const uint64_t end = std::min(range[1], range[0] + variable_limit);
    for (uint64_t at = range[0]; at < end; at++) {
        std::array<uint64_t, 3> entry{}; // hash, key, value
        if (!memory_.get(entries + at * entry_bytes, entry))
            return std::nullopt;
        if (entry[0] != no_entry && symbol(entry[1]) == name)
            return entry[2];
    }
    return std::nullopt;
}

std::string RubyMemory::class_name(uint64_t klass) {
    if (objects().class_names == ruby_names_variables) {
        const auto name = variable(klass, "__classpath__");
        return name ? text(*name).value_or("") : "";
    }
    uint8_t has_name = 0;
    uint64_t name = 0;
    if (objects().class_names != ruby_names_extensions ||
        !memory_.get(klass + objects().class_has_name, has_name) || !(has_name & 1) ||
        !memory_.get(klass + objects().class_name, name))
        return "";
    return text(name).value_or("");
}

uint64_t RubyMemory::object_of_singleton(uint64_t klass) {
    if (objects().class_names == ruby_names_variables)
        return variable(klass, "__attached__").value_or(0);
    uint64_t object = 0;
    if (objects().class_names == ruby_names_extensions)
        memory_.get(klass + objects().class_object, object);
    return object;
}

std::string RubyMemory::qualifier(uint64_t owner) {
    const auto is_module = [](uint32_t flags) {
        return (flags & type_mask) == class_type || (flags & type_mask) == module_type;
    };
    const uint32_t flags = flags_of(owner);
    if (!is_module(flags))
        return "";
    std::string name;
    char mark = '#';
    if ((flags & type_mask) == class_type && flags & objects().class_singleton) {
        const uint64_t object = object_of_singleton(owner);
        mark = '.';
        if (is_module(flags_of(object)))
            name = class_name(object);
    } else {
        name = class_name(owner);
    }
    if (!name.empty())
        name += mark;
    return name;
}

} // namespace auger
