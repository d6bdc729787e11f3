// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/runtimes/hotspot/frame_reader.h"

#include "loader/runtimes/bounded_memory.h"
#include "loader/runtimes/hotspot/line_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>

namespace auger {
namespace {

using F = HotspotField;
using T = HotspotType;

constexpr size_t name_limit = 1024;     // bytes of a class's or a method's
constexpr size_t stub_limit = 64;       // ... of a kind of code
constexpr uint64_t pcs_limit = 1 << 20; // bytes of an nmethod's table of places
constexpr uint64_t scopes_limit = 64 << 20;
// Bytes of a method's table of lines, and of those of all methods of one frame.
constexpr uint64_t lines_limit = 128 << 10, all_lines_limit = 1 << 20;
constexpr size_t depth_limit = 128; // methods in one another
constexpr uint32_t metadata_limit = 1 << 20;
constexpr uint64_t word_bytes = 8;
constexpr uint16_t flag_has_lines = 1; // ConstMethod::_has_linenumber_table

// What is read of a CodeBlob itself.
struct Blob {
    std::array<std::byte, WIRE_HOTSPOT_BLOCK_BYTES> bytes;

    template <typename Number>
    Number at(uint32_t offset) const {
        Number number{};
        if (offset <= bytes.size() && sizeof number <= bytes.size() - offset)
            std::memcpy(&number, bytes.data() + offset, sizeof number);
        return number;
    }
    // As block_number() and block_address() of the walk.
    int64_t number(const wire_hotspot_number& place) const {
        switch (place.bits) {
        case 16:
            return at<int16_t>(place.at);
        case 32:
            return at<int32_t>(place.at);
        default:
            return at<int64_t>(place.at);
        }
    }
    uint64_t code(const wire_hotspot& walk, uint64_t address) const {
        const auto begin = static_cast<uint64_t>(number(walk.block_code));
        return walk.block_code.bits < 64 ? address + begin : begin;
    }
    bool is_nmethod(const wire_hotspot& walk) const {
        return number(walk.block_header_size) == int64_t{walk.nmethod_header_size};
    }
    uint32_t cookie(const wire_hotspot& walk) const {
        const bool compiled = is_nmethod(walk);
        return wire_hotspot_code_cookie(
            at<uint64_t>(walk.block_name), compiled ? at<uint64_t>(walk.block_method) : 0,
            at<uint32_t>(walk.block_size), compiled ? at<uint32_t>(walk.block_compile_id) : 0);
    }
};

// Of a ConstMethod.
struct ConstFields {
    uint64_t address = 0;
    uint64_t constants = 0;
    uint16_t name = 0;
    uint16_t code_size = 0;

    uint32_t cookie() const {
        return wire_hotspot_method_cookie(address, constants, name, code_size);
    }
};

// Of a method's compiled code: its places, [pcs, pcs + pcs_bytes), the scopes that they name, and
// the methods that those name. They may lie anywhere.
struct DebugInfo {
    uint64_t pcs = 0, pcs_bytes = 0, scopes = 0, scopes_bytes = 0, methods = 0;
};

// A piece of a method: of one that was inlined into another one, or of the whole.
struct Scope {
    uint64_t method;
    std::optional<uint32_t> bytecode; // nothing: not known
};

class FrameReader {
  public:
    FrameReader(const ReadMemory& read, const HotspotValues& values)
        : memory_(read), values_(values) {}

