// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/runtimes/php/function_reader.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

namespace auger {
namespace {

constexpr uint64_t text_limit = 1024; // bytes

template <typename Number>
Number member(std::span<const std::byte> bytes, size_t offset) {
    Number number{};
    if (offset <= bytes.size() && sizeof number <= bytes.size() - offset)
        std::memcpy(&number, bytes.data() + offset, sizeof number);
    return number;
}

// What is read of the function itself.
struct Function {
    bool is_user;
    uint64_t name, scope, file;
    uint32_t first_line;
};

// What the texts were known by that its names are read from.
struct Marks {
    uint64_t name = 0, file = 0, scope = 0;
    friend bool operator==(const Marks&, const Marks&) = default;
};

class FunctionReader {
  public:
    FunctionReader(const ReadMemory& read, const PhpLayout& layout)
        : read_(read), layout_(layout) {}

    std::optional<Function> function(uint64_t address) {
        std::array<std::byte, WIRE_PHP_FUNCTION_BYTES> bytes{};
        const auto all = std::span(bytes);
        if (!fill(address, all) && (late_ || !fill(address, all.first(WIRE_PHP_INTERNAL_BYTES))))
            return std::nullopt;
        const auto type = member<uint8_t>(bytes, WIRE_PHP_FUNCTION_TYPE);
        Function function{wire_php_is_user(type) != 0,
                          member<uint64_t>(bytes, WIRE_PHP_FUNCTION_NAME),
                          member<uint64_t>(bytes, WIRE_PHP_FUNCTION_SCOPE), 0, 0};
        if (function.is_user) {
            function.file = member<uint64_t>(bytes, layout_.function_file);
            function.first_line = member<uint32_t>(bytes, layout_.function_line);
        }
        return function;
    }

    std::optional<uint64_t> class_name(uint64_t scope) {
        uint64_t name = 0;
        if (scope &&
            !fill(scope + WIRE_PHP_CLASS_NAME, std::as_writable_bytes(std::span(&name, 1))))
            return std::nullopt;
        return name;
    }

    // See wire_php_mark().
    std::optional<uint64_t> mark(uint64_t text) {
        std::array<uint64_t, 2> head{}, end{}; // hash and length; the last 16 bytes
        if (!text)
            return 0;
        if (!fill(text + WIRE_PHP_TEXT_HASH, std::as_writable_bytes(std::span(head))))
            return std::nullopt;
        if (!head[0] && !fill(text + WIRE_PHP_TEXT_CHARACTERS + head[1] - sizeof end,
                              std::as_writable_bytes(std::span(end))))
            return std::nullopt;
        return wire_php_mark(head[0], head[1], end[0], end[1]);
    }

    std::optional<Marks> marks(const Function& function, uint64_t class_name) {
        const auto name = mark(function.name), file = mark(function.file), scope = mark(class_name);
        if (!name || !file || !scope)
            return std::nullopt;
        return Marks{*name, *file, *scope};
    }

    // Up to a zero: behind one, an anonymous class has what makes its name another one.
    std::optional<std::string> text(uint64_t address) {
        uint64_t length = 0;
        if (!address)
            return "";
        if (!fill(address + WIRE_PHP_TEXT_LENGTH, std::as_writable_bytes(std::span(&length, 1))))
            return std::nullopt;
        std::string text(std::min(length, text_limit), '\0');
        if (!fill(address + WIRE_PHP_TEXT_CHARACTERS, std::as_writable_bytes(std::span(text))))
            return std::nullopt;
        if (const size_t end = text.find('\0'); end != text.npos)
            text.resize(end);
        else if (length > text_limit)
            text += "...";
        return text;
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
    const PhpLayout& layout_;
    bool late_ = false;
};

// Whether a walk has made the cookie of this function: by its texts, or by their addresses.
bool is_of(uint32_t cookie, const Function& function, const Marks& marks) {
    return cookie == wire_php_cookie(function.first_line, marks.scope, marks.name, marks.file) ||
           cookie ==
               wire_php_cookie(function.first_line, function.scope, function.name, function.file);
}

// Since 8.4 the name of a closure says itself where it stands.
bool names_its_class(std::string_view name) {
    return name.starts_with("{closure:");
}

} // namespace

std::variant<PhpFunction, FunctionProblem> read_php_function(const ReadMemory& read,
                                                             const PhpLayout& layout,
                                                             uint64_t address, uint32_t cookie) {
    FunctionReader reader(read, layout);
    const auto unread = [&] {
        return reader.late() ? FunctionProblem::late : FunctionProblem::unreadable;
    };
    const auto function = reader.function(address);
    if (!function)
        return unread();
    const auto class_name = reader.class_name(function->scope);
    const auto before = class_name ? reader.marks(*function, *class_name) : std::nullopt;
    if (!before)
        return unread();
    if (!is_of(cookie, *function, *before))
        return FunctionProblem::gone;
    auto name = reader.text(function->name), file = reader.text(function->file),
         scope = reader.text(*class_name);
    // What died in the meantime may have had texts that were read, and others that were not.
    const auto again = reader.function(address);
    const auto class_again = again ? reader.class_name(again->scope) : std::nullopt;
    const auto after = class_again ? reader.marks(*again, *class_again) : std::nullopt;
    if (!after)
        return unread();
    if (!is_of(cookie, *again, *after) || *after != *before)
        return FunctionProblem::gone;
    if (!name || !file || !scope)
        return unread();
    if (!scope->empty() && !name->empty() && !names_its_class(*name))
        name = *scope + "::" + *name;
    return PhpFunction{*std::move(name), *std::move(file), function->first_line};
}

} // namespace auger
