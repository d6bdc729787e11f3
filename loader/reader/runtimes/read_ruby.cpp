// SPDX-License-Identifier: GPL-3.0-or-later
// Distributions strip what Ruby does not export, and from 3.2 on it exports little. What is asked
// for then is in the code of functions that it does export, for extensions.
#include "loader/reader/runtimes/read_ruby.h"

#include "loader/reader/code/decoder.h"
#include "loader/reader/code/function_code.h"
#include "loader/reader/code/thread_access.h"
#include "loader/reader/elf/symbol_address.h"
#include "loader/reader/runtimes/find_loop_code.h"
#include "loader/reader/values/read_thread_variable.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <set>
#include <string_view>
#include <system_error>

namespace auger {
namespace {

constexpr std::string_view ruby_context = "ruby_current_ec", ruby_loop = "rb_vm_exec",
                           ruby_symbols = "ruby_global_symbols", ruby_version_text = "ruby_version",
                           // Code that shows where these are.
    profile = "rb_profile_frames", evaluate = "rb_iseq_eval", name_of_id = "rb_id2str";
constexpr size_t ruby_exports_limit = 1 << 20; // bytes; Ruby's names are 37 kB
constexpr size_t ruby_code_limit = 1024;       // bytes of a function that are looked at

// "3.1.2": 0x030102.
uint32_t read_ruby_version(const ElfFile& file) {
    const auto address = symbol_address(file, ruby_version_text);
    if (!address)
        return 0;
    const auto bytes = file.read_code(*address, 16);
    const char* from = reinterpret_cast<const char*>(bytes.data());
    const char* const end = from + bytes.size();
    uint32_t version = 0;
    for (int part = 0; part < 3; part++) {
        uint8_t number = 0;
        const auto [behind, error] = std::from_chars(from, end, number);
        if (error != std::errc() || behind == end || *behind != (part < 2 ? '.' : '\0'))
            return 0;
        version = version << 8 | number;
        from = behind + 1;
    }
    return version;
}

struct Function {
    uint64_t address = 0;
    std::vector<std::byte> bytes{};

    CodePart code() const { return {address, bytes}; }
};

Function function_at(const ElfFile& file, const FunctionBounds& functions, uint64_t address) {
    const auto* const bounds = bounds_around(functions, address);
    if (!bounds || bounds->begin != address)
        return {};
    return {address, file.read_code(address, std::min(bounds->end - address, ruby_code_limit))};
}

Function function_named(const ElfFile& file, const FunctionBounds& functions,
                        std::string_view name) {
    const auto address = symbol_address(file, name);
    return address ? function_at(file, functions, *address) : Function();
}

// Where the function ends in another one, by a jump to its beginning. Nothing: in none, or in
// several.
std::optional<uint64_t> tail_of(const FunctionBounds& functions, const Function& function) {
    std::set<uint64_t> targets;
    for (const uint64_t target : leaving_jumps(function.code()))
        if (const auto* const bounds = bounds_around(functions, target);
            bounds && bounds->begin == target)
            targets.insert(target);
    return targets.size() == 1 ? std::optional(*targets.begin()) : std::nullopt;
}

std::optional<ThreadVariable> find_context(const ElfFile& file, const FunctionBounds& functions) {
    if (auto variable = read_thread_variable(file, ruby_context))
        return variable;
    const Function function = function_named(file, functions, profile);
    const auto access = first_thread_access(function.code());
    if (!access || !file.dynamic())
        return std::nullopt;
    // Where the linker knew the offset, it stands there already.
    const auto noted = file.read_code(access->slot + sizeof(uint64_t), sizeof(uint64_t));
    uint64_t offset = 0;
    if (noted.size() == sizeof offset)
        std::memcpy(&offset, noted.data(), sizeof offset);
    offset += access->offset;
    if (offset > INT32_MAX)
        return std::nullopt;
    ThreadVariable variable;
    variable.offset = offset;
    variable.slot = ThreadVariable::Slot{ThreadVariable::Slot::Kind::module, access->slot, 0};
    return variable;
}

std::optional<uint64_t> find_loop(const ElfFile& file, const FunctionBounds& functions) {
    if (const auto address = symbol_address(file, ruby_loop))
        return address;
    return tail_of(functions, function_named(file, functions, evaluate));
}

// Of rb_symbols_t the first member (last_id) and the third (ids) are read, 16 bytes apart.
uint64_t find_symbols(const ElfFile& file, const FunctionBounds& functions) {
    constexpr uint64_t between = 16;
    if (const auto address = symbol_address(file, ruby_symbols))
        return *address;
    const auto tail = tail_of(functions, function_named(file, functions, name_of_id));
    const Function function = tail ? function_at(file, functions, *tail) : Function();
    std::set<uint64_t> read;
    for (size_t at = 0; at < function.bytes.size();) {
        const auto rest = std::span(function.bytes).subspan(at);
        const auto instruction = decode(rest, function.address + at);
        if (!instruction)
            break;
        if (instruction->memory && instruction->base == no_register &&
            instruction->index == no_register && !instruction->odd_memory) {
            const uint64_t address = instruction->displacement;
            if (read.contains(address - between))
                return address - between;
            read.insert(address);
        }
        at += instruction->length;
    }
    return 0;
}

} // namespace

std::optional<RubyFile> read_ruby(const ElfFile& file) {
    // Of nearly every file this is all that is read.
    const auto section = file.section(".dynstr");
    if (!section || section->size > ruby_exports_limit)
        return std::nullopt;
    const auto exported = file.read_section(".dynstr", ruby_exports_limit);
    const std::string_view names(reinterpret_cast<const char*>(exported.data()), exported.size());
    if (names.find(ruby_version_text) == names.npos || names.find(evaluate) == names.npos ||
        !symbol_address(file, evaluate))
        return std::nullopt;
    RubyFile ruby;
    ruby.version = read_ruby_version(file);
    const FunctionBounds functions(file);
    ruby.context = find_context(file, functions);
    if (const auto address = find_loop(file, functions))
        ruby.loop = find_loop_code(file, functions, *address, ruby_loop);
    ruby.symbols = find_symbols(file, functions);
    return ruby;
}

} // namespace auger
