// SPDX-License-Identifier: GPL-3.0-or-later
// The confined side of read_unwind_tables().
#include "loader/process/message.h"
#include "loader/reader/runtimes/read_go.h"
#include "loader/reader/runtimes/read_hotspot.h"
#include "loader/reader/runtimes/read_perl.h"
#include "loader/reader/runtimes/read_php.h"
#include "loader/reader/runtimes/read_python.h"
#include "loader/reader/runtimes/read_ruby.h"
#include "loader/reader/runtimes/read_tokio.h"
#include "loader/reader/runtimes/read_v8.h"
#include "loader/reader/services.h"
#include "loader/reader/tables/unwind_compiler.h"
#include "loader/reader/tables/unwind_origin.h"
#include "loader/unwind/table_messages.h"
#include "loader/unwind/table_reader.h"

namespace auger {
namespace {

table_messages::Tables compile(const ElfFile& file, Bytes cached, std::vector<std::byte>& bytes) {
    if (is_unwind_file_of(cached, file))
        return {{}, true, {}, {}};
    const auto tables = compile_unwind_tables(file);
    if (!tables)
        return {tables.error().cause, false, {}, {}};
    bytes = encode_unwind_file(*tables, file);
    return {{}, false, bytes, {}};
}

} // namespace

void serve_tables(int socket) {
    auto request = receive_message(socket, table_messages::name_limit);
    if (!request || request->descriptors.size() != 1)
        return;
    const auto file = ElfFile::open(std::move(request->descriptors[0]), request->bytes);
    const table_messages::Opened opened = file ? table_messages::Opened{{}, (*file)->build_id()}
                                               : table_messages::Opened{file.error().cause, {}};
    if (!send_message(socket, table_messages::opened(opened)) || !file)
        return;
    const auto cached = receive_message(socket, UnwindCache::default_limit);
    if (!cached)
        return;
    std::vector<std::byte> bytes;
    auto tables = compile(**file, std::as_bytes(std::span(cached->bytes)), bytes);
    tables.python = read_python(**file);
    tables.asyncio = read_asyncio(**file);
    tables.hotspot = read_hotspot(**file);
    tables.v8 = read_v8(**file);
    tables.php = read_php(**file);
    tables.ruby = read_ruby(**file);
    tables.perl = read_perl(**file);
    tables.go = read_go(**file);
    tables.tokio = read_tokio(**file);
    send_message(socket, table_messages::tables(tables));
}

} // namespace auger
