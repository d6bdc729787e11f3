// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/runtimes/ruby/function_reader.h"

#include "bpf/unwind_table.h"
#include "loader/runtimes/frame_words.h"

#include <array>
#include <optional>
#include <utility>

namespace auger {
namespace {

// rb_method_definition_t (method.h), in all versions known.
constexpr uint64_t definition_code = 8, definition_name = 32;
constexpr uint32_t definition_kind_mask = 0xf, definition_is_code = 0; // VM_METHOD_TYPE_ISEQ

uint64_t address_in(uint64_t first) {
    return first & ~uint64_t{WIRE_FRAME_KIND};
}

// What is known of a frame's method entry and body before they are read, and must be afterwards.
class FunctionReader {
  public:
    FunctionReader(const ReadMemory& read, const RubyProcess& process, const RubyFrameWords& words)
        : ruby_(read, process), words_(words) {}

    // Whether all that the words name is what it was.
    bool find() {
        const bool is_method = (words_.first & WIRE_FRAME_KIND) == WIRE_FRAME_RUBY_METHOD;
        const auto known_by = static_cast<uint32_t>(words_.second);
        if (!is_method) {
            if (words_.owner && (!read_method(address_in(words_.owner)) ||
                                 method_cookie_ != static_cast<uint32_t>(words_.owner_second)))
                return false;
            return read_body(address_in(words_.first)) && code_cookie() == known_by;
        }
        if (!read_method(address_in(words_.first)))
            return false;
        uint32_t kind = 0;
        if (!memory().get(definition_, kind))
            return false;
        is_code_ = (kind & definition_kind_mask) == definition_is_code;
        if (!is_code_)
            return method_cookie_ == known_by;
        uint64_t iseq = 0, body = 0;
        return memory().get(definition_ + definition_code, iseq) &&
               memory().get(iseq + WIRE_RUBY_ISEQ_BODY, body) && read_body(body) &&
               wire_ruby_frame_cookie(method_cookie_, code_cookie()) == known_by;
    }

    std::optional<RubyFunction> function() {
        std::optional<RubyFunction> read = is_code_ ? code() : c_function();
        return memory().failed() ? std::nullopt : std::move(read);
    }

    bool failed() { return memory().failed(); }
    bool late() { return memory().late(); }

  private:
    BoundedMemory& memory() { return ruby_.memory(); }

    bool read_method(uint64_t address) {
        std::array<uint64_t, WIRE_RUBY_METHOD_BYTES / sizeof(uint64_t)> words{};
        if (!memory().get(address, words) ||
            (words[WIRE_RUBY_OBJECT_FLAGS / 8] & WIRE_RUBY_OBJECT_MASK) != WIRE_RUBY_METHOD_ENTRY)
            return false;
        definition_ = words[WIRE_RUBY_METHOD_DEFINITION / 8];
        owner_ = words[WIRE_RUBY_METHOD_OWNER / 8];
        method_cookie_ =
            wire_ruby_method_cookie(definition_, words[WIRE_RUBY_METHOD_NAME / 8], owner_);
        return true;
    }
    bool read_body(uint64_t address) {
        body_at_ = address;
        return memory().get(address, body_);
    }
    uint32_t code_cookie() const { return wire_ruby_code_cookie(body_.data()); }

    std::optional<RubyFunction> c_function() {
        uint64_t id = 0;
        if (!memory().get(definition_ + definition_name, id))
            return std::nullopt;
        auto name = ruby_.symbol(id);
        if (!name)
            return std::nullopt;
        RubyFunction function;
        function.name = ruby_.qualifier(owner_) + *name;
        return function;
    }

    // Whether the code is a method's, or within one's.
    bool is_of_method() {
        uint64_t outermost = 0, body = 0;
        uint32_t kind = 0;
        return memory().get(body_at_ + ruby_.objects().body_outermost, outermost) &&
               memory().get(outermost + WIRE_RUBY_ISEQ_BODY, body) &&
               memory().get(body + WIRE_RUBY_BODY_KIND, kind) && kind == WIRE_RUBY_METHOD_CODE;
    }

    std::optional<RubyFunction> code() {
        auto label = ruby_.text(body_[WIRE_RUBY_BODY_LABEL / 8]);
        const auto name = ruby_.text(body_[WIRE_RUBY_BODY_NAME / 8]);
        auto file = path();
        if (!label || !name || !file)
            return std::nullopt;
        RubyFunction function;
        function.name = *std::move(label);
        if (owner_ && function.name.ends_with(*name) && is_of_method())
            function.name.insert(function.name.size() - name->size(), ruby_.qualifier(owner_));
        function.file = *std::move(file);
        const uint64_t line = body_[WIRE_RUBY_BODY_LINE / 8];
        function.first_line = static_cast<uint32_t>(
            ruby_.objects().line_is_object ? (line & 1 ? line >> 1 : 0) : line);
        if (function.first_line > most_ruby_line)
            function.first_line = 0;
        function.lines = read_ruby_lines(
            ruby_, body_at_, static_cast<uint32_t>(body_[WIRE_RUBY_BODY_KIND / 8] >> 32));
        return function;
    }

    // The real path, where there is one.
    std::optional<std::string> path() {
        const uint64_t object = body_[WIRE_RUBY_BODY_PATH / 8];
        if (const auto real = ruby_.element(object, 1))
            if (auto text = ruby_.text(*real))
                return text;
        const auto first = ruby_.element(object, 0);
        return ruby_.text(first.value_or(object));
    }

    RubyMemory ruby_;
    const RubyFrameWords words_;
    uint64_t definition_ = 0, owner_ = 0;
    uint32_t method_cookie_ = 0;
    bool is_code_ = true;
    uint64_t body_at_ = 0;
    std::array<uint64_t, WIRE_RUBY_BODY_BYTES / sizeof(uint64_t)> body_{};
};

} // namespace

size_t RubyFrameWordsHash::operator()(const RubyFrameWords& words) const noexcept {
    return hash_of_pairs(words.first, words.second, words.owner, words.owner_second);
}

uint32_t RubyFunction::line(uint32_t position) const {
    if (file.empty())
        return 0;
    const uint32_t known = position == WIRE_RUBY_NO_OFFSET ? 0 : ruby_line(lines, position);
    return known ? known : first_line;
}

std::variant<RubyFunction, FunctionProblem> read_ruby_function(const ReadMemory& read,
                                                               const RubyProcess& process,
                                                               const RubyFrameWords& words) {
    const auto problem_of = [](FunctionReader& reader) {
        return reader.late()     ? FunctionProblem::late
               : reader.failed() ? FunctionProblem::unreadable
                                 : FunctionProblem::gone;
    };
    FunctionReader reader(read, process, words);
    if (!reader.find())
        return problem_of(reader);
    auto function = reader.function();
    if (!function && reader.failed())
        return problem_of(reader);
    // What died in the meantime may have had texts that were read, and others that were not.
    FunctionReader again(read, process, words);
    if (!again.find())
        return problem_of(again);
    if (!function)
        return FunctionProblem::unreadable;
    return *std::move(function);
}

} // namespace auger
