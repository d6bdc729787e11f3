// SPDX-License-Identifier: GPL-3.0-or-later
// What is said between auger and a process that reads names (serve_names.cpp). Nothing that an
// answer says is believed unless it holds together.
#pragma once

#include "loader/symbols/address_name.h"
#include "loader/symbols/elf_messages.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace auger::name_messages {

inline constexpr size_t request_limit = 1 << 20;
inline constexpr size_t answer_limit = 16 << 20;
using elf_messages::text_limit;
inline constexpr size_t queries_at_once = 512; // so that all names fit

enum class Kind : uint8_t {
    memory,   // comes first, once: with it the memory to unpack into; no answer
    open,     // an ELF file, its name and descriptor: elf_messages::Opened
    build_id, // of a descriptor: elf_messages::BuildId
    checksum, // of a descriptor: elf_messages::Checksum
    read,     // symbols; a debug file's name and descriptor may come with it: ReadSymbols
    generate, // a program that generates code; no answer
    refresh,  // descriptors of its perf map and its jitdump: Refreshed
    find,     // names: as many as queries
    close,    // what was opened, or is generated; no answer
};

struct Request {
    Kind kind{};
    uint32_t number = 0; // of what was opened, or is generated
    std::string name{};
    // What comes with it, in this order: kind refresh.
    bool has_map = false, has_dump = false;
    std::vector<AddressQuery> queries{};
};
std::string request(const Request& request);
std::optional<Request> request(std::string_view bytes);

struct ReadSymbols {
    uint64_t functions = 0;
    enum class Dwarf : uint8_t { none, in_file, apart } dwarf = Dwarf::none;
    bool go = false; // it is a program of Go's, which has tables of lines beside DWARF
    // alternative_build_id() of what has the DWARF.
    std::optional<std::string> alternative;
    friend bool operator==(const ReadSymbols&, const ReadSymbols&) = default;
};
std::string read_symbols(const ReadSymbols& symbols);
std::optional<ReadSymbols> read_symbols(std::string_view bytes);

struct Refreshed {
    bool news = false;    // there was something new
    bool more = false;    // there is more, to be asked for again
    bool damaged = false; // the jitdump is none, or none from some place on
    uint64_t pieces = 0;  // of code with a name
    uint64_t memory = 0;  // bytes
    uint64_t skipped = 0; // entries
    friend bool operator==(const Refreshed&, const Refreshed&) = default;
};
std::string refreshed(const Refreshed& refreshed);
std::optional<Refreshed> refreshed(std::string_view bytes);

std::string names(std::span<const AddressName> names);
// Of so many queries.
std::optional<std::vector<AddressName>> names(std::string_view bytes, size_t count);

} // namespace auger::name_messages
