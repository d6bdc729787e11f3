// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/fuzz/fuzz_targets.h"

#include "loader/recording/machine_stream.h"
#include "loader/recording/record_encoder.h"
#include "loader/remote/agent_link.h"
#include "loader/remote/host_command.h"
#include "loader/remote/joined_reports.h"
#include "tests/unit/loader_recording_stream.h"

#include <array>
#include <cstdlib>

namespace auger::test {

namespace {

using namespace remote;

// What was understood can be said, and is understood to mean the same.
template <typename T>
void check_message(std::string_view bytes) {
    const auto said = decoded<T>(bytes);
    if (!said)
        return;
    const std::string again = encoded(*said);
    const auto understood = decoded<T>(again);
    if (!understood || encoded(*understood) != again)
        std::abort();
}

// What an agent says when all goes well: up to its stream, of which some bytes are changed.
std::string honest_start(bool is_relay) {
    std::string bytes(preamble);
    Hello hello;
    hello.oldest_format = hello.format = recording::version;
    hello.features = {std::string(feature_zlib)};
    if (is_relay)
        hello.features.emplace_back(feature_relay);
    put_frame(bytes, FrameKind::hello, encoded(hello));
    // All pings are sent at the same time here.
    for (size_t i = 0; i < ClockOffset::pings_to_fix; i++)
        put_frame(bytes, FrameKind::pong, encoded(Pong{1000, 5000}));
    put_frame(bytes, FrameKind::answer, encoded_answer(0, encoded(OpenReport{})));
    return bytes;
}

std::string damaged_records(const uint8_t* data, size_t size) {
    static std::array<std::string, 256> known;
    std::string& whole = known[data[0]];
    if (whole.empty()) {
        RecordEncoder encoder;
        StreamGenerator generator(data[0]);
        generator.definitions(encoder);
        generator.events(encoder, 20);
        whole = encoder.bytes();
    }
    std::string records = whole;
    for (size_t i = 1; i + 3 <= size; i += 3)
        records[(data[i] << 8 | data[i + 1]) % records.size()] = static_cast<char>(data[i + 2]);
    return records;
}

// Whatever comes after an honest beginning.
void listen(std::string_view bytes, bool is_relay = false) {
    Hello own;
    own.oldest_format = own.format = recording::version;
    own.features = {std::string(feature_zlib), std::string(feature_hosts)};
    AgentLink link(own, OpenRequest{});
    if (!link.take(honest_start(is_relay), 1000) || !link.open())
        std::abort();
    (void)link.ask(Refresh{});
    if (!link.take(bytes, 2000))
        return;
    CommonStream common(1, CommonStream::Probes::by_number);
    common.announce(ProbeId{1}, ProbeInfo{ProbeId{7}, "handle", {}, {}});
    RecordEncoder told;
    MachineStream stream(common, 0, MachineId{0}, {"m", 1}, link.clock().shift_ns(), 500);
    stream.deliver_to(told);
    link.on_origins([&](const Origins& origins) { return stream.take_origins(origins); });
    const auto next = link.next_time(stream);
    if (next && *next && **next > INT64_MAX)
        std::abort();
    if (!link.deliver(stream, UINT64_MAX - 1, [] { return true; }))
        return;
    stream.drop_open_calls(3000);
    if (link.held_bytes() > bytes.size() + 64)
        std::abort();
}

} // namespace

void fuzz_remote(const uint8_t* data, size_t size) {
    if (size < 3)
        return;
    const std::string_view bytes(reinterpret_cast<const char*>(data + 1), size - 1);
    std::string frames;
    switch (data[0] % 6) {
    case 0: // as it comes
        return listen(bytes);
    case 1: { // cut into frames of these kinds
        for (size_t at = 0; at + 2 < bytes.size();) {
            const auto length =
                std::min<size_t>(static_cast<uint8_t>(bytes[at + 1]), bytes.size() - at - 2);
            put_frame(frames, static_cast<FrameKind>(bytes[at] % 14), bytes.substr(at + 2, length));
            at += 2 + length;
        }
        return listen(frames, data[0] % 12 < 6);
    }
    case 2: { // a stream
        Block block{9, damaged_records(data + 1, size - 1)};
        const bool is_relay = data[0] % 12 < 6;
        if (is_relay) {
            // Of hosts that were named, and others.
            block.origins.machines = {{MachineId{1}, {"web1", 1}}};
            block.origins.of.assign(data[1] % 8, MachineId{data[2] < 250 ? 1u : 2u});
            put_frame(frames, FrameKind::relayed_block, encoded_relayed_block(block, data[1] % 2));
        } else {
            put_frame(frames, FrameKind::block, encoded_block(block, data[1] % 2));
        }
        return listen(frames, is_relay);
    }
    case 3: {
        const auto request = decoded_request(bytes);
        if (request && request->request) {
            const std::string again = encoded_request(request->number, *request->request);
            const auto understood = decoded_request(again);
            if (!understood || !understood->request ||
                encoded_request(request->number, *understood->request) != again)
                std::abort();
        }
        return;
    }
    case 4:
        check_message<HostState>(bytes);
        check_message<OpenReport>(bytes);
        check_message<ProbePlan>(bytes);
        check_message<CallSites>(bytes);
        check_message<UsdtProbes>(bytes);
        check_message<Tracepoints>(bytes);
        check_message<std::vector<OpenCall>>(bytes);
        check_message<Hello>(bytes);
        check_message<Origins>(bytes);
        check_message<RelayedHosts>(bytes);
        check_message<Error>(bytes);
        if (const auto plan = decoded<ProbePlan>(bytes))
            (void)joined(OfHosts<ProbePlan>{{"a", *plan}, {"b", *plan}, {"c", {}}});
        return;
    default:
        (void)host_commands(std::vector{std::string(bytes)}, "x {}");
        (void)hosts_in(std::string(bytes), "f");
    }
}

} // namespace auger::test
