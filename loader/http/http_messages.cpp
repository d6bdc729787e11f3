// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/http/http_messages.h"

#include "loader/base/bytes.h"
#include "loader/symbols/elf_messages.h"

namespace auger::http_messages {
namespace {

using elf_messages::whole;

constexpr size_t most_texts = 256;
constexpr size_t line_limit = 64 << 10;

void put(ByteWriter& out, const std::vector<std::string>& texts) {
    out.varint(texts.size());
    for (const std::string& text : texts)
        out.string(text);
}

std::vector<std::string> take(ByteReader& in) {
    std::vector<std::string> texts;
    const size_t count = in.count(most_texts);
    for (size_t i = 0; i < count && !in.failed(); i++)
        texts.emplace_back(in.string(line_limit));
    return texts;
}

} // namespace

std::string begin(const Begin& begin) {
    std::string bytes;
    ByteWriter out(bytes);
    put(out, begin.variables);
    out.string(begin.certificates);
    return bytes;
}

std::optional<Begin> begin(std::string_view bytes) {
    ByteReader in(bytes);
    Begin begin;
    begin.variables = take(in);
    begin.certificates = in.string(certificates_limit);
    return whole(in, std::move(begin));
}

std::string post(const HttpPost& post) {
    std::string bytes;
    ByteWriter out(bytes);
    out.string(post.url);
    put(out, post.headers);
    out.varint(post.otlp);
    out.varint(post.seconds);
    return bytes;
}

std::optional<HttpPost> post(std::string_view bytes) {
    ByteReader in(bytes);
    HttpPost post;
    post.url = in.string(line_limit);
    post.headers = take(in);
    post.otlp = in.boolean();
    post.seconds = in.varint32();
    return whole(in, std::move(post));
}

std::string outcome(const HttpOutcome& outcome) {
    std::string bytes;
    ByteWriter out(bytes);
    out.varint(outcome.status);
    out.varint(outcome.retry_after_s);
    out.varint(outcome.rejected);
    out.string(std::string_view(outcome.text).substr(0, text_limit));
    return bytes;
}

std::optional<HttpOutcome> outcome(std::string_view bytes) {
    constexpr uint64_t highest_status = 999;
    ByteReader in(bytes);
    HttpOutcome outcome;
    outcome.status = static_cast<uint32_t>(in.varint_up_to(highest_status));
    outcome.retry_after_s = in.varint();
    outcome.rejected = in.varint();
    outcome.text = in.string(text_limit);
    return whole(in, std::move(outcome));
}

} // namespace auger::http_messages
