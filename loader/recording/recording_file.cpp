// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/recording/recording_file.h"

#include "loader/base/bytes.h"
#include "loader/process/safe_open.h"
#include "loader/recording/checksum.h"
#include "loader/recording/format.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <cerrno>

namespace auger {
namespace {

// Why these first bytes are not those of a recording that can be read.
std::optional<std::string> header_problem(std::string_view header, uint32_t& version) {
    const std::string_view magic = header.substr(0, recording::magic.size());
    if (header.empty())
        return "is empty";
    if (!recording::magic.starts_with(magic))
        return "is not an auger recording";
    if (header.size() < recording::header_size)
        return "ends inside its header";
    ByteReader in(header.substr(magic.size()));
    version = in.fixed32();
    if (in.fixed32() != checksum(header.substr(0, recording::header_size - 4)))
        return "its header is damaged";
    if (version < recording::oldest_version || version > recording::version)
        return fmt::format("has format {}, and this auger reads formats {} to {}", version,
                           recording::oldest_version, recording::version);
    return std::nullopt;
}

} // namespace

Result<RecordingFile> RecordingFile::open(const std::string& path) {
    auto opened = open_regular(path);
    if (!opened) {
        Error error = opened.error();
        error.operation = "replay";
        return error;
    }
    RecordingFile file(std::move(opened).value(), path);
    std::string header(recording::header_size, '\0');
    const auto size = file.read(0, header.data(), header.size());
    if (!size)
        return size.error();
    header.resize(*size);
    if (auto problem = header_problem(header, file.version_))
        return Error{"replay", path, *problem, {}};
    return file;
}

std::optional<std::string> RecordingFile::read_block(uint64_t offset, std::string& content,
                                                     uint64_t& size) {
    std::string header(recording::block_header_size, '\0');
    auto got = read(offset, header.data(), header.size());
    if (!got)
        return got.error().cause;
    if (*got == 0)
        return "it has no end mark: auger was killed, or is still recording";
    if (*got < header.size())
        return "the file ends inside a block";
    ByteReader in(header);
    const uint32_t sum = in.fixed32();
    const size_t stored = in.fixed32();
    const size_t raw = in.fixed32();
    if (raw == 0 || raw > recording::max_block || stored > raw ||
        raw / recording::max_ratio > stored)
        return "a block has impossible sizes";
    stored_.resize(stored);
    got = read(offset + header.size(), stored_.data(), stored);
    if (!got)
        return got.error().cause;
    if (*got < stored)
        return "the file ends inside a block";
    const uint32_t head_sum = checksum(std::string_view(header).substr(4));
    if (checksum({stored_.data(), stored}, head_sum) != sum)
        return "a block's checksum does not match";
    if (stored == raw) {
        content.swap(stored_);
    } else {
        content.resize(raw);
        uLongf unpacked = raw;
        if (uncompress(reinterpret_cast<Bytef*>(content.data()), &unpacked,
                       reinterpret_cast<const Bytef*>(stored_.data()), stored) != Z_OK ||
            unpacked != raw)
            return "a block does not decompress";
    }
    size = header.size() + stored;
    return std::nullopt;
}

RecordingFile::IndexState RecordingFile::read_index(RecordingIndex& index) {
    const auto whole = size();
    if (version_ < recording::first_indexed_version || !whole ||
        *whole < recording::header_size + recording::footer_size)
        return IndexState::none;
    std::string footer(recording::footer_size, '\0');
    const auto got = read(*whole - footer.size(), footer.data(), footer.size());
    if (!got || *got < footer.size() || !footer.ends_with(recording::index_magic))
        return IndexState::none;
    const auto offset = parse_footer(footer);
    std::string content;
    uint64_t block = 0;
    if (!offset || *offset >= *whole || read_block(*offset, content, block) ||
        *offset + block + footer.size() != *whole)
        return IndexState::damaged;
    auto parsed = parse_index(content, *offset);
    if (!parsed)
        return IndexState::damaged;
    index = std::move(*parsed);
    return IndexState::good;
}

std::optional<std::string> RecordingFile::check_index(uint64_t offset) {
    RecordingIndex index;
    switch (read_index(index)) {
    case IndexState::good:
        if (index.end() == offset)
            return std::nullopt;
        return "its index is that of another recording; all else was read";
    case IndexState::none:
        return "its index is missing; all else was read";
    default:
        return "its index is damaged; all else was read";
    }
}

Result<size_t> RecordingFile::read(uint64_t offset, char* to, size_t size) {
    size_t done = 0;
    while (done < size) {
        const ssize_t got =
            ::pread(file_.get(), to + done, size - done, static_cast<off_t>(offset + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return system_error("read", path_);
        if (got == 0)
            break;
        done += static_cast<size_t>(got);
    }
    bytes_read_ += done;
    return done;
}

Result<uint64_t> RecordingFile::size() const {
    struct stat status {};
    if (fstat(file_.get(), &status) < 0)
        return system_error("read", path_);
    return static_cast<uint64_t>(status.st_size);
}

} // namespace auger
