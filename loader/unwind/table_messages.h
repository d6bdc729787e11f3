// SPDX-License-Identifier: GPL-3.0-or-later
// What is said between read_unwind_tables() and its process. Nothing that an answer says is
// believed unless it holds together.
#pragma once

#include "loader/runtimes/go/go_file.h"
#include "loader/runtimes/hotspot/hotspot_file.h"
#include "loader/runtimes/perl/perl_file.h"
#include "loader/runtimes/php/php_file.h"
#include "loader/runtimes/python/asyncio_file.h"
#include "loader/runtimes/python/python_file.h"
#include "loader/runtimes/ruby/ruby_file.h"
#include "loader/runtimes/tokio/tokio_file.h"
#include "loader/runtimes/v8/v8_file.h"
#include "loader/unwind/byte_cursor.h"

#include <optional>
#include <string>
#include <string_view>

namespace auger::table_messages {

inline constexpr size_t name_limit = 64 << 10;

// First request: the file's name; its descriptor comes with it. The answer:
struct Opened {
    std::string problem;  // empty: there is none
    std::string build_id; // hexadecimal; empty: it has none
};
std::string opened(const Opened& opened);
// Nothing also when the build id is none.
std::optional<Opened> opened(std::string_view bytes);

// Second request: what the cache has under the build id, or nothing. The answer:
struct Tables {
    std::string problem;
    bool cached = false; // what the cache has is right
    Bytes file;          // else encode_unwind_file(); of the message's bytes
    std::optional<PythonFile> python{};
    std::optional<AsyncioFile> asyncio{};
    std::optional<HotspotFile> hotspot{};
    std::optional<V8File> v8{};
    std::optional<PhpFile> php{};
    std::optional<RubyFile> ruby{};
    std::optional<PerlFile> perl{};
    std::optional<GoFile> go{};
    std::optional<TokioFile> tokio{};
};
std::string tables(const Tables& tables);
std::optional<Tables> tables(std::string_view bytes);

} // namespace auger::table_messages
