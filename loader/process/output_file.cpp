// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/process/output_file.h"

#include <unistd.h>

namespace auger {

namespace {

constexpr size_t buffer_bytes = 256 << 10;

} // namespace

Result<OutputFile> OutputFile::create(const std::string& path) {
    auto file = NewFile::create(path);
    if (!file)
        return file.error();
    return OutputFile(std::move(*file), path);
}

void OutputFile::write(std::string_view bytes) {
    buffer_.append(bytes);
    if (buffer_.size() >= buffer_bytes)
        flush();
}

void OutputFile::flush() {
    for (std::string_view rest = buffer_; !rest.empty() && !error_;) {
        const ssize_t written = ::write(file_.get(), rest.data(), rest.size());
        if (written >= 0)
            rest.remove_prefix(static_cast<size_t>(written));
        else if (errno != EINTR)
            error_ = errno;
    }
    buffer_.clear();
}

Result<void> OutputFile::commit() {
    flush();
    if (error_)
        return system_error("write", path_, "", error_);
    return file_.take_name();
}

} // namespace auger
