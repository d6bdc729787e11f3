// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/reader/runtimes/read_go.h"

#include "loader/reader/tables/go_runtime.h"

#include <algorithm>
#include <string_view>

namespace auger {
namespace {

constexpr std::string_view setter = "runtime/pprof.runtime_setProfLabel";
constexpr std::string_view status_changer = "runtime.casgstatus";
constexpr size_t function_limit = 1024;        // bytes of the code of either
constexpr size_t build_information_size = 256; // that holds a version

std::vector<std::byte> build_information(const ElfFile& file) {
    const auto section = file.section(".go.buildinfo");
    return section ? file.read_code(section->address, build_information_size)
                   : std::vector<std::byte>();
}

std::vector<std::byte> code_of(const ElfFile& file, const GoFunction& function) {
    return file.read_code(function.begin,
                          std::min<uint64_t>(function.end - function.begin, function_limit));
}

void find_labels(const ElfFile& file, const GoFunction& setter, GoFile& go) {
    const auto offset = go_labels_offset(code_of(file, setter));
    if (!offset || !go.labels.m_curg)
        return;
    go.labels.g_labels = *offset;
    go.labels.form = go_labels_form(go.version);
}

} // namespace

std::optional<std::string> go_version(std::span<const std::byte> build_information) {
    constexpr std::string_view magic = "\xff Go buildinf:";
    constexpr size_t flags_at = 15, version_at = 32;
    constexpr uint8_t holds_version = 2; // else pointers to it
    const std::string_view bytes(reinterpret_cast<const char*>(build_information.data()),
                                 build_information.size());
    if (!bytes.starts_with(magic) || bytes.size() <= version_at)
        return std::nullopt;
    if (!(static_cast<uint8_t>(bytes[flags_at]) & holds_version))
        return std::string();
    // Its length, a variable-length integer, which for any name of a version is one byte.
    const auto length = static_cast<uint8_t>(bytes[version_at]);
    if (length == 0 || length >= 0x80 || bytes.size() - version_at - 1 < length)
        return std::nullopt;
    return std::string(bytes.substr(version_at + 1, length));
}

std::optional<GoFile> read_go(const ElfFile& file) {
    const GoTable* table = file.is_go() ? file.go_table() : nullptr;
    if (!table)
        return std::nullopt;
    GoFile go;
    if (const auto runtime = read_go_runtime(file)) {
        go.labels.thread_g = runtime->thread_g;
        go.labels.g_m = runtime->g_m;
        go.labels.m_curg = runtime->m_curg;
        if (const GoFunction* function = table->named(status_changer))
            go.labels.g_id = go_id_offset(code_of(file, *function)).value_or(0);
    }
    const GoFunction* function = table->named(setter);
    go.sets_labels = function;
    const auto version = go_version(build_information(file));
    if (!version)
        return go;
    go.version = *version;
    if (function)
        find_labels(file, *function, go);
    return go;
}

} // namespace auger
