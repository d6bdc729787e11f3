// SPDX-License-Identifier: GPL-3.0-or-later
// FieldWriter and FieldReader: plain data into bytes and back. What a struct consists of is said
// once, by a function template `fields(all, value)` beside the others of its kind
// (settings_fields.h, report_fields.h), for both directions. A reader believes nothing: lists grow
// with what was read only, and all of one message have a common limit. Changes when another kind of
// field is needed.
#pragma once

#include "loader/base/bytes.h"
#include "loader/base/ids.h"
#include "loader/base/result.h"
#include "loader/remote/protocol.h"

#include <chrono>
#include <concepts>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace auger::remote {

// Of a parameter, whether or not it is const.
template <typename T, typename Of>
concept IsA = std::same_as<std::remove_cvref_t<T>, Of>;

class FieldWriter {
  public:
    explicit FieldWriter(std::string& out) : out_(out) {}

    void operator()(const auto&... values) { (put(values), ...); }
    // An enum whose values are 0 to `last`.
    template <typename Enum>
    void choice(const Enum& value, Enum) {
        out_.varint(static_cast<uint64_t>(value));
    }
    // What the other side demands.
    void require(bool) {}
    static constexpr bool reading = false;

  private:
    void put(bool value) { out_.varint(value); }
    void put(double value) { out_.real(value); }
    void put(const std::string& text) { out_.string(std::string_view(text).substr(0, most_text)); }
    void put(std::chrono::nanoseconds time) { out_.zigzag(time.count()); }
    template <typename Tag>
    void put(const Id<Tag>& id) {
        out_.varint(id.value);
    }
    template <typename T>
    void put(const std::vector<T>& list) {
        out_.varint(list.size());
        for (const T& one : list)
            put(one);
    }
    template <typename T>
    void put(const std::optional<T>& value) {
        out_.varint(value.has_value());
        if (value)
            put(*value);
    }
    template <typename T>
    void put(const std::map<std::string, T>& map) {
        out_.varint(map.size());
        for (const auto& [key, value] : map) {
            put(key);
            put(value);
        }
    }
    template <typename T>
    void put(const T& value) {
        if constexpr (std::is_integral_v<T> && std::is_signed_v<T>)
            out_.zigzag(value);
        else if constexpr (std::is_integral_v<T>)
            out_.varint(value);
        else
            fields(*this, value);
    }

    ByteWriter out_;
};

class FieldReader {
  public:
    explicit FieldReader(std::string_view bytes) : in_(bytes) {}

    bool failed() const { return in_.failed(); }
    std::string_view rest(std::string_view bytes) const { return bytes.substr(in_.position()); }

    void operator()(auto&... values) { (take(values), ...); }
    template <typename Enum>
    void choice(Enum& value, Enum last) {
        value = static_cast<Enum>(in_.varint_up_to(static_cast<uint64_t>(last)));
    }
    void require(bool holds) {
        if (!holds)
            in_.fail();
    }
    static constexpr bool reading = true;

  private:
    // Of a list: it may have that many.
    size_t take_count() {
        const size_t count = in_.count(elements_);
        elements_ -= count;
        return count;
    }
    void take(bool& value) { value = in_.boolean(); }
    void take(double& value) { value = in_.real(); }
    void take(std::string& text) { text = in_.string(most_text); }
    void take(std::chrono::nanoseconds& time) { time = std::chrono::nanoseconds(in_.zigzag()); }
    template <typename Tag>
    void take(Id<Tag>& id) {
        id.value = in_.varint32();
    }
    template <typename T>
    void take(std::vector<T>& list) {
        list.clear();
        for (size_t left = take_count(); left > 0 && !in_.failed(); left--)
            take(list.emplace_back());
    }
    template <typename T>
    void take(std::optional<T>& value) {
        value.reset();
        if (!in_.boolean())
            return;
        T one{};
        take(one);
        value = std::move(one);
    }
    template <typename T>
    void take(std::map<std::string, T>& map) {
        map.clear();
        for (size_t left = take_count(); left > 0 && !in_.failed(); left--) {
            std::string key;
            take(key);
            take(map[std::move(key)]);
        }
    }
    template <typename T>
    void take(T& value) {
        if constexpr (std::is_integral_v<T> && std::is_signed_v<T>) {
            const int64_t number = in_.zigzag();
            value = static_cast<T>(number);
            require(std::in_range<T>(number));
        } else if constexpr (std::is_integral_v<T>) {
            const uint64_t number = in_.varint();
            value = static_cast<T>(number);
            require(std::in_range<T>(number));
        } else {
            fields(*this, value);
        }
    }

    ByteReader in_;
    size_t elements_ = most_elements;
};

template <typename T>
std::string encoded(const T& value) {
    std::string bytes;
    FieldWriter writer(bytes);
    writer(value);
    return bytes;
}

// Nothing where the bytes are none. What follows the known fields is ignored.
template <typename T>
std::optional<T> decoded(std::string_view bytes) {
    FieldReader reader(bytes);
    T value{};
    reader(value);
    if (reader.failed())
        return std::nullopt;
    return value;
}

void fields(auto& all, IsA<Error> auto& error) {
    all(error.operation, error.subject, error.cause, error.hint);
    all.choice(error.kind, Error::Kind::unsupported);
    all(error.at);
}

void fields(auto& all, IsA<Error::Range> auto& range) {
    all(range.offset, range.length);
    all.require(range.offset <= most_text && range.length <= most_text);
}

} // namespace auger::remote
