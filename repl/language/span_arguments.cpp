// SPDX-License-Identifier: GPL-3.0-or-later
#include "repl/language/span_arguments.h"

#include "loader/values/expression_token.h"
#include "repl/language/lexer.h"
#include "repl/language/raw_words.h"
#include "repl/language/sections.h"
#include "repl/language/values.h"
#include "views/spell.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

namespace auger {
namespace {

constexpr std::string_view return_suffix = "%return";
constexpr std::string_view thread_key = "thread";
constexpr std::string_view exchanges_word = "exchanges";

// Whether an expression or predicate needs the call's result, so that it is known at its return.
// What is wrong with it is told where it is compiled.
bool needs_return(std::string_view expression) {
    using Kind = ExpressionToken::Kind;
    const auto tokens = expression_tokens(expression);
    if (!tokens)
        return false;
    for (size_t i = 0; i < tokens->size(); i++) {
        const ExpressionToken& token = (*tokens)[i];
        // A member of this name is something else.
        const ExpressionToken* const before = i > 0 ? &(*tokens)[i - 1] : nullptr;
        const bool member =
            before && before->kind == Kind::symbol && (before->text == "." || before->text == "->");
        if (token.kind == Kind::name && !member && (token.text == "ret" || token.text == "errno"))
            return true;
    }
    return false;
}

std::string spell_point(const SpanPoint& point) {
    const bool said = needs_return(point.only_if) || needs_return(point.key);
    std::string text = fmt::format("{} {}{}", role_text(point.role), spell_word(point.probe),
                                   point.at_return && !said ? return_suffix : "");
    if (!point.only_if.empty())
        text += " if " + point.only_if;
    if (!point.key.empty())
        text += " key " + point.key;
    if (point.queued)
        text += " queued";
    if (point.keep)
        text += " keep";
    return text;
}

std::string spell_span(const SpanDefinition& span) {
    std::string text;
    for (const SpanPoint& point : span.points)
        text += (text.empty() ? "" : " ") + spell_point(point);
    if (span.exchanges) {
        text = exchanges_word;
        if (span.exchanges->port)
            text += fmt::format(" port {}", span.exchanges->port);
        if (!span.exchanges->unix_path.empty())
            text += " unix " + spell_word(span.exchanges->unix_path);
        if (span.exchanges->quiet_ns != ExchangeDefinition::default_quiet_ns)
            text += " quiet " + spell_duration(span.exchanges->quiet_ns);
    }
    if (span.limit_ns != SpanDefinition::default_limit_ns)
        text += " limit " + spell_duration(span.limit_ns);
    return text;
}

class SpanParser {
  public:
    SpanParser(Arguments& arguments, std::vector<Word> words)
        : arguments_(arguments), words_(std::move(words)) {}

    Parsed<SpanDefinition> run() {
        if (!words_.front().quoted && words_.front().text == exchanges_word)
            return read_exchanges();
        while (next_ < words_.size())
            if (auto read = read_clause(); !read)
                return read.complaint();
        if (auto whole = check(); !whole)
            return whole.complaint();
        for (SpanPoint& point : span_.points)
            point.at_return |= needs_return(point.only_if) || needs_return(point.key);
        span_.text = spell_span(span_);
        return span_;
    }

  private:
    static bool is_keyword(const Word& word) {
        constexpr std::array<std::string_view, 9> keywords{"from", "to",     "park", "resume", "if",
                                                           "key",  "queued", "keep", "limit"};
        return !word.quoted && std::ranges::find(keywords, word.text) != keywords.end();
    }

    Complaint misplaced(const Word& word, std::string cause, std::string hint = {}) const {
        return {word.span, std::move(cause),
                hint.empty() ? fmt::format("usage: {}", arguments_.usage()) : std::move(hint),
                Error::Kind::usage};
    }

