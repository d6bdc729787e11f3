// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/reader/tables/call_frame_information.h"

#include <algorithm>
#include <string_view>

namespace auger {
namespace {

// Linkers merge common entries: honest files have some dozens, of some dozens of bytes.
constexpr size_t most_commons = size_t{1} << 18;

constexpr uint32_t length_is_64_bit = 0xffffffff;
constexpr uint32_t debug_common_id = 0xffffffff;

// The characters before the next zero.
std::string_view read_text(ByteCursor& cursor) {
    ByteCursor ahead = cursor;
    const Bytes rest = ahead.rest();
    const void* end = rest.empty() ? nullptr : std::memchr(rest.data(), 0, rest.size());
    if (!end) {
        cursor.fail();
        return {};
    }
    const char* begin = reinterpret_cast<const char*>(rest.data());
    const std::string_view text(begin, static_cast<const char*>(end) - begin);
    cursor.take(text.size() + 1);
    return text;
}

} // namespace

const char* text_of(FrameSkip skip) {
    switch (skip) {
    case FrameSkip::truncated:
        return "truncated";
    case FrameSkip::common_entry:
        return "broken common entry";
    case FrameSkip::address:
        return "unknown address encoding";
    case FrameSkip::limit:
        return "too many";
    case FrameSkip::outside:
        return "outside the code";
    case FrameSkip::overlap:
        return "overlapping";
    case FrameSkip::count_:
        break;
    }
    return "";
}

std::optional<FrameFunction> CallFrameInformation::next() {
    while (auto entry = next_entry()) {
        if (entry->common)
            add_common(*entry);
        else if (auto found = function(*entry))
            return found;
    }
    return std::nullopt;
}

// An entry of length zero ends the section of one object file; what was linked behind it follows.
std::optional<CallFrameInformation::Entry> CallFrameInformation::next_entry() {
    while (section_.size() - position_ >= 4) {
        ByteCursor cursor(section_.subspan(position_));
        uint64_t length = cursor.number<uint32_t>();
        const bool wide = length == length_is_64_bit;
        if (wide)
            length = cursor.number<uint64_t>();
        if (cursor.failed() || length > cursor.left()) {
            // Where the next one begins is not known.
            position_ = section_.size();
            return skip(FrameSkip::truncated);
        }
        Entry entry{};
        entry.offset = position_;
        entry.id_offset = position_ + cursor.position();
        entry.rest = ByteCursor(cursor.take(length));
        position_ += cursor.position();
        if (length == 0)
            continue;
        const bool debug = kind_ == FrameSectionKind::debug_frame;
        const bool wide_id = wide && debug;
        entry.id = wide_id ? entry.rest.number<uint64_t>() : entry.rest.number<uint32_t>();
        if (entry.rest.failed()) {
            skip(FrameSkip::truncated);
            continue;
        }
        const uint64_t common_id = !debug ? 0 : wide ? ~uint64_t{0} : uint64_t{debug_common_id};
        entry.common = entry.id == common_id;
        return entry;
    }
    return std::nullopt;
}

void CallFrameInformation::add_common(Entry& entry) {
    ByteCursor& cursor = entry.rest;
    FrameCommon common{};
    common.offset = entry.offset;
    common.encoding.bases = bases_;
    const uint8_t version = cursor.byte();
    const std::string_view augmentation = read_text(cursor);
    if (augmentation == "eh")
        cursor.number<uint64_t>();
    if (version == 4) {
        const uint8_t address_size = cursor.byte();
        const uint8_t selector_size = cursor.byte();
        if (address_size != 8 || selector_size != 0)
            cursor.fail();
    } else if (version != 1 && version != 3) {
        cursor.fail();
    }
    common.encoding.code_alignment = cursor.uleb();
    common.encoding.data_alignment = cursor.sleb();
    const uint64_t return_column = version == 1 ? cursor.byte() : cursor.uleb();
    if (cursor.failed() || return_column != register_return_address ||
        commons_.size() == most_commons || !read_augmentation(entry, augmentation.data(), common))
        return;
    const auto initial = FrameProgram::initial_state(common.encoding, cursor.rest());
    if (!initial)
        return;
    common.initial = *initial;
    commons_.push_back(common);
}

bool CallFrameInformation::read_augmentation(Entry& entry, const char* letters,
                                             FrameCommon& common) {
    ByteCursor& cursor = entry.rest;
    if (*letters == 0 || std::string_view(letters) == "eh")
        return true;
    if (*letters != 'z')
        return false; // where the instructions begin cannot be told
    common.has_augmentation_data = true;
    ByteCursor data(cursor.take(cursor.uleb()));
    for (++letters; *letters; ++letters) {
        switch (*letters) {
        case 'R':
            common.encoding.pointer_encoding = data.byte();
            break;
        case 'P': // a personality routine: skipped
            if (const uint8_t encoding = data.byte(); encoding != pointer_omitted)
                read_number(data, encoding);
            break;
        case 'L':
            data.byte();
            break;
        case 'S':
            common.signal = true;
            break;
        case 'B': // of another machine, without data
            break;
        default: // what follows is unknown, too
            return !cursor.failed() && !data.failed();
        }
    }
    return !cursor.failed() && !data.failed();
}

std::optional<FrameFunction> CallFrameInformation::function(Entry& entry) {
    const bool debug = kind_ == FrameSectionKind::debug_frame;
    // In .eh_frame: how far before this field.
    const FrameCommon* common = common_at(debug ? entry.id : entry.id_offset - entry.id);
    if (!common)
        return skip(FrameSkip::common_entry);
    ByteCursor& cursor = entry.rest;
    const FrameEncoding& encoding = common->encoding;
    const auto begin = read_pointer(cursor, encoding.pointer_encoding, bases_, entry.id_offset);
    if (cursor.failed())
        return skip(FrameSkip::truncated);
    if (!begin)
        return skip(FrameSkip::address);
    const auto size = read_number(cursor, encoding.pointer_encoding);
    if (common->has_augmentation_data)
        cursor.take(cursor.uleb());
    if (!size || cursor.failed())
        return skip(FrameSkip::truncated);
    FrameFunction found{};
    found.begin = *begin;
    found.common = common;
    found.instructions_offset = entry.id_offset + cursor.position();
    found.instructions = cursor.rest();
    if (__builtin_add_overflow(*begin, *size, &found.end))
        return skip(FrameSkip::outside);
    if (*size == 0)
        return std::nullopt;
    return found;
}

// Only common entries that were read already: those of the linkers all stand before their
// functions, and any other place may be anything.
const FrameCommon* CallFrameInformation::common_at(uint64_t offset) {
    if (last_common_ < commons_.size() && commons_[last_common_].offset == offset)
        return &commons_[last_common_];
    const auto found = std::lower_bound(
        commons_.begin(), commons_.end(), offset,
        [](const FrameCommon& common, uint64_t wanted) { return common.offset < wanted; });
    if (found == commons_.end() || found->offset != offset)
        return nullptr;
    last_common_ = static_cast<size_t>(found - commons_.begin());
    return &*found;
}

} // namespace auger
