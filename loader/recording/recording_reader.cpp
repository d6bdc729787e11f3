// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/recording/recording_reader.h"

#include "loader/process/safe_open.h"
#include "loader/recording/checksum.h"
#include "loader/recording/format.h"

#include <fmt/format.h>
#include <zlib.h>

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

Result<RecordingReader> RecordingReader::open(const std::string& path) {
    auto file = open_regular(path);
    if (!file) {
        Error error = file.error();
        error.operation = "replay";
        return error;
    }
    RecordingReader reader(std::move(file).value(), path);
    std::string header(recording::header_size, '\0');
    const auto size = reader.read(header.data(), header.size());
    if (!size)
        return size.error();
    header.resize(*size);
    if (auto problem = header_problem(header, reader.version_))
        return Error{"replay", path, *problem, {}};
    reader.decoder_ = RecordDecoder(reader.version_);
    reader.offset_ = header.size();
    return reader;
}

RecordingReader::RecordingReader(UniqueFd file, std::string path)
    : file_(std::move(file)), path_(std::move(path)) {}

Result<void> RecordingReader::rewind() {
    if (lseek(file_.get(), recording::header_size, SEEK_SET) < 0)
        return system_error("replay", path_);
    decoder_ = RecordDecoder(version_);
    offset_ = recording::header_size;
    ended_ = false;
    damage_.reset();
    return {};
}

RecordingReader::State RecordingReader::deliver(EventSink& sink, uint64_t until_ns) {
    while (!ended_) {
        switch (decoder_.step(sink, until_ns)) {
        case RecordDecoder::Step::delivered:
            break;
        case RecordDecoder::Step::later:
            return State::more;
        case RecordDecoder::Step::block_end:
            ended_ = !next_block();
            break;
        case RecordDecoder::Step::end:
            ended_ = true;
            break;
        case RecordDecoder::Step::damaged:
            ended_ = true;
            damage_ = {block_offset_, decoder_.problem()};
            break;
        }
    }
    return State::end;
}

bool RecordingReader::damaged(std::string problem) {
    damage_ = {block_offset_, std::move(problem)};
    return false;
}

// False at the end of what can be read, with damage_ set: a whole recording has an end mark, behind
// which nobody asks for another block.
bool RecordingReader::next_block() {
    block_offset_ = offset_;
    std::string header(recording::block_header_size, '\0');
    auto got = read(header.data(), header.size());
    if (!got)
        return damaged(got.error().cause);
    if (*got == 0)
        return damaged("it has no end mark: auger was killed, or is still recording");
    if (*got < header.size())
        return damaged("the file ends inside a block");
    ByteReader in(header);
    const uint32_t sum = in.fixed32();
    const size_t stored = in.fixed32();
    const size_t raw = in.fixed32();
    // Sizes are checked before memory is taken for them.
    if (raw == 0 || raw > recording::max_block || stored > raw ||
        raw / recording::max_ratio > stored)
        return damaged("a block has impossible sizes");
    stored_.resize(stored);
    got = read(stored_.data(), stored);
    if (!got)
        return damaged(got.error().cause);
    if (*got < stored)
        return damaged("the file ends inside a block");
    const uint32_t head_sum = checksum(std::string_view(header).substr(4));
    if (checksum({stored_.data(), stored}, head_sum) != sum)
        return damaged("a block's checksum does not match");
    if (stored == raw) {
        block_.swap(stored_);
    } else {
        block_.resize(raw);
        uLongf size = raw;
        if (uncompress(reinterpret_cast<Bytef*>(block_.data()), &size,
                       reinterpret_cast<const Bytef*>(stored_.data()), stored) != Z_OK ||
            size != raw)
            return damaged("a block does not decompress");
    }
    offset_ += header.size() + stored;
    decoder_.start_block(block_);
    return true;
}

// As many bytes as there are, up to `size`.
Result<size_t> RecordingReader::read(char* to, size_t size) {
    size_t done = 0;
    while (done < size) {
        const ssize_t got = ::read(file_.get(), to + done, size - done);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return system_error("read", path_);
        if (got == 0)
            break;
        done += static_cast<size_t>(got);
    }
    return done;
}

std::string RecordingReader::damage_text() const {
    if (!damage_)
        return {};
    const double seconds = static_cast<double>(span().last_ns - span().first_ns) / 1e9;
    return fmt::format("recording {}: {} (at byte {}); {:.3f} s with {} events were read", path_,
                       damage_->problem, damage_->offset, seconds, span().events);
}

} // namespace auger
