// SPDX-License-Identifier: GPL-3.0-or-later
#include "repl/services/access_token.h"

#include "loader/process/new_file.h"
#include "loader/process/secret_file.h"

#include <fmt/format.h>

#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>

namespace auger {
namespace {

constexpr size_t random_bytes = 16;
// Of a token that somebody else has made; as long as the shortest spelling of 128 bits.
constexpr size_t shortest = 22, longest = 256;

// As URLs and headers hold it without escapes.
bool is_plain(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_';
}

// The file's text without what surrounds it; nothing: there is no file yet, or an empty one.
Result<std::optional<std::string>> read_token(const std::string& path) {
    constexpr const char* operation = "read the token from";
    auto secret = read_secret_file(operation, path, Symlinks::refuse, longest + 2);
    if (!secret || !*secret)
        return secret;
    std::string& text = **secret;
    while (!text.empty() && (text.back() == '\n' || text.back() == '\r'))
        text.pop_back();
    if (text.empty())
        return std::optional<std::string>();
    if (text.size() < shortest || text.size() > longest || !std::ranges::all_of(text, is_plain))
        return Error{operation, path, "holds no token",
                     fmt::format("one has {} to {} letters, digits, '-' and '_'; a new one is "
                                 "written where there is no file",
                                 shortest, longest)};
    return secret;
}

} // namespace

Result<AccessToken> AccessToken::random() {
    std::array<unsigned char, random_bytes> bytes{};
    // This many come whole or not at all.
    if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
        return system_error("make", "a token");
    std::string text;
    for (const unsigned char byte : bytes)
        text += fmt::format("{:02x}", byte);
    return AccessToken(std::move(text));
}

Result<AccessToken> AccessToken::of_file(const std::string& path) {
    auto known = read_token(path);
    if (!known)
        return known.error();
    if (*known)
        return AccessToken(std::move(**known));
    auto token = random();
    if (!token)
        return token;
    const std::string line = token->text_ + "\n";
    // An empty file is replaced, as mktemp makes one; what was written there meanwhile is not.
    auto file = NewFile::create(path, line);
    if (!file)
        return file.error();
    if (write(file->get(), line.data(), line.size()) != static_cast<ssize_t>(line.size()))
        return system_error("write", path);
    if (auto named = file->take_name(); !named)
        return named.error();
    return token;
}

bool AccessToken::matches(std::string_view given) const {
    // Its length is no secret.
    if (given.size() != text_.size())
        return false;
    volatile unsigned char different = 0;
    for (size_t i = 0; i < text_.size(); i++)
        different = static_cast<unsigned char>(different | (text_[i] ^ given[i]));
    return different == 0;
}

} // namespace auger
