// SPDX-License-Identifier: GPL-3.0-or-later
// What frames hold (protocol.h), as plain data, into bytes and back. Changes when something else is
// said.
#pragma once

#include "loader/base/result.h"
#include "loader/recording/origins.h"
#include "loader/remote/requests.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace auger::remote {

struct Hello {
    uint32_t oldest_version = remote::oldest_version, version = remote::version;
    // Of the records in blocks (loader/recording/format.h): what it reads at least, what it writes.
    uint32_t oldest_format = 0, format = 0;
    std::vector<std::string> features;
    std::string program; // "auger 1.2.3", for people
    MachineInfo machine; // of the agent
};
// With these features beside those of every auger.
Hello own_hello(std::string program, std::vector<std::string> features = {});

// What the two sides have in common.
struct Agreement {
    uint32_t version = 0;
    bool zlib = false;
    bool relays = false; // the agent is a relay
    bool checks = false; // it knows CheckTarget and CheckProbe
};
// Fails when there is nothing: both programs are named. It is the agent who writes records.
Result<Agreement> agree(const Hello& console, const Hello& agent);

struct OpenRequest {
    uint64_t samples = 0;     // that the console holds at most, and of slow calls
    uint64_t slow_calls = 0;  // likewise
    bool at_terminal = false; // as LiveOptions
    uint8_t attach = 0;       // LiveOptions::Attach
};

// What came of `open`, when it is answered.
struct OpenReport {
    std::vector<Capability> capabilities;
};

struct HostState {
    TargetStatus target;
    std::vector<uint64_t> links;
    SymbolProgress symbols;
    UnwindStatus unwind;
    ReaderStatus readers;
    bool ended = false;        // every process of the target, and all is delivered
    uint64_t lost_samples = 0; // that were dropped since the console read too slowly
};

struct Block {
    uint64_t until_ns = 0; // what comes later is not of before: the agent's clock
    std::string records;   // as RecordDecoder takes a block
    Origins origins{};     // of a relay's
};
// Packed when both sides can, and it is worth it.
std::string encoded_block(const Block&, bool zlib);
std::optional<Block> decoded_block(std::string_view body);
// With its origins.
std::string encoded_relayed_block(const Block&, bool zlib);
std::optional<Block> decoded_relayed_block(std::string_view body);

// How a relay's hosts are.
struct RelayedHosts {
    std::vector<HostReport> hosts;
};

struct Ping {
    uint64_t console_ns = 0;
};
struct Pong {
    uint64_t console_ns = 0, agent_ns = 0;
};

// A number to know the answer by, and what is asked; `kind` is the request's place in Request.
struct RequestFrame {
    uint64_t number = 0;
    // Nothing: it is unknown here, or not sound.
    std::optional<Request> request;
};
std::string encoded_request(uint64_t number, const Request&);
std::optional<RequestFrame> decoded_request(std::string_view body);

struct AnswerFrame {
    uint64_t number = 0;
    std::optional<Error> error;
    std::string body; // of the request's Answer, when there is no error
};
std::string encoded_answer(uint64_t number, const Result<std::string>& answer);
std::optional<AnswerFrame> decoded_answer(std::string_view body);

void fields(auto& all, IsA<MachineInfo> auto& machine) {
    all(machine.name, machine.boot_ns);
}
void fields(auto& all, IsA<Origins::Machine> auto& machine) {
    all(machine.id, machine.info);
}
void fields(auto& all, IsA<Origins> auto& origins) {
    all(origins.machines, origins.of);
    all.require(origins.machines.size() <= most_relayed_hosts);
}
void fields(auto& all, IsA<RelayedHosts> auto& relayed) {
    all(relayed.hosts);
    all.require(relayed.hosts.size() <= most_relayed_hosts);
    for (const HostReport& host : relayed.hosts)
        all.require(host.name.size() <= most_host_name);
}
void fields(auto& all, IsA<Hello> auto& hello) {
    all(hello.oldest_version, hello.version, hello.oldest_format, hello.format, hello.features,
        hello.program, hello.machine);
    all.require(hello.features.size() <= most_features);
}
void fields(auto& all, IsA<OpenRequest> auto& open) {
    all(open.samples, open.slow_calls, open.at_terminal, open.attach);
}
void fields(auto& all, IsA<OpenReport> auto& report) {
    all(report.capabilities);
}
void fields(auto& all, IsA<HostState> auto& state) {
    all(state.target, state.links, state.symbols, state.unwind, state.readers, state.ended,
        state.lost_samples);
}
void fields(auto& all, IsA<Ping> auto& ping) {
    all(ping.console_ns);
}
void fields(auto& all, IsA<Pong> auto& pong) {
    all(pong.console_ns, pong.agent_ns);
}

} // namespace auger::remote
