// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/fuzz/fuzz_targets.h"

#include "loader/recording/machine_stream.h"
#include "loader/recording/record_decoder.h"
#include "loader/recording/record_encoder.h"
#include "tests/unit/loader_recording_stream.h"

#include <array>
#include <cstdlib>

namespace auger::test {
namespace {

bool decode(std::string_view records, EventSink& sink) {
    RecordDecoder decoder;
    decoder.start_block(records);
    for (;;)
        switch (decoder.step(sink, UINT64_MAX)) {
        case RecordDecoder::Step::delivered:
            break;
        case RecordDecoder::Step::damaged:
            return false;
        default:
            return true;
        }
}

// A stream with every kind of event.
const std::string& whole_stream(uint8_t seed) {
    static std::array<std::string, 256>
        known; // making one takes longer than all that is done to it
    if (known[seed].empty()) {
        RecordEncoder encoder;
        StreamGenerator generator(seed);
        generator.definitions(encoder);
        generator.events(encoder, 20);
        known[seed] = encoder.bytes();
    }
    return known[seed];
}

// Bytes of it changed: three bytes are a place and a value.
std::string damaged_stream(const uint8_t* data, size_t size) {
    std::string records = whole_stream(data[0]);
    for (size_t i = 1; i + 3 <= size; i += 3)
        records[(data[i] << 8 | data[i + 1]) % records.size()] = static_cast<char>(data[i + 2]);
    return records;
}

} // namespace

// What was let pass can be recorded again, and is let pass again.
void fuzz_recording(const uint8_t* data, size_t size) {
    if (size < 2)
        return;
    const std::string records = data[0] % 2
                                    ? std::string(reinterpret_cast<const char*>(data + 1), size - 1)
                                    : damaged_stream(data + 1, size - 1);
    RecordEncoder again, unused;
    decode(records, again);
    if (!decode(again.bytes(), unused))
        std::abort();
    // So it is as one of several, with ids and times of its own.
    CommonStream common(2);
    RecordEncoder merged;
    for (const uint32_t machine : {0u, 1u}) {
        merged.clear();
        MachineStream stream(common, machine, MachineId{machine}, {"m", 1},
                             machine ? 7'000'000'000 : -5);
        stream.deliver_to(merged);
        decode(records, stream);
        RecordEncoder alone;
        if (machine == 0 && !decode(merged.bytes(), alone))
            std::abort();
        // And as the next file of its session.
        stream.begin_file();
        decode(records, stream);
        stream.begin_pass();
        decode(records, stream);
    }
}

} // namespace auger::test
