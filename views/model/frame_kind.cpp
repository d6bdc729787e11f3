// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/model/frame_kind.h"

#include "views/model/function_match.h"

#include <algorithm>
#include <array>

namespace auger {

namespace {

// How V8 begins the names of what it compiles; behind it a mark of the tier, if it is a function.
constexpr std::array<std::string_view, 8> v8_kinds = {
    "JS:",     "LazyCompile:", "Function:",        "Eval:",
    "Script:", "Builtin:",     "BytecodeHandler:", "Stub:"};
constexpr std::string_view python = "py::";

std::string_view v8_kind(std::string_view raw) {
    for (const std::string_view kind : v8_kinds)
        if (raw.starts_with(kind))
            return kind;
    return {};
}

bool of_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '$';
}

bool holds_word(std::string_view text, std::string_view word) {
    for (size_t at = 0; (at = text.find(word, at)) != text.npos; at++) {
        const size_t end = at + word.size();
        if ((at == 0 || !of_word(text[at - 1])) && (end == text.size() || !of_word(text[end])))
            return true;
    }
    return false;
}

} // namespace

std::string_view source_name(std::string_view raw) {
    if (raw.starts_with(python)) {
        raw.remove_prefix(python.size());
        return raw.substr(0, raw.find(':'));
    }
    const std::string_view kind = v8_kind(raw);
    if (kind.empty())
        return {};
    raw.remove_prefix(kind.size());
    while (!raw.empty() && std::string_view("*~^+").find(raw.front()) != std::string_view::npos)
        raw.remove_prefix(1);
    return raw.substr(0, raw.find(' '));
}

std::string_view source_file(std::string_view raw) {
    if (raw.starts_with(python)) {
        const size_t colon = raw.find(':', python.size());
        return colon == raw.npos ? std::string_view() : raw.substr(colon + 1);
    }
    const size_t blank = v8_kind(raw).empty() ? raw.npos : raw.find(' ');
    if (blank == raw.npos)
        return {};
    raw.remove_prefix(blank + 1);
    // "/srv/app.js:12:3": line and column.
    for (int numbers = 0; numbers < 2; numbers++) {
        const size_t colon = raw.rfind(':');
        if (colon == raw.npos || raw.find_first_not_of("0123456789", colon + 1) != raw.npos)
            break;
        raw = raw.substr(0, colon);
    }
    return raw;
}

std::string_view language_of(const SymbolTables& symbols, FunctionId id) {
    const Function& function = symbols.function(id);
    const std::string_view name = symbols.name(id);
    const ModuleKind kind = symbols.module(function.module).kind;
    if (kind == ModuleKind::python || name.starts_with(python))
        return "py";
    if (kind == ModuleKind::java)
        return "java";
    if (kind == ModuleKind::php)
        return "php";
    if (kind == ModuleKind::ruby)
        return "rb";
    if (kind == ModuleKind::perl)
        return "perl";
    return kind == ModuleKind::js || !v8_kind(name).empty() ? "js" : "";
}

bool only_inlined(const SymbolTables& symbols, FunctionId function) {
    bool inlined = false;
    for (uint32_t i = 0; i < symbols.locations(); i++) {
        for (const FrameEntry& frame : symbols.found_frames(LocationId{i})) {
            if (frame.function != function)
                continue;
            if (!frame.inlined)
                return false;
            inlined = true;
        }
    }
    return inlined;
}

std::string why_no_probe(const SymbolTables& symbols, FunctionId id) {
    const Function& function = symbols.function(id);
    const std::string_view name = symbols.name(id);
    switch (symbols.module(function.module).kind) {
    case ModuleKind::file:
        return only_inlined(symbols, id) ? "inlined wherever it was seen" : "";
    case ModuleKind::kernel:
        return "a function of the kernel";
    case ModuleKind::vdso:
        return "a function of the vDSO, which is the kernel's";
    case ModuleKind::syscall:
        return "a system call in which threads wait";
    case ModuleKind::waker:
        return "no function: who ended a wait";
    case ModuleKind::cut:
        return "no function: why a stack ends there";
    case ModuleKind::python:
        return "a Python function, which the interpreter runs";
    case ModuleKind::task:
        return "no function: which task runs";
    case ModuleKind::go_label:
        return "no function: a label of the goroutine";
    case ModuleKind::java:
        return "a Java method, which is compiled or interpreted at run time";
    case ModuleKind::js:
        return "a JavaScript function, which is compiled or interpreted at run time";
    case ModuleKind::php:
        return "a PHP function, which the interpreter runs";
    case ModuleKind::ruby:
        return "a Ruby method, which the interpreter runs";
    case ModuleKind::perl:
        return "a Perl sub, which the interpreter runs";
    case ModuleKind::jit:
    case ModuleKind::unknown:
        break;
    }
    if (name.starts_with(python))
        return "a Python function, which the interpreter runs";
    if (!v8_kind(name).empty())
        return "JavaScript, which is compiled or interpreted at run time";
    return "code that was generated at run time, and is in no file";
}

std::vector<FunctionId> functions_meant(const SymbolTables& symbols, std::string_view text) {
    std::vector<FunctionId> found;
    for (uint32_t i = 0; i < symbols.functions() && !text.empty(); i++) {
        const FunctionId id{i};
        const std::string_view name = symbols.name(id);
        if (symbols.is_shown(id) &&
            (match_name(name, text) >= NameMatch::shown ||
             // As a view that is too narrow for where it was written would show it.
             (!source_name(name).empty() && name.substr(0, name.find(' ')) == text)))
            found.push_back(id);
    }
    return found;
}

std::vector<FunctionId> functions_like(const SymbolTables& symbols, std::string_view text,
                                       size_t most) {
    std::vector<FunctionId> found = functions_meant(symbols, text);
    std::vector<FunctionId> holding;
    if (found.empty() && !text.empty()) {
        for (uint32_t i = 0; i < symbols.functions(); i++) {
            const FunctionId id{i};
            const std::string_view name = symbols.name(id);
            if (!symbols.is_shown(id) || name.find(text) == name.npos)
                continue;
            (holds_word(name, text) ? found : holding).push_back(id);
        }
    }
    if (found.empty())
        found = std::move(holding);
    found.resize(std::min(found.size(), most));
    return found;
}

} // namespace auger
