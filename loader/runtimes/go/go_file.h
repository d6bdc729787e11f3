// SPDX-License-Identifier: GPL-3.0-or-later
// What a Go program's file says of the labels that its goroutines have: made where it is read, and
// used elsewhere.
#pragma once

#include "bpf/wire/go_labels.h"

#include <optional>
#include <string>
#include <string_view>

namespace auger {

struct GoFile {
    // Form WIRE_GO_LABELS_NONE: of this version they are not understood.
    wire_go_labels labels{};
    std::string version{}; // "go1.26.1"; empty: it does not say, as before Go 1.18

    bool is_understood() const { return labels.form != WIRE_GO_LABELS_NONE; }
    // Why they are not.
    std::string problem() const;
};
bool operator==(const GoFile& a, const GoFile& b);

// Of a version's name, as the file has it. WIRE_GO_LABELS_NONE: it is not known.
wire_go_labels_form go_labels_form(std::string_view version);

std::string encode_go_file(const GoFile& file);
std::optional<GoFile> decode_go_file(std::string_view bytes);

} // namespace auger
