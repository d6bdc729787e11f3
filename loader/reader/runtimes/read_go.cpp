// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/reader/runtimes/read_go.h"

#include "loader/reader/tables/go_runtime.h"

#include <algorithm>
#include <string_view>

namespace auger {
namespace {

constexpr std::string_view setter = "runtime/pprof.runtime_setProfLabel";
constexpr size_t setter_limit = 512;           // bytes of its code
constexpr size_t build_information_size = 256; // that holds a version

std::vector<std::byte> build_information(const ElfFile& file) {
    const auto section = file.section(".go.buildinfo");
    return section ? file.read_code(section->address, build_information_size)
                   : std::vector<std::byte>();
}

wire_go_labels find_labels(const ElfFile& file, const GoFunction& setter,
                           std::string_view version) {
    const std::vector<std::byte> code =
        file.read_code(setter.begin, std::min<uint64_t>(setter.end - setter.begin, setter_limit));
    const auto runtime = read_go_runtime(file);
    const auto offset = go_labels_offset(code);
    if (!runtime || !offset)
        return {};
    wire_go_labels labels{};
    labels.thread_g = runtime->thread_g;
    labels.g_m = runtime->g_m;
    labels.m_curg = runtime->m_curg;
    labels.g_labels = *offset;
    labels.form = go_labels_form(version);
    return labels;
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
    const GoFunction* function = table ? table->named(setter) : nullptr;
    if (!function)
        return std::nullopt;
    GoFile go;
    const auto version = go_version(build_information(file));
    if (!version)
        return go;
    go.version = *version;
    go.labels = find_labels(file, *function, *version);
    return go;
}

} // namespace auger
