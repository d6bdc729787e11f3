// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/runtimes/python/object_reader.h"

#include "loader/runtimes/python/text.h"

#include <algorithm>

namespace auger {
namespace {

// In all versions known, of what Python's C API shows (class, list), and of what has not changed
// since 3.11 (sets, tables of names).
constexpr uint64_t object_class = 8;
constexpr uint64_t class_name = 24, class_size = 32, class_base = 256, class_dict = 288;
constexpr uint64_t sequence_size = 16, list_items = 24;
constexpr uint64_t set_mask = 32, set_table = 40, set_entry_bytes = 16, hash_of_none = UINT64_MAX;
constexpr uint64_t dict_keys = 32, dict_values = 40;
constexpr uint64_t keys_index_bits = 9, keys_kind = 10, keys_entries = 24, keys_indices = 32;
constexpr uint64_t integer_tag = 16, integer_digits = 24;
constexpr unsigned digit_bits = 30;

constexpr uint8_t kind_of_any_keys = 0; // entries have a hash, too

// Where an object with such attributes has the address of them, before itself.
constexpr uint64_t values_before = 32, dict_before = 24;
// What stands before values since 3.13.
constexpr uint64_t values_head = 8;

constexpr size_t most_bases = 8;
constexpr size_t most_entries = 8192; // of a table, or of a set
constexpr size_t class_name_limit = 64;

} // namespace

std::string ObjectReader::class_of(uint64_t object) {
    return memory_.text(word(word(object + object_class) + class_name), class_name_limit);
}

bool ObjectReader::is_a(uint64_t object, std::string_view name) {
    uint64_t at = word(object + object_class);
    for (size_t i = 0; i < most_bases && at && !failed(); i++) {
        if (memory_.text(word(at + class_name), name.size() + 1) == name)
            return !failed();
        at = word(at + class_base);
    }
    return false;
}

std::optional<std::string> ObjectReader::text(uint64_t object, size_t limit) {
    return read_python_text(
        [this](uint64_t from, std::span<std::byte> bytes) {
            return memory_.bytes(from, bytes.data(), bytes.size());
        },
        layout_.objects, object, limit);
}

std::optional<uint64_t> ObjectReader::integer(uint64_t object) {
    const uint64_t tag = word(object + integer_tag), digits = tag >> 3;
    if (failed() || (tag & 3) || digits > 2)
        return std::nullopt;
    uint64_t value = number<uint32_t>(object + integer_digits);
    if (digits == 2)
        value |= uint64_t{number<uint32_t>(object + integer_digits + 4)} << digit_bits;
    return failed() ? std::nullopt : std::optional(digits ? value : 0);
}

std::vector<uint64_t> ObjectReader::elements(uint64_t object, size_t limit) {
    std::vector<uint64_t> found;
    if (is_a(object, "set")) {
        const uint64_t slots = std::min<uint64_t>(word(object + set_mask), most_entries - 1) + 1;
        const uint64_t table = word(object + set_table);
        for (uint64_t i = 0; i < slots && found.size() < limit && !failed(); i++) {
            const uint64_t at = table + i * set_entry_bytes, key = word(at);
            // What was taken out leaves an entry.
            if (key && word(at + 8) != hash_of_none)
                found.push_back(key);
        }
        return failed() ? std::vector<uint64_t>() : found;
    }
    const bool is_list = is_a(object, "list");
    if (!is_list && !is_a(object, "tuple"))
        return {};
    const uint64_t size = word(object + sequence_size);
    const uint64_t items =
        is_list ? word(object + list_items) : object + layout_.awaits.tuple_items;
    for (uint64_t i = 0; i < size && found.size() < limit && !failed(); i++)
        found.push_back(word(items + 8 * i));
    return failed() ? std::vector<uint64_t>() : found;
}

uint64_t ObjectReader::item(uint64_t dict, std::string_view key) {
    return find(table_of(dict), key);
}

uint64_t ObjectReader::attribute(uint64_t object, std::string_view name) {
    return find(attributes_of(object), name);
}

std::vector<uint64_t> ObjectReader::values(uint64_t dict, size_t limit) {
    std::vector<uint64_t> found;
    const Table table = table_of(dict);
    const size_t count = entries(table);
    for (size_t i = 0; i < count && found.size() < limit && !failed(); i++)
        if (const uint64_t value = entry(table, i).value)
            found.push_back(value);
    return failed() ? std::vector<uint64_t>() : found;
}

ObjectReader::Table ObjectReader::table_of(uint64_t dict) {
    Table table = {word(dict + dict_keys), word(dict + dict_values)};
    if (table.values && layout_.awaits.attributes == python_attributes_inline)
        table.values += values_head;
    return table;
}

ObjectReader::Table ObjectReader::attributes_of(uint64_t object) {
    const uint64_t type = word(object + object_class);
    if (const auto at = number<int64_t>(type + class_dict); at > 0) {
        const uint64_t dict = word(object + static_cast<uint64_t>(at));
        return dict ? table_of(dict) : Table{};
    }
    const uint64_t keys = word(type + layout_.awaits.type_keys);
    const uint64_t dict = word(object - dict_before);
    switch (layout_.awaits.attributes) {
    case python_attributes_behind:
        return dict ? table_of(dict) : Table{keys, word(object - values_before)};
    case python_attributes_tagged:
        // The values' address, less one.
        return dict & 1 ? Table{keys, dict + 1} : dict ? table_of(dict) : Table{};
    default:
        return dict ? table_of(dict) : Table{keys, object + word(type + class_size) + values_head};
    }
}

size_t ObjectReader::entries(const Table& table) {
    if (!table.keys)
        return 0;
    return std::min<uint64_t>(word(table.keys + keys_entries), most_entries);
}

ObjectReader::Entry ObjectReader::entry(const Table& table, size_t index) {
    const unsigned bits = number<uint8_t>(table.keys + keys_index_bits) & 63;
    const bool has_hash = number<uint8_t>(table.keys + keys_kind) == kind_of_any_keys;
    const uint64_t at =
        table.keys + keys_indices + (uint64_t{1} << bits) + index * (has_hash ? 24 : 16);
    Entry entry = {word(at + (has_hash ? 8 : 0)), word(at + (has_hash ? 16 : 8))};
    if (table.values)
        entry.value = word(table.values + 8 * index);
    return entry;
}

uint64_t ObjectReader::find(const Table& table, std::string_view key) {
    const size_t count = entries(table);
    for (size_t i = 0; i < count && !failed(); i++)
        if (const Entry one = entry(table, i); one.key && one.value && is_text(one.key, key))
            return failed() ? 0 : one.value;
    return 0;
}

// Most are told apart by their lengths. A name may be anything that has a hash.
bool ObjectReader::is_text(uint64_t object, std::string_view text) {
    if (word(object + layout_.objects.text_length) != text.size() || !is_a(object, "str"))
        return false;
    const auto found = this->text(object, text.size());
    return found && *found == text;
}

} // namespace auger
