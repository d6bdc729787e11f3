// SPDX-License-Identifier: GPL-3.0-or-later
#include "repl/language/condition_tree.h"

#include "repl/language/thread_names.h"
#include "repl/language/values.h"

#include <fmt/format.h>

#include <algorithm>

namespace auger {
namespace {

using Node = ConditionNode;

constexpr int most_nested = 64;

class Reader {
  public:
    Reader(std::vector<Word> words, Span whole, KeepCondition& out)
        : words_(std::move(words)), whole_(whole), out_(out) {}

    Parsed<Node> run() {
        auto node = read_either(false, 0);
        if (!node)
            return node;
        if (next_ < words_.size())
            return Complaint{
                words_[next_].span,
                words_[next_].text == ")"
                    ? "no \"(\" belongs to this"
                    : fmt::format("\"and\" or \"or\" is missing before \"{}\"", words_[next_].text),
                "", Error::Kind::usage};
        return node;
    }

  private:
    bool at_end() const { return next_ >= words_.size(); }
    bool take_if(std::string_view text) {
        if (at_end() || words_[next_].quoted || words_[next_].text != text)
            return false;
        ++next_;
        return true;
    }
    Complaint missing(std::string_view what) const {
        return {{whole_.offset + whole_.length, 1},
                fmt::format("{} is missing here", what),
                "a condition: PROBE > p95, in PROBE, in py:FUNCTION, pid N, tid N, comm NAME, "
                "cgroup NAME, at FILE:LINE; and, or, not, (...)",
                Error::Kind::usage};
    }

    // `wanted` is how the parts are joined as typed; under a `not` it is the other way round.
    static Node joined(std::vector<Node> parts, Node::Kind kind) {
        if (parts.size() == 1)
            return std::move(parts.front());
        Node node;
        node.kind = kind;
        node.at = parts.front().at;
        for (Node& part : parts) {
            if (part.kind == kind)
                std::ranges::move(part.parts, std::back_inserter(node.parts));
            else
                node.parts.push_back(std::move(part));
        }
        return node;
    }

    Parsed<Node> read_either(bool negated, int depth) {
        std::vector<Node> parts;
        do {
            auto part = read_both(negated, depth);
            if (!part)
                return part;
            parts.push_back(std::move(*part));
        } while (take_if("or"));
        return joined(std::move(parts), negated ? Node::Kind::both : Node::Kind::either);
    }

    Parsed<Node> read_both(bool negated, int depth) {
        std::vector<Node> parts;
        do {
            auto part = read_part(negated, depth);
            if (!part)
                return part;
            parts.push_back(std::move(*part));
        } while (take_if("and"));
        return joined(std::move(parts), negated ? Node::Kind::either : Node::Kind::both);
    }

    Parsed<Node> read_part(bool negated, int depth) {
        if (depth == most_nested)
            return Complaint{whole_, "this is nested too deep", "", Error::Kind::usage};
        if (take_if("not"))
            return read_part(!negated, depth + 1);
        if (at_end())
            return missing("a condition");
        const Span open = words_[next_].span;
        if (take_if("(")) {
            auto inner = read_either(negated, depth + 1);
            if (!inner)
                return inner;
            if (!take_if(")"))
                return at_end()
                           ? Complaint{open, "this \"(\" is not closed", "", Error::Kind::usage}
                           : Complaint{words_[next_].span,
                                       fmt::format("\"and\", \"or\" or \")\" is missing "
                                                   "before \"{}\"",
                                                   words_[next_].text),
                                       "", Error::Kind::usage};
            return inner;
        }
        return read_term(negated);
    }

    Parsed<Word> expect(std::string_view what) {
        if (at_end() ||
            (!words_[next_].quoted && (words_[next_].text == ")" || words_[next_].text == "and" ||
                                       words_[next_].text == "or")))
            return at_end() ? missing(what)
                            : Complaint{words_[next_].span,
                                        fmt::format("{} is missing before this", what), "",
                                        Error::Kind::usage};
        return words_[next_++];
    }

