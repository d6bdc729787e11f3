// SPDX-License-Identifier: GPL-3.0-or-later
#include "repl/services/header_file.h"

#include "loader/process/secret_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <sstream>

namespace auger {
namespace {

constexpr size_t largest_file = 64 << 10;
constexpr size_t most_headers = 64;
// They say what the body is, which auger knows.
constexpr std::array<std::string_view, 5> own_headers = {
    "content-type", "content-length", "content-encoding", "transfer-encoding", "expect"};

bool is_name_character(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}

// Why it is none; empty: it is one. Its value is nobody's business, and is not said.
std::string why_no_header(const std::string& line) {
    const size_t colon = line.find(':');
    std::string name = line.substr(0, colon);
    if (colon == line.npos || name.empty() || !std::ranges::all_of(name, is_name_character))
        return "is no header, which is NAME: VALUE";
    const auto is_control = [](unsigned char c) { return (c < 0x20 && c != '\t') || c == 0x7f; };
    if (std::ranges::any_of(line, is_control))
        return "has control characters";
    std::ranges::transform(name, name.begin(),
                           [](char c) { return c >= 'A' && c <= 'Z' ? char(c + 32) : c; });
    if (std::ranges::find(own_headers, name) != own_headers.end())
        return "is a header that auger makes itself";
    return {};
}

} // namespace

Result<std::vector<std::string>> read_header_file(const std::string& path) {
    constexpr const char* operation = "read headers from";
    const auto failed = [&](std::string cause) {
        return Error{operation, path, std::move(cause),
                     "one a line, as Authorization: Bearer TOKEN", Error::Kind::failed};
    };
    auto text = read_secret_file(operation, path, Symlinks::follow, largest_file + 1);
    if (!text)
        return text.error();
    if (!*text)
        return failed("there is no such file");
    if ((*text)->size() > largest_file)
        return failed("it is too large");
    std::vector<std::string> headers;
    std::istringstream lines(**text);
    size_t number = 0;
    for (std::string line; std::getline(lines, line);) {
        number++;
        while (!line.empty() && (line.back() == '\r' || line.back() == ' '))
            line.pop_back();
        if (line.empty() || line.front() == '#')
            continue;
        if (const std::string why = why_no_header(line); !why.empty())
            return failed(fmt::format("line {} {}", number, why));
        if (headers.size() == most_headers)
            return failed(fmt::format("there are more than {}", most_headers));
        headers.push_back(std::move(line));
    }
    return headers;
}

} // namespace auger
