// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/runtimes/go/go_file.h"

#include "loader/base/bytes.h"

#include <fmt/format.h>

#include <charconv>

namespace auger {
namespace {

constexpr size_t version_limit = 64;
constexpr unsigned first_list = 24, newest = 27; // Go 1.24, 1.27

} // namespace

bool operator==(const GoFile& a, const GoFile& b) {
    return encode_go_file(a) == encode_go_file(b);
}

std::string GoFile::problem() const {
    return fmt::format("pprof labels of {} are not known", version.empty() ? "its Go" : version);
}

// Before Go 1.18 its name is elsewhere. A compiler that is no release says of which it is to be.
wire_go_labels_form go_labels_form(std::string_view version) {
    constexpr std::string_view mark = "go1.";
    if (version.empty())
        return WIRE_GO_LABELS_MAP;
    const size_t at = version.find(mark);
    if (at == version.npos)
        return WIRE_GO_LABELS_NONE;
    const std::string_view digits = version.substr(at + mark.size());
    unsigned minor = 0;
    const auto [end, failure] =
        std::from_chars(digits.data(), digits.data() + digits.size(), minor);
    if (failure != std::errc() || minor > newest)
        return WIRE_GO_LABELS_NONE;
    return minor < first_list ? WIRE_GO_LABELS_MAP : WIRE_GO_LABELS_LIST;
}

std::string encode_go_file(const GoFile& file) {
    std::string bytes;
    ByteWriter out(bytes);
    out.zigzag(file.labels.thread_g);
    for (const uint16_t number :
         {file.labels.g_m, file.labels.m_curg, file.labels.g_labels, file.labels.g_id,
          file.labels.form})
        out.varint(number);
    out.varint(file.sets_labels);
    out.string(std::string_view(file.version).substr(0, version_limit));
    return bytes;
}

std::optional<GoFile> decode_go_file(std::string_view bytes) {
    ByteReader in(bytes);
    GoFile file;
    file.labels.thread_g = static_cast<int32_t>(in.zigzag());
    for (uint16_t* const number :
         {&file.labels.g_m, &file.labels.m_curg, &file.labels.g_labels, &file.labels.g_id})
        *number = static_cast<uint16_t>(in.varint_up_to(UINT16_MAX));
    file.labels.form = static_cast<uint16_t>(in.varint_up_to(WIRE_GO_LABELS_FORMS - 1));
    file.sets_labels = in.varint_up_to(1);
    file.version = in.string(version_limit);
    if (in.failed() || !in.at_end())
        return std::nullopt;
    return file;
}

} // namespace auger