    Parsed<SpanDefinition> read_exchanges() {
        ExchangeDefinition& exchanges = span_.exchanges.emplace();
        bool has_place = false; // where the server listens
        for (next_ = 1; next_ < words_.size();) {
            const Word word = words_[next_++];
            Parsed<void> read;
            if (word.text == "port" && !std::exchange(has_place, true))
                read = read_port(word, exchanges.port);
            else if (word.text == "unix" && !std::exchange(has_place, true))
                read = read_path(word, exchanges.unix_path);
            else if (word.text == "quiet")
                read = read_duration(word, exchanges.quiet_ns);
            else if (word.text == "limit")
                read = read_duration(word, span_.limit_ns);
            else
                read = misplaced(word, fmt::format("\"{}\" is too much here", word.text),
                                 "of exchanges there are `port PORT` or `unix PATH`, `quiet "
                                 "DURATION` and `limit DURATION`");
            if (!read)
                return read.complaint();
        }
        span_.text = spell_span(span_);
        return span_;
    }

    Parsed<void> read_port(const Word& keyword, uint16_t& port) {
        if (next_ == words_.size())
            return misplaced(keyword, "a number is missing after \"port\"");
        const Word& word = words_[next_++];
        const auto [end, error] =
            std::from_chars(word.text.data(), word.text.data() + word.text.size(), port);
        if (error != std::errc{} || end != word.text.data() + word.text.size() || port == 0)
            return misplaced(word, fmt::format("\"{}\" is no port", word.text),
                             "1 to 65535: where the server listens");
        return {};
    }

    Parsed<void> read_path(const Word& keyword, std::string& path) {
        if (next_ == words_.size())
            return misplaced(keyword, "a path is missing after \"unix\"");
        const Word& raw = words_[next_++];
        auto word = unquoted(raw);
        if (!word)
            return word.complaint();
        constexpr size_t most = 107; // sockaddr_un::sun_path, without a zero
        if (word->empty() || *word == "@" || word->size() > most)
            return misplaced(raw, fmt::format("\"{}\" is no path of a unix socket", *word),
                             fmt::format("1 to {} bytes: where the server listens, as `ss -xl` "
                                         "lists it; @NAME without a file",
                                         most));
        path = *std::move(word);
        return {};
    }

    Parsed<void> read_duration(const Word& keyword, uint64_t& ns) {
        if (next_ == words_.size())
            return misplaced(keyword,
                             fmt::format("a duration is missing after \"{}\"", keyword.text));
        auto duration = duration_of(words_[next_++]);
        if (!duration)
            return duration.complaint();
        if (*duration == 0)
            return misplaced(words_[next_ - 1], keyword.text == "limit"
                                                    ? "a span that may take no time is none"
                                                    : "every send would be the last one");
        ns = *duration;
        return {};
    }

    Parsed<void> read_clause() {
        const Word word = words_[next_++];
        for (const auto role : {SpanPoint::Role::from, SpanPoint::Role::to, SpanPoint::Role::park,
                                SpanPoint::Role::resume})
            if (!word.quoted && word.text == role_text(role))
                return read_point(role, word);
        if (!is_keyword(word))
            return misplaced(word, fmt::format("\"{}\" is too much here", word.text));
        if (word.text == "limit")
            return read_duration(word, span_.limit_ns);
        if (span_.points.empty())
            return misplaced(word, fmt::format("\"{}\" belongs to a point: it stands behind `from "
                                               "PROBE`, `to PROBE` and the like",
                                               word.text));
        SpanPoint& point = span_.points.back();
        if (word.text == "if" || word.text == "key")
            return read_expression(word, point);
        if (point.role != SpanPoint::Role::from)
            return misplaced(word, fmt::format("\"{}\" is said of a beginning", word.text),
                             "it stands behind `from PROBE`");
        (word.text == "queued" ? point.queued : point.keep) = true;
        return {};
    }

    // Raw words have their quotes.
    Parsed<std::string> unquoted(const Word& raw) const {
        auto lexed = lex("x " + raw.text);
        if (!lexed || lexed->size() != 1 || lexed->front().words.size() != 2)
            return misplaced(raw, "this is not one word", "quote it: '...'");
        return lexed->front().words.back().text;
    }

