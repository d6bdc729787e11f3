// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/runtimes/python/code_reader.h"

#include "loader/runtimes/python/text.h"

#include <array>
#include <optional>
#include <span>

namespace auger {
namespace {

constexpr uint64_t name_limit = 1024;         // characters
constexpr uint64_t lines_limit = 1024 * 1024; // bytes

// What is read of the code object itself.
struct Fields {
    uint32_t first_line;
    uint64_t file;
    uint64_t name;
    uint64_t lines;
    uint32_t version;

    uint32_t cookie() const { return wire_python_cookie(first_line, file, name, lines, version); }
};

class CodeReader {
  public:
    CodeReader(const ReadMemory& read, const PythonLayout& layout) : read_(read), layout_(layout) {}

    std::optional<Fields> fields(uint64_t address) {
        std::array<std::byte, WIRE_PYTHON_CODE_BYTES> bytes;
        if (!fill(address, bytes))
            return std::nullopt;
        const wire_python_layout& at = layout_.frames;
        return Fields{
            number_at<uint32_t>(bytes, at.code_line), number_at<uint64_t>(bytes, at.code_file),
            number_at<uint64_t>(bytes, at.code_name), number_at<uint64_t>(bytes, at.code_lines),
            at.code_version ? number_at<uint32_t>(bytes, at.code_version) : 0};
    }

    std::optional<std::string> text(uint64_t address) {
        return read_python_text(
            [this](uint64_t from, std::span<std::byte> bytes) { return fill(from, bytes); },
            layout_.objects, address, name_limit);
    }

    std::optional<std::vector<std::byte>> lines(uint64_t address) {
        const PythonObjects& at = layout_.objects;
        uint64_t length;
        if (!fill(address + at.bytes_length, std::as_writable_bytes(std::span(&length, 1))))
            return std::nullopt;
        std::vector<std::byte> table(length <= lines_limit ? length : 0);
        if (!fill(address + at.bytes_data, table))
            return std::nullopt;
        return table;
    }

    bool late() const { return late_; }

  private:
    bool fill(uint64_t address, std::span<std::byte> bytes) {
        if (late_)
            return false;
        if (bytes.empty())
            return true;
        const MemoryRead read = read_(address, bytes.data(), bytes.size());
        late_ = read == MemoryRead::late;
        return read == MemoryRead::whole;
    }

    const ReadMemory& read_;
    const PythonLayout& layout_;
    bool late_ = false;
};

} // namespace

std::optional<uint32_t> python_code_cookie(const ReadMemory& read, const PythonLayout& layout,
                                           uint64_t address) {
    const auto fields = CodeReader(read, layout).fields(address);
    return fields ? std::optional(fields->cookie()) : std::nullopt;
}

std::variant<PythonCode, PythonCodeProblem> read_python_code(const ReadMemory& read,
                                                             const PythonLayout& layout,
                                                             uint64_t address, uint32_t cookie) {
    CodeReader reader(read, layout);
    const auto unread = [&] {
        return reader.late() ? PythonCodeProblem::late : PythonCodeProblem::unreadable;
    };
    const auto before = reader.fields(address);
    if (!before)
        return unread();
    if (before->cookie() != cookie)
        return cookie == WIRE_PYTHON_UNREAD ? PythonCodeProblem::unreadable
                                            : PythonCodeProblem::gone;
    auto function = reader.text(before->name);
    auto file = reader.text(before->file);
    auto lines = reader.lines(before->lines);
    // What died in the meantime may have had texts that were read, and others that were not.
    const auto after = reader.fields(address);
    if (!after)
        return unread();
    if (after->cookie() != cookie || after->lines != before->lines)
        return PythonCodeProblem::gone;
    if (!function || !file || !lines)
        return unread();
    return PythonCode{std::move(*function), std::move(*file), before->first_line, std::move(*lines),
                      static_cast<PythonLines>(layout.objects.lines)};
}

} // namespace auger
