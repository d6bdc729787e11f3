// SPDX-License-Identifier: GPL-3.0-or-later
#include "repl/language/url_argument.h"

#include "repl/language/values.h"

#include <fmt/format.h>

#include <algorithm>

namespace auger {
namespace {

constexpr size_t longest_url = 2'000;

bool belongs_in_url(char c) {
    return c > 0x20 && c < 0x7f &&
           std::string_view("\"<>\\^`{|}").find(c) == std::string_view::npos;
}

// What is behind the host: ":4318", or nothing.
bool is_port(std::string_view text) {
    if (text.empty())
        return true;
    const auto number = read_size(text.substr(1));
    return text[0] == ':' && text.back() >= '0' && text.back() <= '9' && number && *number > 0 &&
           *number <= 65'535;
}

} // namespace

Parsed<std::string> parse_server_url(Arguments& arguments) {
    auto word = arguments.expect("the receiver's URL");
    if (!word)
        return word.complaint();
    const std::string& url = word->text;
    const auto complaint = [&](size_t begin, size_t end, std::string message, std::string hint) {
        // Quoted, a word's characters are not where its text has them.
        const Span at = word->quoted
                            ? word->span
                            : Span{word->span.offset + begin, std::max(end - begin, size_t{1})};
        return Complaint{at, std::move(message), std::move(hint), Error::Kind::usage};
    };
    constexpr std::string_view form = "write http://HOST:PORT or https://HOST:PORT";
    const size_t host = url.starts_with("http://") ? 7 : url.starts_with("https://") ? 8 : 0;
    if (host == 0 || url.size() > longest_url)
        return complaint(0, url.size(), fmt::format("\"{}\" is no URL of HTTP", url),
                         std::string(form));
    const auto strange = std::ranges::find_if_not(url, belongs_in_url);
    if (strange != url.end()) {
        const auto at = static_cast<size_t>(strange - url.begin());
        return complaint(at, at + 1, "a URL has no such character", "write it as %HH");
    }
    const size_t end = std::min(url.find_first_of("/?#", host), url.size());
    const std::string_view authority = std::string_view(url).substr(host, end - host);
    if (const size_t at = authority.rfind('@'); at != authority.npos)
        return complaint(host, host + at, "a password in a URL is read by others, as in ps",
                         "put it into a headers file, as Authorization: Basic ..., and name that: "
                         "headers FILE");
    const size_t bracket = authority.starts_with('[') ? authority.find(']') : 0;
    const size_t colon = bracket == authority.npos ? 0 : authority.find(':', bracket);
    const size_t host_end = std::min(colon, authority.size());
    if (host_end == 0 || bracket == authority.npos)
        return complaint(host, end, "the URL names no host", std::string(form));
    if (!is_port(authority.substr(host_end)))
        return complaint(host + host_end, end, "the URL names no port behind the host",
                         "a port is a number up to 65535");
    if (const size_t more = url.find_first_of("?#", end); more != url.npos)
        return complaint(more, url.size(), "a receiver's URL ends with its path",
                         "what the protocol needs is added to it");
    return std::move(word->text);
}

} // namespace auger
