// SPDX-License-Identifier: GPL-3.0-or-later
// The live page that / is in a browser: files of repl/services/page, which are part of the program.
// They are the same in every session and hold nothing of it, so who asks for them needs no token;
// what they show they ask for with the token that came with their URL.
#pragma once

#include "repl/services/http_server.h"

#include <optional>
#include <span>
#include <string_view>

namespace auger {

struct PageFile {
    std::string_view path, text;
};
// Written by CMake.
std::span<const PageFile> page_files();

// The file that is asked for, if it is one of the page's. Pure.
std::optional<HttpAnswer> page_answer(const HttpRequest&);

} // namespace auger
