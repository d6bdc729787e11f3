// SPDX-License-Identifier: GPL-3.0-or-later
// A section of call frame information (.eh_frame or .debug_frame), read once from its begin to its
// end: common entries are kept, functions are handed out one by one. The bytes are hostile: what is
// broken is skipped and counted, and nothing is looked at twice.
#pragma once

#include "loader/reader/tables/frame_program.h"
#include "loader/unwind/unwind_tables.h"

#include <vector>

namespace auger {

enum class FrameSectionKind { eh_frame, debug_frame };

const char* text_of(FrameSkip skip);

// What the entries of many functions share (CIE).
struct FrameCommon {
    uint64_t offset; // in the section
    FrameEncoding encoding;
    FrameState initial;
    bool has_augmentation_data;
    bool signal; // frames that the kernel made
};

// One function, or a part of one (FDE). Valid until the next one is asked for.
struct FrameFunction {
    uint64_t begin; // as linked
    uint64_t end;
    const FrameCommon* common;
    Bytes instructions;
    uint64_t instructions_offset; // in the section

    FrameProgram program() const {
        return {common->encoding, common->initial, instructions, instructions_offset, begin, end};
    }
};

class CallFrameInformation {
  public:
    // `section` is referred to. bases.section: where it is linked to.
    CallFrameInformation(Bytes section, FrameSectionKind kind, const PointerBases& bases)
        : section_(section), kind_(kind), bases_(bases) {}

    // Functions without code are left out. Nothing after the last one.
    std::optional<FrameFunction> next();
    const FrameSkips& skipped() const { return skipped_; }

  private:
    struct Entry {
        uint64_t offset;    // in the section
        uint64_t id_offset; // behind the length
        uint64_t id;        // of a common entry, or where it is
        bool common;
        ByteCursor rest; // from id_offset, read up to behind the id
    };
    std::optional<Entry> next_entry();
    void add_common(Entry& entry);
    bool read_augmentation(Entry& entry, const char* letters, FrameCommon& common);
    std::optional<FrameFunction> function(Entry& entry);
    const FrameCommon* common_at(uint64_t offset);
    std::nullopt_t skip(FrameSkip cause) {
        ++skipped_[static_cast<size_t>(cause)];
        return std::nullopt;
    }

    Bytes section_;
    FrameSectionKind kind_;
    PointerBases bases_;
    size_t position_ = 0;
    std::vector<FrameCommon> commons_; // by offset
    size_t last_common_ = 0;           // the one that was used last
    FrameSkips skipped_{};
};

} // namespace auger