    Parsed<Node> read_term(bool negated) {
        const Word first = words_[next_];
        const bool followed = next_ + 1 < words_.size() && !words_[next_ + 1].comparison;
        const auto keyword = [&](std::string_view name) { return followed && take_if(name); };
        GateTerm term;
        std::optional<ProbeRef> probe;
        if (keyword("at")) {
            auto word = expect("FILE:LINE");
            if (!word)
                return word.complaint();
            auto line = source_line_of(*word);
            if (!line)
                return line.complaint();
            return line_node(*line, negated, span_to(first.span));
        }
        if (const bool tid = keyword("tid"); tid || keyword("pid")) {
            term.kind = tid ? GateTerm::Kind::tid : GateTerm::Kind::pid;
            auto word = expect(tid ? "a tid" : "a pid");
            if (!word)
                return word.complaint();
            auto number = pid_of(word->text, word->span, first.text);
            if (!number)
                return number.complaint();
            term.number = static_cast<uint64_t>(*number);
        } else if (keyword("comm")) {
            term.kind = GateTerm::Kind::comm;
            auto word = expect("a thread's name");
            if (!word)
                return word.complaint();
            if (auto fits = check_comm(*word); !fits)
                return fits.complaint();
            term.text = word->text;
        } else if (keyword("cgroup")) {
            term.kind = GateTerm::Kind::cgroup;
            auto word = expect("a control group");
            if (!word)
                return word.complaint();
            if (word->text.empty())
                return Complaint{word->span, "an empty name matches nothing", "",
                                 Error::Kind::usage};
            term.text = word->text;
        } else if (keyword("in")) {
            auto word = expect("a probe");
            if (!word)
                return word.complaint();
            if (NamedFunction::has_language(word->text))
                return stack_node(word->text, negated, span_to(first.span));
            probe = probe_ref(*word);
        } else {
            auto word = expect("a condition");
            if (!word)
                return word.complaint();
            probe = probe_ref(*word);
            if (at_end() || !words_[next_].comparison)
                return Complaint{
                    word->span, fmt::format("\"{}\" alone is not a condition", word->text),
                    fmt::format("write in {0}, or {0} > p95", word->text), Error::Kind::usage};
            if (!take_if(">"))
                return Complaint{words_[next_].span, "calls are kept beyond a threshold", "write >",
                                 Error::Kind::usage};
            auto value = expect("a threshold (p95, 5ms)");
            if (!value)
                return value.complaint();
            auto threshold = threshold_of(*value);
            if (!threshold)
                return threshold.complaint();
            term.older = *threshold;
        }
        return term_node(std::move(term), std::move(probe), negated, span_to(first.span));
    }

    Span span_to(Span first) const {
        const Span last = words_[next_ - 1].span;
        return {first.offset, last.offset + last.length - first.offset};
    }

    Parsed<Node> term_node(GateTerm term, std::optional<ProbeRef> probe, bool negated, Span at) {
        size_t i = 0;
        for (; i < out_.gate.terms.size(); ++i) {
            if (out_.gate.terms[i] == term &&
                (!probe || (out_.probes[i] && out_.probes[i]->text == probe->text)))
                break;
        }
        if (i == Gate::most_terms)
            return Complaint{
                at,
                fmt::format("this is one too many: at most {} different terms", Gate::most_terms),
                "", Error::Kind::usage};
        if (i == out_.gate.terms.size()) {
            out_.gate.terms.push_back(std::move(term));
            out_.probes.push_back(std::move(probe));
        }
        return node(Node::Kind::term, i, negated, at);
    }

    Parsed<Node> line_node(const std::string& line, bool negated, Span at) {
        return text_node(Node::Kind::line, out_.lines, out_.first_line, "lines", line, negated, at);
    }

    Parsed<Node> stack_node(const std::string& function, bool negated, Span at) {
        return text_node(Node::Kind::stack, out_.stacks.functions, out_.first_stack, "functions",
                         function, negated, at);
    }

    // Of what is known by its text alone: `all` has each once.
    static Parsed<Node> text_node(Node::Kind kind, std::vector<std::string>& all, Span& first_at,
                                  std::string_view what, const std::string& text, bool negated,
                                  Span at) {
        const auto found = std::ranges::find(all, text);
        const auto i = static_cast<size_t>(found - all.begin());
        if (i == Gate::most_terms)
            return Complaint{at,
                             fmt::format("this is one too many: at most {} different {}",
                                         Gate::most_terms, what),
                             "", Error::Kind::usage};
        if (found == all.end()) {
            if (all.empty())
                first_at = at;
            all.push_back(text);
        }
        return node(kind, i, negated, at);
    }

    static Node node(Node::Kind kind, size_t index, bool negated, Span at) {
        Node node;
        node.kind = kind;
        node.negated = negated;
        node.index = static_cast<uint32_t>(index);
        node.at = at;
        return node;
    }

    std::vector<Word> words_;
    Span whole_;
    KeepCondition& out_;
    size_t next_ = 0;
};

} // namespace

bool ConditionNode::has(Kind wanted) const {
    return kind == wanted ||
           std::ranges::any_of(parts, [&](const Node& part) { return part.has(wanted); });
}

Parsed<ConditionNode> read_condition(std::vector<Word> words, Span whole, KeepCondition& out) {
    return Reader(std::move(words), whole, out).run();
}

} // namespace auger
