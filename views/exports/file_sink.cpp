// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/exports/file_sink.h"

#include <unistd.h>

namespace auger {

void FileSink::flush() {
    for (std::string_view rest = buffer_; !rest.empty() && !error_;) {
        const ssize_t written = ::write(fd_, rest.data(), rest.size());
        if (written >= 0)
            rest.remove_prefix(static_cast<size_t>(written));
        else if (errno != EINTR)
            error_ = errno;
    }
    buffer_.clear();
}

Result<void> FileSink::finish(const std::string& subject) {
    flush();
    if (error_)
        return system_error("write", subject, "", error_);
    return {};
}

} // namespace auger
