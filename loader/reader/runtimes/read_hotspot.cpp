// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/reader/runtimes/read_hotspot.h"

#include "loader/reader/elf/symbol_address.h"
#include "loader/reader/values/read_thread_variable.h"

#include <string_view>

namespace auger {
namespace {

constexpr std::string_view structs = "gHotSpotVMStructs", types = "gHotSpotVMTypes";
constexpr std::string_view current_thread = "_ZN6Thread12_thr_currentE";
constexpr size_t exports_limit = 1 << 20; // bytes; libjvm's names are some kilobytes

} // namespace

std::optional<HotspotFile> read_hotspot(const ElfFile& file) {
    // Of nearly every file this is all that is read.
    const auto section = file.section(".dynstr");
    if (!section || section->size > exports_limit)
        return std::nullopt;
    const auto exported = file.read_section(".dynstr", exports_limit);
    const std::string_view names(reinterpret_cast<const char*>(exported.data()), exported.size());
    if (names.find(structs) == names.npos)
        return std::nullopt;
    const auto structs_at = symbol_address(file, structs), types_at = symbol_address(file, types);
    if (!structs_at || !types_at)
        return std::nullopt;
    return HotspotFile{*structs_at, *types_at, read_hidden_thread_variable(file, current_thread)};
}

} // namespace auger
