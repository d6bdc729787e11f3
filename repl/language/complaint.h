// SPDX-License-Identifier: GPL-3.0-or-later
// What is wrong with a line, and exactly where. Parsing returns Parsed<T>: a value, or a Complaint
// about a span of the line. With the line itself it becomes a Diagnostic, which prints as
//
//     demo.aug:3:7: error: there is no command "splt"
//         splt handle > p95
//         ^~~~
//       did you mean "split"?
#pragma once

#include "loader/base/result.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace auger {

// A part of a line, in bytes from its start.
struct Span {
    size_t offset = 0;
    size_t length = 0;
    friend bool operator==(const Span&, const Span&) = default;
};

struct Complaint {
    Span at;
    std::string message;
    std::string hint; // what to do; may be empty
    Error::Kind kind = Error::Kind::usage;
};

template <typename T>
class [[nodiscard]] Parsed {
  public:
    Parsed(T value) : state_(std::in_place_index<0>, std::move(value)) {}
    Parsed(Complaint complaint) : state_(std::in_place_index<1>, std::move(complaint)) {}

    bool ok() const { return state_.index() == 0; }
    explicit operator bool() const { return ok(); }
    T& operator*() & { return std::get<0>(state_); }
    const T& operator*() const& { return std::get<0>(state_); }
    T&& operator*() && { return std::get<0>(std::move(state_)); }
    T* operator->() { return &std::get<0>(state_); }
    const T* operator->() const { return &std::get<0>(state_); }
    const Complaint& complaint() const { return std::get<1>(state_); }

  private:
    std::variant<T, Complaint> state_;
};

template <>
class [[nodiscard]] Parsed<void> {
  public:
    Parsed() = default;
    Parsed(Complaint complaint) : complaint_(std::move(complaint)) {}

    bool ok() const { return !complaint_; }
    explicit operator bool() const { return ok(); }
    const Complaint& complaint() const { return *complaint_; }

  private:
    std::optional<Complaint> complaint_;
};

// One line of a script, of -e, or of the prompt.
struct ScriptLine {
    std::string name;  // "demo.aug", "-e", "stdin"; empty: typed at the prompt
    size_t number = 1; // of the line, from 1
    std::string text;
};

struct Diagnostic {
    ScriptLine line;
    Complaint complaint;

    // From 1, in characters (not bytes): where the complaint begins.
    size_t column() const;
    // The lines shown above, ending in a newline; only printable characters, whatever was read.
    std::string render() const;
};

// `text` with every control character and every byte that is no UTF-8 as "?" of the same width.
std::string printable(std::string_view text);

// Length of the UTF-8 sequence that begins at `offset`; 0 when there is none.
size_t utf8_length(std::string_view text, size_t offset);

} // namespace auger
