// SPDX-License-Identifier: GPL-3.0-or-later
// A header, then for every table its sizes and its three parts. Numbers are as in memory: the file
// is read on the machine that wrote it.
#include "loader/unwind/unwind_file.h"

#include "loader/unwind/seeded_hash.h"

#include <algorithm>
#include <type_traits>

namespace auger {
namespace {

// To be raised whenever the compiler makes other tables of the same file.
constexpr uint32_t version = 9;
constexpr uint64_t magic = 0x646e697772677561; // "augrwind"

struct FileHeader {
    uint64_t magic;
    uint32_t version;
    uint32_t tables;
    uint64_t size; // of the whole file, bytes
    uint64_t seed; // of both hashes; nobody but the owner of the file knows it
    uint64_t identity;
    UnwindStatistics statistics;
    uint64_t checksum; // of all other bytes
};

struct TableHeader {
    uint64_t base, size;
    uint64_t pages, rows, rules; // how many
};

static_assert(std::is_trivially_copyable_v<FileHeader> &&
              std::has_unique_object_representations_v<FileHeader>);

template <typename Value>
Bytes bytes_of(const Value& value) {
    return std::as_bytes(std::span(&value, 1));
}

uint64_t checksum_of(FileHeader header, Bytes body) {
    SeededHash hash(header.seed);
    // Of its own seed as input, or of the complement, the hash would forget all that came before.
    // Its lowest bit is nothing to the hash, so that has to be input.
    header.seed &= 1;
    header.checksum = 0;
    hash.add(bytes_of(header));
    hash.add(body);
    return hash.value();
}

// The header of bytes that nobody has changed.
std::optional<FileHeader> whole_header(ByteCursor& cursor, Bytes bytes) {
    const auto header = cursor.number<FileHeader>();
    if (cursor.failed() || header.magic != magic || header.version != version ||
        header.size != bytes.size() ||
        header.checksum != checksum_of(header, bytes.subspan(sizeof header)))
        return std::nullopt;
    return header;
}

template <typename Value>
void append(std::vector<std::byte>& to, std::span<const Value> values) {
    const Bytes bytes = std::as_bytes(values);
    to.insert(to.end(), bytes.begin(), bytes.end());
}

template <typename Value>
bool read_values(ByteCursor& cursor, uint64_t count, std::vector<Value>& values) {
    if (count > cursor.left() / sizeof(Value))
        return false;
    const Bytes bytes = cursor.take(count * sizeof(Value));
    values.resize(count);
    if (count > 0)
        std::memcpy(values.data(), bytes.data(), bytes.size());
    return true;
}

bool read_table(ByteCursor& cursor, UnwindTable& table) {
    const auto header = cursor.number<TableHeader>();
    table.base = header.base;
    table.size = header.size;
    return !cursor.failed() && read_values(cursor, header.pages, table.pages) &&
           read_values(cursor, header.rows, table.rows) &&
           read_values(cursor, header.rules, table.rules) && table.valid();
}

} // namespace

std::vector<std::byte> encode_unwind_file(const UnwindTables& tables, const UnwindOrigin& origin) {
    size_t size = sizeof(FileHeader);
    for (const UnwindTable& table : tables.tables)
        size += sizeof(TableHeader) + table.memory_size();
    std::vector<std::byte> bytes;
    bytes.reserve(size);
    FileHeader header{magic,
                      version,
                      static_cast<uint32_t>(tables.tables.size()),
                      size,
                      origin.seed,
                      origin.identity,
                      tables.statistics,
                      0};
    append(bytes, std::span<const FileHeader>(&header, 1));
    for (const UnwindTable& table : tables.tables) {
        const TableHeader of_table{table.base, table.size, table.pages.size(), table.rows.size(),
                                   table.rules.size()};
        append(bytes, std::span<const TableHeader>(&of_table, 1));
        append(bytes, std::span<const uint32_t>(table.pages));
        append(bytes, std::span<const uint32_t>(table.rows));
        append(bytes, std::span<const wire_unwind_rule>(table.rules));
    }
    header.checksum = checksum_of(header, Bytes(bytes).subspan(sizeof header));
    std::memcpy(bytes.data(), &header, sizeof header);
    return bytes;
}

std::optional<UnwindTables> decode_unwind_file(Bytes bytes) {
    ByteCursor cursor(bytes);
    const auto header = whole_header(cursor, bytes);
    if (!header)
        return std::nullopt;
    UnwindTables tables;
    tables.statistics = header->statistics;
    for (uint32_t i = 0; i < header->tables; ++i)
        if (!read_table(cursor, tables.tables.emplace_back()))
            return std::nullopt;
    if (!cursor.at_end())
        return std::nullopt;
    return tables;
}

std::optional<UnwindOrigin> origin_of_unwind_file(Bytes bytes, UnwindStatistics& statistics) {
    ByteCursor cursor(bytes);
    const auto header = whole_header(cursor, bytes);
    if (!header)
        return std::nullopt;
    statistics = header->statistics;
    return UnwindOrigin{header->seed, header->identity};
}

} // namespace auger
