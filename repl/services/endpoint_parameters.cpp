// SPDX-License-Identifier: GPL-3.0-or-later
#include "repl/services/endpoint_parameters.h"

#include "loader/base/read_clock.h"
#include "repl/language/arguments.h"
#include "repl/language/complaint.h"
#include "repl/language/values.h"
#include "repl/services/accepted_form.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>

namespace auger {
namespace {

using Kind = EndpointRequest::Kind;

constexpr uint64_t shortest_interval_ns = 20'408; // of 49,000 Hz, the most that a user may have
constexpr uint64_t longest_interval_ns = 60 * second_ns;
constexpr uint64_t profile_interval_ns = 10'000'000; // as Go's
constexpr uint64_t default_profile_ns = 30 * second_ns;
constexpr uint64_t most_rows = 10'000;

// "10 ms" as well as "10ms".
std::optional<uint64_t> read_interval(std::string text) {
    std::erase(text, ' ');
    return read_duration(text);
}

// "self" is who has made the connection, as the kernel tells: a process need not know the number
// that it has here, which in a container is another one than its own.
std::string read_process(const std::string& value, EndpointRequest& read) {
    if (value == "self") {
        if (!read.asker)
            return "pid=self is who asks, and that is not known here: it takes a unix socket, and "
                   "a process that auger's pid namespace has";
        read.selection.filter.process = static_cast<uint32_t>(*read.asker);
        return {};
    }
    const auto number = read_count(value);
    if (!number || *number == 0 || *number > INT32_MAX)
        return "pid is a process's number, or self";
    read.selection.filter.process = static_cast<uint32_t>(*number);
    return {};
}

// Each enters what the value says; returns what is wrong with it, or nothing.
std::string read_seconds(const std::string& value, EndpointRequest& read) {
    const auto duration = read_duration(value + "s");
    if (!duration || *duration == 0 || *duration > longest_request_ns)
        return "seconds is a number above 0, up to 600";
    read.duration_ns = *duration;
    return {};
}

std::string read_class(const std::string& value, EndpointRequest& read) {
    auto filter = class_of(Word{value, {0, value.size()}});
    if (!filter)
        return printable(filter.complaint().message);
    read.selection.filter = std::move(*filter);
    return {};
}

std::string read_by(const std::string& value, EndpointRequest& read) {
    const auto by = GroupBy::named(value);
    if (!by)
        return fmt::format("by is one of {}", fmt::join(GroupBy::names(), ", "));
    read.selection.by = *by;
    return {};
}

std::string read_under(const std::string& value, EndpointRequest& read) {
    read.selection.under = value;
    return {};
}

std::string read_frames(const std::string& value, EndpointRequest& read) {
    for (const FrameChoice frames : {FrameChoice::all, FrameChoice::language, FrameChoice::native})
        if (value == name_of(frames)) {
            read.selection.frames = frames;
            return {};
        }
    return "frames is one of: all, language, native";
}

std::string read_window(const std::string& value, EndpointRequest& read) {
    const auto span = read_duration(value);
    if ((!span || *span == 0) && value != "all")
        return "window is a duration such as 10s, or all";
    read.window = span ? Window{Window::Kind::last, *span, 0} : Window{};
    return {};
}

std::string read_probe(const std::string& value, EndpointRequest& read) {
    const auto number = read_count(value);
    if (!number || *number > UINT32_MAX)
        return "probe is a number, as `probes` lists them";
    read.probe = ProbeId{static_cast<uint32_t>(*number)};
    return {};
}

std::string read_threads(const std::string& value, EndpointRequest& read) {
    if (value != "0" && value != "1")
        return "threads is 1 to tell threads apart, or 0";
    read.threads = value == "1";
    return {};
}

std::string read_rows(const std::string& value, EndpointRequest& read) {
    const auto rows = read_count(value);
    if (!rows || *rows == 0 || *rows > most_rows)
        return fmt::format("rows is a number from 1 to {}", most_rows);
    read.rows = *rows;
    return {};
}

struct Parameter {
    std::string_view key;
    std::string (*read)(const std::string& value, EndpointRequest& read);
};
constexpr std::array parameters = {
    Parameter{"seconds", read_seconds}, Parameter{"class", read_class},
    Parameter{"by", read_by},           Parameter{"under", read_under},
    Parameter{"frames", read_frames},   Parameter{"window", read_window},
    Parameter{"probe", read_probe},     Parameter{"rows", read_rows},
    Parameter{"pid", read_process},     Parameter{"threads", read_threads},
};

} // namespace

HttpAnswer bad_request(std::string text) {
    return {400, std::move(text) + "\n"};
}

ReadRequest read_samples(const HttpRequest& request) {
    constexpr const char* form = R"(send {"numberOfSamples":100,"timeInterval":"10 ms"})";
    const auto json = nlohmann::json::parse(request.body, nullptr, false);
    if (!json.is_object())
        return bad_request(fmt::format("the request's body is not a JSON object: {}", form));
    EndpointRequest read{.kind = Kind::samples, .asker = request.process};
    uint64_t samples = 0;
    for (const auto& [key, value] : json.items()) {
        if (key == "numberOfSamples") {
            if (!value.is_number_unsigned() || value.get<uint64_t>() == 0)
                return bad_request("numberOfSamples is a number of at least 1");
            samples = value.get<uint64_t>();
        } else if (key == "timeInterval") {
            const auto interval =
                value.is_string() ? read_interval(value.get<std::string>()) : std::nullopt;
            if (!interval)
                return bad_request(R"(timeInterval is a duration such as "10 ms")");
            read.interval_ns = *interval;
        } else if (key == "pid") {
            const std::string text = value.is_string() ? value.get<std::string>()
                                     : value.is_number_unsigned()
                                         ? std::to_string(value.get<uint64_t>())
                                         : "";
            if (std::string wrong = read_process(text, read); !wrong.empty())
                return bad_request(std::move(wrong));
        } else {
            return bad_request(fmt::format("there is no \"{}\": {}", printable(key), form));
        }
    }
    if (samples == 0 || read.interval_ns == 0)
        return bad_request(fmt::format("numberOfSamples and timeInterval are needed: {}", form));
    if (read.interval_ns < shortest_interval_ns || read.interval_ns > longest_interval_ns)
        return bad_request("timeInterval is between 21 us and 60 s");
    if (samples > longest_request_ns / read.interval_ns)
        return bad_request("numberOfSamples times timeInterval is at most 10 minutes");
    read.duration_ns = samples * read.interval_ns;
    return read;
}

ReadRequest read_parameters(Kind kind, const HttpRequest& request,
                            std::span<const std::string_view> keys) {
    EndpointRequest read{.kind = kind, .asker = request.process};
    read.protobuf = kind == Kind::metrics && accepts_protobuf(request.accept);
    if (kind == Kind::profile || kind == Kind::otlp || kind == Kind::collapsed) {
        read.duration_ns = default_profile_ns;
        read.interval_ns = profile_interval_ns;
    }
    for (const auto& [key, value] : request.query) {
        if (keys.empty())
            return bad_request(fmt::format("{} takes no parameters", request.path));
        const auto* known = std::ranges::find(parameters, key, &Parameter::key);
        if (std::ranges::find(keys, key) == keys.end() || known == parameters.end())
            return bad_request(
                fmt::format("there is no \"{}\": only {}", printable(key), fmt::join(keys, ", ")));
        if (std::string wrong = known->read(value, read); !wrong.empty())
            return bad_request(std::move(wrong));
    }
    if (kind == Kind::hist && !read.probe)
        return bad_request("probe=NUMBER is needed, as `probes` lists them");
    return read;
}

} // namespace auger
