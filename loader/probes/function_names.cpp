// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/probes/function_names.h"

namespace auger {
namespace {

bool identifier(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

bool word_at(std::string_view text, size_t at, std::string_view word) {
    return text.substr(at).starts_with(word) && (at == 0 || !identifier(text[at - 1]));
}

} // namespace

std::string normalise_spaces(std::string_view text) {
    std::string out;
    for (size_t at = 0; at < text.size(); ++at) {
        if (text[at] != ' ' && text[at] != '\t') {
            out += text[at];
            continue;
        }
        size_t next = text.find_first_not_of(" \t", at);
        if (next != text.npos && !out.empty() && identifier(out.back()) && identifier(text[next]))
            out += ' ';
        at = (next == text.npos ? text.size() : next) - 1;
    }
    return out;
}

std::string strip_template_arguments(std::string_view text) {
    std::string out;
    int depth = 0;
    for (size_t at = 0; at < text.size(); ++at) {
        constexpr std::string_view word = "operator";
        if (word_at(text, at, word)) {
            // The symbol of the operator is no bracket; the demangler sets a space before template
            // arguments that follow it.
            size_t end = at + word.size();
            while (end < text.size() && std::string_view("<>=-").find(text[end]) != text.npos)
                ++end;
            if (depth == 0)
                out += text.substr(at, end - at);
            at = end - 1;
            continue;
        }
        if (depth == 0 && text.substr(at).starts_with("[abi:")) {
            size_t end = text.find(']', at);
            at = end == text.npos ? text.size() : end;
            continue;
        }
        // Rust: `<T as Trait>::method` begins with a bracket that is part of the name.
        if (text[at] == '<' && !out.empty())
            ++depth;
        else if (text[at] == '>' && depth > 0 && text[at - 1] != '-')
            --depth;
        else if (depth == 0)
            out += text[at];
    }
    return out;
}

std::vector<size_t> name_starts(std::string_view text) {
    std::vector<size_t> starts{0};
    int depth = 0;
    for (size_t at = 0; at < text.size(); ++at) {
        constexpr std::string_view word = "operator";
        if (word_at(text, at, word)) {
            at += word.size();
            while (at < text.size() && std::string_view("<>=-()").find(text[at]) != text.npos)
                ++at;
            if (at >= text.size())
                break;
        }
        char c = text[at];
        depth += (c == '<' || c == '(' || c == '{') - (c == '>' || c == ')' || c == '}');
        if (depth == 0 && c == ':' && at + 2 < text.size() && text[at + 1] == ':') {
            starts.push_back(at + 2);
            ++at;
        }
    }
    return starts;
}

std::string_view unqualified(std::string_view text) {
    return text.substr(name_starts(text).back());
}

} // namespace auger
