// SPDX-License-Identifier: GPL-3.0-or-later
// What the file of a program says that holds tokio (Rust): made where it is read, and used
// elsewhere.
#pragma once

#include "bpf/wire/tokio.h"

#include <optional>
#include <string>
#include <string_view>

namespace auger {

struct TokioFile {
    // id 0: where tasks are told is not understood.
    wire_tokio_task task{};
};
bool operator==(const TokioFile& a, const TokioFile& b);

std::string encode_tokio_file(const TokioFile& file);
std::optional<TokioFile> decode_tokio_file(std::string_view bytes);

} // namespace auger
