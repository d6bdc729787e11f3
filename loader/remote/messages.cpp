// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/remote/messages.h"

#include "loader/process/machine.h"
#include "loader/recording/format.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <utility>

namespace auger::remote {

namespace {

// Reads the alternative of this number.
template <size_t... Indices>
void take_request(FieldReader& in, uint64_t kind, std::optional<Request>& to,
                  std::index_sequence<Indices...>) {
    const auto take = [&](auto request) {
        in(request);
        if (!in.failed())
            to = std::move(request);
    };
    ((kind == Indices ? take(std::variant_alternative_t<Indices, Request>{}) : void()), ...);
}

bool has(const Hello& hello, std::string_view feature) {
    return std::ranges::find(hello.features, feature) != hello.features.end();
}

} // namespace

Hello own_hello(std::string program, std::vector<std::string> features) {
    Hello hello;
    hello.oldest_format = recording::version; // before there were no agents
    hello.format = recording::version;
    hello.features = std::move(features);
    hello.features.emplace_back(feature_zlib);
    hello.features.emplace_back(feature_checks);
    hello.program = std::move(program);
    hello.machine = this_machine();
    return hello;
}

Result<Agreement> agree(const Hello& console, const Hello& agent) {
    const uint32_t version = std::min(console.version, agent.version);
    const bool is_old = version < console.oldest_version || agent.format < console.oldest_format;
    const bool is_new = version < agent.oldest_version || agent.format > console.format;
    if (is_old || is_new)
        return Error{"observe with", agent.program,
                     fmt::format("it is too {} for {}", is_old ? "old" : "new", console.program),
                     "install the same version on both machines", Error::Kind::unsupported};
    const bool relays = has(agent, feature_relay);
    if (relays && !has(console, feature_hosts))
        return Error{"observe with", agent.program,
                     "it is a relay, and whoever asks is one itself, or too old to know of them",
                     "a relay's hosts are agents: auger --agent without -H",
                     Error::Kind::unsupported};
    return Agreement{version, has(console, feature_zlib) && has(agent, feature_zlib), relays,
                     has(agent, feature_checks)};
}

std::string encoded_block(const Block& block, bool zlib) {
    std::string body;
    ByteWriter out(body);
    out.varint(block.until_ns);
    const std::string& records = block.records;
    std::string packed;
    if (zlib && records.size() >= block_to_compress) {
        uLongf size = compressBound(records.size());
        packed.resize(size);
        if (compress2(reinterpret_cast<Bytef*>(packed.data()), &size,
                      reinterpret_cast<const Bytef*>(records.data()), records.size(), 1) != Z_OK ||
            size >= records.size())
            size = 0;
        packed.resize(size);
    }
    // 0: they are not packed.
    out.varint(packed.empty() ? 0 : records.size());
    body += packed.empty() ? records : packed;
    return body;
}

std::optional<Block> decoded_block(std::string_view body) {
    ByteReader in(body);
    Block block;
    block.until_ns = in.varint_up_to(recording::max_time_ns);
    const size_t unpacked = in.varint_up_to(most_block);
    if (in.failed())
        return std::nullopt;
    const std::string_view stored = body.substr(in.position());
    if (unpacked == 0) {
        block.records = stored;
        return block;
    }
    if (unpacked / recording::max_ratio > stored.size())
        return std::nullopt;
    block.records.resize(unpacked);
    uLongf size = unpacked;
    if (uncompress(reinterpret_cast<Bytef*>(block.records.data()), &size,
                   reinterpret_cast<const Bytef*>(stored.data()), stored.size()) != Z_OK ||
        size != unpacked)
        return std::nullopt;
    return block;
}

std::string encoded_relayed_block(const Block& block, bool zlib) {
    std::string body;
    ByteWriter(body).string(encoded(block.origins));
    return body + encoded_block(block, zlib);
}

std::optional<Block> decoded_relayed_block(std::string_view body) {
    ByteReader in(body);
    const auto origins = decoded<Origins>(in.string(body.size()));
    if (in.failed() || !origins)
        return std::nullopt;
    auto block = decoded_block(body.substr(in.position()));
    if (block)
        block->origins = *origins;
    return block;
}

std::string encoded_request(uint64_t number, const Request& request) {
    std::string body;
    FieldWriter out(body);
    out(number, static_cast<uint64_t>(request.index()));
    std::visit([&](const auto& asked) { out(asked); }, request);
    return body;
}

std::optional<RequestFrame> decoded_request(std::string_view body) {
    FieldReader in(body);
    RequestFrame frame;
    uint64_t kind = 0;
    in(frame.number, kind);
    if (in.failed())
        return std::nullopt;
    take_request(in, kind, frame.request, std::make_index_sequence<std::variant_size_v<Request>>());
    return frame;
}

std::string encoded_answer(uint64_t number, const Result<std::string>& answer) {
    std::string body;
    FieldWriter out(body);
    out(number, answer.ok());
    if (answer)
        body += *answer;
    else
        out(answer.error());
    return body;
}

std::optional<AnswerFrame> decoded_answer(std::string_view body) {
    FieldReader in(body);
    AnswerFrame frame;
    bool ok = false;
    in(frame.number, ok);
    if (ok)
        frame.body = in.rest(body);
    else
        in(frame.error.emplace());
    if (in.failed())
        return std::nullopt;
    return frame;
}

} // namespace auger::remote
