// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/process/perf_record.h"

#include <linux/perf_event.h>
#include <sys/sysmacros.h>

#include <cstring>

namespace auger {
namespace {

// With sample_id_all, every record ends with what sample_type asks for: here pid, tid and time.
constexpr size_t trailer_size = 16;

class Reader {
  public:
    explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}

    template <typename T>
    T take() {
        T value{};
        if (bytes_.size() < sizeof(T)) {
            ok_ = false;
            return value;
        }
        std::memcpy(&value, bytes_.data(), sizeof(T));
        bytes_ = bytes_.subspan(sizeof(T));
        return value;
    }
    // The rest, up to its terminating zero, which must be there.
    std::string take_string() {
        const void* end = bytes_.empty() ? nullptr : std::memchr(bytes_.data(), 0, bytes_.size());
        if (!end) {
            ok_ = false;
            return {};
        }
        const char* begin = reinterpret_cast<const char*>(bytes_.data());
        return {begin, static_cast<const char*>(end)};
    }
    bool ok() const { return ok_; }

  private:
    std::span<const std::byte> bytes_;
    bool ok_ = true;
};

void decode_mmap2(Reader& body, ProcessEvent& event) {
    event.kind = ProcessEvent::Kind::mmap;
    event.pid = body.take<uint32_t>();
    event.tid = body.take<uint32_t>();
    event.address = body.take<uint64_t>();
    event.length = body.take<uint64_t>();
    event.offset = body.take<uint64_t>();
    const auto major_number = body.take<uint32_t>();
    const auto minor_number = body.take<uint32_t>();
    event.device = makedev(major_number, minor_number);
    event.inode = body.take<uint64_t>();
    body.take<uint64_t>(); // generation of the inode
    body.take<uint32_t>(); // protection
    body.take<uint32_t>(); // flags
    event.text = body.take_string();
}

void decode_task(Reader& body, ProcessEvent& event) {
    event.pid = body.take<uint32_t>();
    event.parent_pid = body.take<uint32_t>();
    event.tid = body.take<uint32_t>();
    event.parent_tid = body.take<uint32_t>();
    event.time = body.take<uint64_t>();
}

} // namespace

Decoded decode_perf_record(std::span<const std::byte> record, ProcessEvent& event) {
    perf_event_header header;
    if (record.size() < sizeof(header))
        return Decoded::malformed;
    std::memcpy(&header, record.data(), sizeof(header));
    if (header.size != record.size())
        return Decoded::malformed;
    switch (header.type) {
    case PERF_RECORD_MMAP2:
    case PERF_RECORD_COMM:
    case PERF_RECORD_FORK:
    case PERF_RECORD_EXIT:
    case PERF_RECORD_LOST:
        break;
    default:
        return Decoded::ignored;
    }
    if (record.size() < sizeof(header) + trailer_size)
        return Decoded::malformed;
    event = {};
    Reader body(record.subspan(sizeof(header), record.size() - sizeof(header) - trailer_size));
    Reader trailer(record.last(trailer_size));
    trailer.take<uint64_t>(); // pid, tid
    const auto time = trailer.take<uint64_t>();

    switch (header.type) {
    case PERF_RECORD_MMAP2:
        decode_mmap2(body, event);
        if (event.address + event.length < event.address || event.length == 0)
            return Decoded::malformed;
        break;
    case PERF_RECORD_COMM:
        event.kind = header.misc & PERF_RECORD_MISC_COMM_EXEC ? ProcessEvent::Kind::exec
                                                              : ProcessEvent::Kind::comm;
        event.pid = body.take<uint32_t>();
        event.tid = body.take<uint32_t>();
        event.text = body.take_string();
        break;
    case PERF_RECORD_FORK:
        event.kind = ProcessEvent::Kind::fork;
        decode_task(body, event);
        break;
    case PERF_RECORD_EXIT:
        event.kind = ProcessEvent::Kind::exit;
        decode_task(body, event);
        break;
    case PERF_RECORD_LOST:
        event.kind = ProcessEvent::Kind::lost;
        body.take<uint64_t>(); // id of the event
        event.lost = body.take<uint64_t>();
        break;
    }
    event.time = time;
    return body.ok() ? Decoded::event : Decoded::malformed;
}

} // namespace auger
