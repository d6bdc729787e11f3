// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/runtimes/tokio/tokio_file.h"

#include "loader/base/bytes.h"

#include <limits>

namespace auger {

bool operator==(const TokioFile& a, const TokioFile& b) {
    return a.task.id == b.task.id && a.task.is_some == b.task.is_some;
}

std::string encode_tokio_file(const TokioFile& file) {
    std::string bytes;
    ByteWriter out(bytes);
    out.zigzag(file.task.id);
    out.zigzag(file.task.is_some);
    return bytes;
}

std::optional<TokioFile> decode_tokio_file(std::string_view bytes) {
    using Limits = std::numeric_limits<int32_t>;
    ByteReader in(bytes);
    const int64_t id = in.zigzag(), is_some = in.zigzag();
    if (in.failed() || !in.at_end())
        return std::nullopt;
    for (const int64_t offset : {id, is_some})
        if (offset < Limits::min() || offset > Limits::max())
            return std::nullopt;
    return TokioFile{{static_cast<int32_t>(id), static_cast<int32_t>(is_some)}};
}

} // namespace auger
