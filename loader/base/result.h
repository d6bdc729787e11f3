// SPDX-License-Identifier: GPL-3.0-or-later
// Result<T>: a value, or an Error that says what was being done, to what, why it failed and what
// the user can do about it. Nothing in auger throws across a room's border.
#pragma once

#include <cerrno>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace auger {

// `attach uprobe libc:malloc: Permission denied (needs CAP_BPF and CAP_PERFMON)`
struct Error {
    // What kind of failure it is decides the exit code of a script (see repl/exit_code.h).
    enum class Kind { failed, usage, unsupported };

    // A part of a text, in bytes from its start.
    struct Range {
        size_t offset = 0;
        size_t length = 0;
        friend bool operator==(const Range&, const Range&) = default;
    };

    std::string operation; // "attach uprobe"
    std::string subject;   // "libc:malloc"
    std::string cause;     // "Permission denied"
    std::string hint;      // what to do; may be empty
    Kind kind = Kind::failed;
    std::optional<Range> at{}; // what part of the subject it is about

    std::string message() const {
        std::string text = operation;
        if (!subject.empty())
            text += (text.empty() ? "" : " ") + subject;
        if (!cause.empty())
            text += (text.empty() ? "" : ": ") + cause;
        if (!hint.empty())
            text += " (" + hint + ")";
        return text;
    }
};

// The cause is the text of `error_number`, by default the present errno.
inline Error system_error(std::string operation, std::string subject, std::string hint = {},
                          int error_number = errno) {
    return {std::move(operation), std::move(subject), std::strerror(error_number), std::move(hint),
            Error::Kind::failed};
}

template <typename T>
class [[nodiscard]] Result {
  public:
    Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
    Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

    bool ok() const { return state_.index() == 0; }
    explicit operator bool() const { return ok(); }

    T& value() & { return std::get<0>(state_); }
    const T& value() const& { return std::get<0>(state_); }
    T&& value() && { return std::get<0>(std::move(state_)); }
    T& operator*() & { return value(); }
    const T& operator*() const& { return value(); }
    T&& operator*() && { return std::move(*this).value(); }
    T* operator->() { return &value(); }
    const T* operator->() const { return &value(); }

    const Error& error() const { return std::get<1>(state_); }

  private:
    std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
  public:
    Result() = default;
    Result(Error error) : error_(std::move(error)) {}

    bool ok() const { return !error_; }
    explicit operator bool() const { return ok(); }
    const Error& error() const { return *error_; }

  private:
    std::optional<Error> error_;
};

} // namespace auger
