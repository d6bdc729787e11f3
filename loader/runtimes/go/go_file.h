// SPDX-License-Identifier: GPL-3.0-or-later
// What a Go program's file says of its goroutines and of the labels that they have: made where it
// is read, and used elsewhere.
#pragma once

#include "bpf/wire/go_labels.h"

#include <optional>
#include <string>
#include <string_view>

namespace auger {

struct GoFile {
    // m_curg 0: how goroutines are found is not understood. Form WIRE_GO_LABELS_NONE: nothing sets
    // labels, or those of this version are not understood.
    wire_go_labels labels{};
    bool sets_labels = false;
    std::string version{}; // "go1.26.1"; empty: it does not say, as before Go 1.18

    bool has_known_labels() const { return labels.form != WIRE_GO_LABELS_NONE; }
    // Why it has not, though something sets them.
    std::string problem() const;
};
bool operator==(const GoFile& a, const GoFile& b);

// Of a version's name, as the file has it. WIRE_GO_LABELS_NONE: it is not known.
wire_go_labels_form go_labels_form(std::string_view version);

std::string encode_go_file(const GoFile& file);
std::optional<GoFile> decode_go_file(std::string_view bytes);

} // namespace auger
