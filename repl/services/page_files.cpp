// SPDX-License-Identifier: GPL-3.0-or-later
#include "repl/services/page_files.h"

#include <algorithm>
#include <string>

namespace auger {
namespace {

constexpr std::string_view first_page = "/index.html";

const char* type_of(std::string_view path) {
    return path.ends_with(".html")  ? "text/html; charset=utf-8"
           : path.ends_with(".css") ? "text/css; charset=utf-8"
                                    : "text/javascript; charset=utf-8";
}

} // namespace

std::optional<HttpAnswer> page_answer(const HttpRequest& request) {
    if (request.method != "GET" && request.method != "HEAD")
        return std::nullopt;
    const bool browser = request.accept.find("text/html") != std::string::npos;
    const std::string_view path = request.path == "/" && browser ? first_page : request.path;
    const auto files = page_files();
    const auto file = std::ranges::find(files, path, &PageFile::path);
    if (file == files.end())
        return std::nullopt;
    HttpAnswer answer{.text = std::string(file->text), .type = type_of(file->path)};
    // Whatever a name of a target's might be made to look like, nothing but these files runs, and
    // nothing goes anywhere but back here.
    answer.headers.emplace_back("Content-Security-Policy",
                                "default-src 'none'; script-src 'self'; style-src 'self'; "
                                "connect-src 'self'; base-uri 'none'; form-action 'none'; "
                                "frame-ancestors 'none'");
    return answer;
}

} // namespace auger