    std::optional<Blob> blob(uint64_t block) {
        Blob blob;
        if (!memory_.bytes(block, blob.bytes.data(), blob.bytes.size()))
            return std::nullopt;
        return blob;
    }
    std::optional<ConstFields> const_fields(uint64_t method) {
        ConstFields fields;
        if (!memory_.get(method + values_[F::method_const], fields.address) ||
            !memory_.get(fields.address + values_[F::const_constants], fields.constants) ||
            !memory_.get(fields.address + values_[F::const_name], fields.name) ||
            !memory_.get(fields.address + values_[F::const_code_size], fields.code_size))
            return std::nullopt;
        return fields;
    }
    std::optional<HotspotFunction> function(const Scope& scope);
    std::optional<std::string> stub_name(uint64_t address) {
        std::string text = memory_.text(address, stub_limit);
        // "StubRoutines (1)": views would leave that out, as they do parameters.
        std::erase_if(text, [](char letter) { return letter == '(' || letter == ')'; });
        return memory_.failed() ? std::nullopt : std::optional(text);
    }
    // The methods that are in one another at a place, innermost first. Empty: nothing is known of
    // the place but the method whose code it is.
    std::optional<std::vector<Scope>> scopes(const wire_hotspot& walk, const Blob& blob,
                                             uint64_t address, uint64_t instruction);
    // Nothing: it cannot be. Without any places: it calls a native function.
    std::optional<DebugInfo> debug_info(const wire_hotspot& walk, const Blob& blob,
                                        uint64_t address) const;
    HotspotFrameProblem problem() const {
        return memory_.late() ? HotspotFrameProblem::late : HotspotFrameProblem::unreadable;
    }

  private:
    std::optional<std::string> symbol(uint64_t address);
    std::optional<std::string> constant_text(uint64_t pool, uint16_t index);
    std::optional<std::vector<std::byte>> lines(const ConstFields& fields);
    std::optional<int32_t> scope_at(uint64_t pcs, uint64_t bytes, uint64_t code_offset);

