// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/reader/elf/go_lines.h"

#include <limits>
#include <string_view>
#include <utility>

namespace auger {
namespace {

constexpr size_t most_steps = 2'000'000; // through programs of values, for one address
constexpr size_t deepest_chain = 256;
constexpr uint32_t no_file = std::numeric_limits<uint32_t>::max();

} // namespace

// The values of one function's code.
class GoLines::Values {
  public:
    Values(const GoTableLayout& layout, const GoFunction& function)
        : layout_(layout), function_(function) {}

    // -1 where the program has none.
    int64_t at(std::span<const std::byte> program, uint64_t address) {
        GoValues values(program, function_.begin);
        while (steps_left_ > 0 && values.next()) {
            steps_left_--;
            if (address < values.end())
                return values.value();
        }
        return -1;
    }
    std::string_view file_at(uint64_t address) {
        const int64_t number = at(layout_.program(word(16)), address);
        if (number < 0)
            return {};
        // By its number within the compilation unit.
        const uint64_t slot = (uint64_t{word(28)} + static_cast<uint64_t>(number)) * sizeof no_file;
        const auto offset = number_at<uint32_t>(layout_.units, slot);
        if (slot + sizeof offset > layout_.units.size() || offset == no_file)
            return {};
        return text_at(layout_.files, offset);
    }
    uint32_t line_at(uint64_t address) {
        const int64_t line = at(layout_.program(word(20)), address);
        return line < 0 || line > std::numeric_limits<int32_t>::max() ? 0
                                                                      : static_cast<uint32_t>(line);
    }

  private:
    // Of the function's description, behind its address.
    uint32_t word(size_t offset) const {
        return number_at<uint32_t>(function_.description, layout_.entry_end + offset);
    }

    const GoTableLayout& layout_;
    const GoFunction& function_;
    size_t steps_left_ = most_steps;
};

std::unique_ptr<GoLines> GoLines::of_file(const std::shared_ptr<const ElfFile>& file) {
    auto trees = GoInlineTrees::of_file(*file);
    if (!trees)
        return nullptr;
    auto lines = std::make_unique<GoLines>(*file->go_table(), *std::move(trees));
    lines->file_ = file;
    return lines;
}

// As Go's own tracebacks do it: the code of an inlined call has its number, and the call says where
// in the code around it the call was, which has a number, too, or is the function's own.
std::vector<SourceFrame> GoLines::frames(uint64_t address) const {
    const GoFunction* function = table_.containing(address);
    if (!function || !table_.layout().has_lines())
        return {};
    Values values(table_.layout(), *function);
    const std::span<const std::byte> numbers = trees_.numbers(*function);
    std::vector<SourceFrame> chain;
    for (uint64_t at = address; chain.size() < deepest_chain;) {
        const int64_t number = values.at(numbers, at);
        const auto call = trees_.call(*function, number);
        if (number >= 0 && !call)
            break;
        chain.push_back({std::string(call ? call->function : function->name),
                         std::string(values.file_at(at)), values.line_at(at), call.has_value()});
        if (!call)
            return chain;
        at = call->from;
    }
    // What is inlined there is not to be found, and the line is not the function's own.
    return {{std::string(function->name), {}, 0, false}};
}

} // namespace auger