    Parsed<void> read_point(SpanPoint::Role role, const Word& keyword) {
        if (next_ == words_.size() || is_keyword(words_[next_]))
            return misplaced(keyword, fmt::format("a probe is missing after \"{}\"", keyword.text));
        const Word raw = words_[next_++];
        SpanPoint point;
        point.role = role;
        auto probe = unquoted(raw);
        if (!probe)
            return probe.complaint();
        point.probe = *std::move(probe);
        if (point.probe.ends_with(return_suffix)) {
            point.probe.resize(point.probe.size() - return_suffix.size());
            point.at_return = true;
        }
        if (point.probe.empty())
            return misplaced(raw, "a probe cannot be empty");
        span_.points.push_back(std::move(point));
        at_.push_back(raw.span);
        return {};
    }

    Parsed<void> read_expression(const Word& keyword, SpanPoint& point) {
        std::string& place = keyword.text == "if" ? point.only_if : point.key;
        if (!place.empty())
            return misplaced(keyword, fmt::format("there is another \"{}\" already", keyword.text));
        const size_t begin = next_;
        while (next_ < words_.size() && !is_keyword(words_[next_]))
            ++next_;
        if (next_ == begin)
            return misplaced(keyword,
                             fmt::format("something is missing after \"{}\"", keyword.text));
        const Span at{words_[begin].span.offset, words_[next_ - 1].span.offset +
                                                     words_[next_ - 1].span.length -
                                                     words_[begin].span.offset};
        const Section section{keyword.text,
                              std::string(arguments_.line().substr(at.offset, at.length)), at};
        if (keyword.text == "key" && section.text == thread_key)
            return {};
        auto read = keyword.text == "if" ? predicate_of(section) : expression_of(section);
        if (!read)
            return read.complaint();
        place = std::move(*read);
        return {};
    }

    Parsed<void> check() const {
        const auto has = [&](SpanPoint::Role role) {
            return std::ranges::any_of(span_.points,
                                       [&](const SpanPoint& point) { return point.role == role; });
        };
        for (const auto role : {SpanPoint::Role::from, SpanPoint::Role::to})
            if (!has(role))
                return arguments_.missing(fmt::format("`{} PROBE`", role_text(role)));
        bool queued = false;
        for (const SpanPoint& point : span_.points)
            queued |= point.queued;
        if (queued && !has(SpanPoint::Role::resume))
            return arguments_.missing("`resume PROBE`, which ends the time in the queue,");
        for (size_t i = 0; i < span_.points.size(); ++i) {
            const SpanPoint& point = span_.points[i];
            if (point.role == SpanPoint::Role::resume && point.key.empty() && keyed())
                return Complaint{at_[i], "which span is resumed here is not known without a key",
                                 "add `key EXPRESSION`, whose value is that of the beginning",
                                 Error::Kind::usage};
        }
        return {};
    }

    bool keyed() const {
        return std::ranges::any_of(span_.points, [](const SpanPoint& point) {
            return point.role == SpanPoint::Role::from && !point.key.empty();
        });
    }

    Arguments& arguments_;
    std::vector<Word> words_;
    size_t next_ = 0;
    SpanDefinition span_;
    std::vector<Span> at_; // of the points
};

} // namespace

bool is_span_name(std::string_view text) {
    // In ASCII, whatever the locale: marks of programs are names, too.
    const auto letter = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    };
    return !text.empty() && letter(text.front()) && std::ranges::all_of(text, [&](char c) {
        return letter(c) || (c >= '0' && c <= '9') || c == '-';
    });
}

Parsed<SpanDefinition> parse_span(Arguments& arguments) {
    if (arguments.at_end())
        return arguments.missing("`from PROBE`, or `exchanges`,");
    auto words = raw_words(arguments.line(), arguments.rest(), Grouping::whole);
    if (!words)
        return words.complaint();
    arguments.take_rest();
    return SpanParser(arguments, std::move(*words)).run();
}

SpanDefinition span_of(std::string_view text) {
    const std::string line = "span x " + std::string(text);
    auto lexed = lex(line);
    if (text.empty() || !lexed || lexed->size() != 1 || lexed->front().words.size() < 3)
        return {};
    Arguments arguments(lexed->front().words, line, "");
    arguments.take();
    auto span = parse_span(arguments);
    return span ? *span : SpanDefinition();
}

} // namespace auger