    BoundedMemory memory_;
    const HotspotValues& values_;
    uint64_t lines_left_ = all_lines_limit;
};

std::optional<std::string> FrameReader::symbol(uint64_t address) {
    uint16_t length = 0;
    if (!memory_.get(address + values_[F::symbol_length], length))
        return std::nullopt;
    std::string text(std::min<size_t>(length, name_limit), '\0');
    if (!memory_.bytes(address + values_[F::symbol_body], reinterpret_cast<std::byte*>(text.data()),
                       text.size()))
        return std::nullopt;
    return length > name_limit ? text + "..." : text;
}

std::optional<std::string> FrameReader::constant_text(uint64_t pool, uint16_t index) {
    int32_t length = 0;
    uint64_t address = 0;
    if (!memory_.get(pool + values_[F::pool_length], length) || index >= length ||
        !memory_.get(pool + values_[T::pool] + uint64_t{index} * word_bytes, address))
        return std::nullopt;
    return symbol(address);
}

// Behind the bytecode, to the end of the ConstMethod at most.
std::optional<std::vector<std::byte>> FrameReader::lines(const ConstFields& fields) {
    uint16_t flags = 0;
    int32_t words = 0;
    if (!memory_.get(fields.address + values_[F::const_flags], flags) ||
        !memory_.get(fields.address + values_[F::const_size], words))
        return std::nullopt;
    const uint64_t begin = values_[T::const_method] + fields.code_size;
    const uint64_t end = words > 0 ? static_cast<uint64_t>(words) * word_bytes : 0;
    if (!(flags & flag_has_lines) || end <= begin)
        return std::vector<std::byte>();
    std::vector<std::byte> table(std::min({end - begin, lines_limit, lines_left_}));
    lines_left_ -= table.size();
    if (!memory_.bytes(fields.address + begin, table.data(), table.size()))
        return std::nullopt;
    return table;
}

// "java/lang/Thread" -> "java.lang.Thread". A hidden class has an address behind its name, which is
// another one in each process: "Shop$$Lambda$7+0x00007f10d8000a10" -> "Shop$$Lambda$7".
std::string shown_class(std::string name) {
    if (const size_t hidden = name.find("+0x"); hidden != name.npos)
        name.resize(hidden);
    std::ranges::replace(name, '/', '.');
    return name;
}

std::optional<HotspotFunction> FrameReader::function(const Scope& scope) {
    const auto fields = const_fields(scope.method);
    uint64_t holder = 0, holder_name = 0, holder_pool = 0;
    uint16_t source = 0;
    if (!fields || !memory_.get(fields->constants + values_[F::pool_holder], holder) ||
        !memory_.get(holder + values_[F::class_name], holder_name) ||
        !memory_.get(holder + values_[F::class_constants], holder_pool) ||
        !memory_.get(holder_pool + values_[F::pool_source_file], source))
        return std::nullopt;
    const auto class_name = symbol(holder_name);
    const auto method_name = constant_text(fields->constants, fields->name);
    if (!class_name || !method_name)
        return std::nullopt;
    HotspotFunction function;
    function.name = shown_class(*class_name) + '.' + *method_name;
    if (source) {
        const auto file = constant_text(holder_pool, source);
        if (!file)
            return std::nullopt;
        const size_t package = class_name->rfind('/');
        function.file =
            package == class_name->npos ? *file : class_name->substr(0, package + 1) + *file;
    }
    const auto table = lines(*fields);
    if (!table)
        return std::nullopt;
    if (scope.bytecode)
        function.line = hotspot_line(*table, *scope.bytecode, values_.has_numbers_without_zero());
    return function;
}

// The table of places tells of those where the method may stop; between them, of the next one,
// which is how HotSpot looks at samples too. Nothing: the table cannot be read; 0: none is known.
std::optional<int32_t> FrameReader::scope_at(uint64_t pcs, uint64_t bytes, uint64_t code_offset) {
    std::vector<std::byte> table(bytes);
    if (!memory_.bytes(pcs, table.data(), table.size()))
        return std::nullopt;
    const uint64_t size = values_[T::pc];
    for (uint64_t at = 0; size <= table.size() - at; at += size) {
        int32_t place = 0, scope = 0;
        std::memcpy(&place, &table[at + values_[F::pc_offset]], sizeof place);
        std::memcpy(&scope, &table[at + values_[F::pc_scope]], sizeof scope);
        if (place >= 0 && static_cast<uint64_t>(place) >= code_offset)
            return scope;
    }
    return 0;
}

std::optional<DebugInfo> FrameReader::debug_info(const wire_hotspot& walk, const Blob& blob,
                                                 uint64_t address) const {
    const auto place = [&](F field) {
        return static_cast<uint32_t>(walk.block_blob + values_[field]);
    };
    const auto pcs = blob.at<uint32_t>(walk.block_pcs);
    const auto pcs_end = blob.at<uint32_t>(walk.block_pcs_end);
    DebugInfo info;
    if (pcs >= pcs_end)
        return info;
    info.pcs_bytes = pcs_end - pcs;
    uint64_t scopes_end = 0;
    if (values_.has_immutable_data()) {
        const auto data = blob.at<uint64_t>(place(F::nmethod_immutable));
        info.pcs = data + pcs;
        info.scopes = data + pcs_end;
        scopes_end = data + blob.at<uint32_t>(place(F::nmethod_immutable_size));
    } else {
        info.pcs = address + pcs;
        info.scopes = blob.at<uint64_t>(place(F::nmethod_scopes));
        scopes_end = info.pcs;
    }
    if (values_.has_mutable_data())
        info.methods = blob.at<uint64_t>(place(F::blob_mutable)) +
                       blob.at<uint32_t>(place(F::blob_relocations));
    else if (values_.has_immutable_data())
        info.methods = address + blob.at<uint32_t>(place(F::blob_data)) +
                       blob.at<uint16_t>(place(F::nmethod_metadata));
    else
        info.methods = address + blob.at<uint32_t>(place(F::nmethod_metadata));
    info.scopes_bytes = scopes_end - info.scopes;
    if (info.pcs_bytes > pcs_limit || info.scopes > scopes_end || info.scopes_bytes > scopes_limit)
        return std::nullopt;
    return info;
}

std::optional<std::vector<Scope>> FrameReader::scopes(const wire_hotspot& walk, const Blob& blob,
                                                      uint64_t address, uint64_t instruction) {
    std::vector<Scope> found;
    const auto info = debug_info(walk, blob, address);
    if (!info)
        return std::nullopt;
    if (info->pcs_bytes == 0)
        return found;
    const auto first = scope_at(info->pcs, info->pcs_bytes, instruction - blob.code(walk, address));
    if (!first)
        return std::nullopt;
    // Each names the one around it, which was written before.
    for (int64_t at = *first, next = 0; at > 0; at = next) {
        constexpr size_t most_bytes = 15; // three numbers
        const uint64_t left = info->scopes_bytes;
        if (found.size() >= depth_limit || static_cast<uint64_t>(at) >= left)
            return std::nullopt;
        std::array<std::byte, most_bytes> bytes;
        const size_t size = std::min<uint64_t>(bytes.size(), left - static_cast<uint64_t>(at));
        if (!memory_.bytes(info->scopes + static_cast<uint64_t>(at), bytes.data(), size))
            return std::nullopt;
        HotspotNumbers numbers(std::span<const std::byte>(bytes).first(size),
                               values_.has_numbers_without_zero());
        next = numbers.number();
        const uint32_t index = numbers.number();
        const uint32_t bytecode = numbers.number(); // one more than it is; 0: where it is entered
        Scope scope{0, bytecode ? bytecode - 1 : 0};
        if (numbers.failed() || next >= at || index == 0 || index > metadata_limit ||
            !memory_.get(info->methods + uint64_t{index - 1} * word_bytes, scope.method))
            return std::nullopt;
        found.push_back(scope);
    }
    return found;
}

} // namespace

HotspotFrameAnswer read_hotspot_code(const ReadMemory& read, const HotspotValues& values,
                                     const wire_hotspot& walk, uint64_t address, uint64_t second) {
    FrameReader reader(read, values);
    const auto cookie = static_cast<uint32_t>(second);
    const uint64_t block = address - walk.block_blob;
    const auto blob = reader.blob(block);
    if (!blob)
        return reader.problem();
    if (blob->cookie(walk) != cookie)
        return HotspotFrameProblem::gone;
    HotspotFrame frame;
    bool whole = true;
    if (blob->is_nmethod(walk)) {
        const uint64_t instruction = address + (second >> 32 & WIRE_HOTSPOT_MAX_OFFSET);
        auto scopes = reader.scopes(walk, *blob, address, instruction);
        if (scopes && scopes->empty())
            scopes->push_back({blob->at<uint64_t>(walk.block_method), {}});
        whole = scopes.has_value();
        for (size_t i = 0; whole && i < scopes->size(); i++) {
            const auto function = reader.function((*scopes)[i]);
            whole = function.has_value();
            if (whole)
                frame.push_back(*function);
        }
    } else {
        const auto name = reader.stub_name(blob->at<uint64_t>(walk.block_name));
        whole = name.has_value();
        if (whole)
            frame.push_back({fmt::format("[stub: {}]", *name), {}});
    }
    // What died in the meantime may have been read in part.
    FrameReader again(read, values);
    const auto after = again.blob(block);
    if (!after)
        return again.problem();
    if (after->cookie(walk) != cookie)
        return HotspotFrameProblem::gone;
    if (!whole)
        return reader.problem();
    return frame;
}

HotspotFrameAnswer read_hotspot_method(const ReadMemory& read, const HotspotValues& values,
                                       uint64_t method, uint64_t second) {
    FrameReader reader(read, values);
    const auto cookie = static_cast<uint32_t>(second);
    const auto before = reader.const_fields(method);
    if (!before)
        return reader.problem();
    if (before->cookie() != cookie)
        return HotspotFrameProblem::gone;
    const auto bytecode = static_cast<uint32_t>(second >> 32 & 0xffff);
    const auto function = reader.function({method, bytecode});
    FrameReader again(read, values);
    const auto after = again.const_fields(method);
    if (!after)
        return again.problem();
    if (after->cookie() != cookie)
        return HotspotFrameProblem::gone;
    if (!function)
        return reader.problem();
    return HotspotFrame{*function};
}

} // namespace auger
