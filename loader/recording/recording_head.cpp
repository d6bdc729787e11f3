// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/recording/recording_head.h"

#include "loader/recording/format.h"
#include "loader/recording/index_builder.h"
#include "loader/recording/record_decoder.h"
#include "loader/recording/recording_reader.h"

namespace auger {
namespace {

// Until the year 2116; a damaged file may say anything.
constexpr uint64_t latest_boot_ns = uint64_t{1} << 62;

class Machine final : public QuietSink {
  public:
    MachineInfo info;

    void on_machine(MachineId, const MachineInfo& machine) override { info = machine; }
};

// Of a file up to its end, or what is wrong with it.
RecordingIndex make_index(RecordingFile& file) {
    IndexBuilder builder;
    RecordDecoder decoder(file.version());
    std::string block;
    uint64_t offset = recording::header_size, size = 0;
    while (!file.read_block(offset, block, size)) {
        decoder.start_block(block);
        RecordDecoder::Step step{};
        do
            step = decoder.step(builder, UINT64_MAX);
        while (step == RecordDecoder::Step::delivered);
        builder.end_block(size);
        offset += size;
        if (step != RecordDecoder::Step::block_end)
            break;
    }
    builder.set_series(decoder.series());
    return builder.finish(decoder.span().events);
}

void take(RecordingHead& head, const RecordingIndex& index) {
    head.machine = index.machine;
    head.series = index.series;
    head.timed = index.timed;
    head.first_ns = index.first_ns;
    head.last_ns = index.last_ns;
    head.probes = index.probes;
    head.whole = true;
}

} // namespace

uint64_t RecordingHead::boot_ns() const {
    return machine.boot_ns > latest_boot_ns ? 0 : machine.boot_ns;
}

Result<RecordingHead> read_head(const std::string& path, HeadDetail detail) {
    auto reader = RecordingReader::open(path);
    if (!reader)
        return reader.error();
    RecordingHead head;
    head.path = path;
    if (const auto problem = reader->load_index()) {
        head.problem = *problem;
        if (detail == HeadDetail::whole) {
            auto file = RecordingFile::open(path);
            if (!file)
                return file.error();
            head.made = std::make_shared<const RecordingIndex>(make_index(*file));
            take(head, *head.made);
            head.bytes_read = file->bytes_read();
        } else {
            Machine machine;
            const auto state = reader->deliver(machine, 0);
            head.machine = machine.info;
            head.series = reader->series();
            head.timed = state == RecordingReader::State::more;
            head.first_ns = head.timed ? reader->next_ns() : 0;
            head.last_ns = head.timed ? UINT64_MAX : 0;
        }
    } else {
        take(head, *reader->index());
    }
    head.bytes_read += reader->bytes_read();
    return head;
}

} // namespace auger
