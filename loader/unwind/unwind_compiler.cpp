// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/unwind/unwind_compiler.h"

#include "loader/unwind/table_builder.h"

#include <algorithm>

namespace auger {
namespace {

// Of code of some gigabytes.
constexpr size_t section_limit = size_t{256} << 20;

class Compiler {
  public:
    explicit Compiler(const ElfFile& file) : file_(file) {
        for (const ElfSegment& segment : file.segments())
            if (segment.executable)
                builders_.emplace_back(segment.address, segment.address + segment.memory_size);
    }

    void add(const std::string& name, FrameSectionKind kind);
    Result<UnwindTables> finish();

  private:
    uint64_t address_of(std::string_view section) const {
        const auto found = file_.section(section);
        return found ? found->address : 0;
    }
    TableBuilder* builder_of(const FrameFunction& function) {
        const auto found =
            std::find_if(builders_.begin(), builders_.end(),
                         [&](const TableBuilder& builder) { return builder.holds(function); });
        return found == builders_.end() ? nullptr : &*found;
    }

    const ElfFile& file_;
    std::vector<TableBuilder> builders_;
    UnwindStatistics statistics_;
    std::string unreadable_; // a section
};

void Compiler::add(const std::string& name, FrameSectionKind kind) {
    const auto section = file_.section(name);
    if (!section || section->size == 0)
        return;
    const std::vector<std::byte> content = file_.read_section(name, section_limit);
    if (content.empty())
        unreadable_ = name;
    const uint64_t data = address_of(".got.plt");
    CallFrameInformation information(
        content, kind, {section->address, address_of(".text"), data ? data : address_of(".got")});
    const auto skip = [this](FrameSkip cause) {
        ++statistics_.skipped[static_cast<size_t>(cause)];
    };
    while (const auto function = information.next()) {
        TableBuilder* builder = builder_of(*function);
        if (!builder)
            skip(FrameSkip::outside);
        else if (builder->add(*function, kind))
            ++statistics_.functions;
        else
            skip(FrameSkip::limit);
    }
    for (size_t i = 0; i < statistics_.skipped.size(); ++i)
        statistics_.skipped[i] += information.skipped()[i];
}

Result<UnwindTables> Compiler::finish() {
    UnwindTables result;
    for (TableBuilder& builder : builders_) {
        if (builder.empty())
            continue;
        UnwindTable table = builder.finish(statistics_.skipped);
        statistics_.rows += table.rows.size();
        for (const uint32_t row : table.rows)
            if (table.rules[row >> WIRE_UNWIND_PAGE_BITS].cfa == WIRE_CFA_UNSUPPORTED)
                ++statistics_.unsupported_rows;
        result.tables.push_back(std::move(table));
    }
    result.statistics = statistics_;
    if (result.tables.empty() && !unreadable_.empty())
        return Error{"read call frame information",
                     file_.name() + " " + unreadable_,
                     "it lies outside the file or is larger than 256 MB",
                     {}};
    return result;
}

} // namespace

const wire_unwind_rule* UnwindTables::find(uint64_t address) const {
    for (const UnwindTable& table : tables)
        if (const wire_unwind_rule* rule = table.find(address))
            return rule;
    return nullptr;
}

Result<UnwindTables> compile_unwind_tables(const ElfFile& file) {
    Compiler compiler(file);
    compiler.add(".eh_frame", FrameSectionKind::eh_frame);
    compiler.add(".debug_frame", FrameSectionKind::debug_frame);
    return compiler.finish();
}

} // namespace auger
