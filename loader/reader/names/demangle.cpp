// SPDX-License-Identifier: GPL-3.0-or-later
// libiberty's callback interfaces print piece by piece without building the result, so the output
// limit can stop them in time: a name of substitutions grows exponentially.
#include "loader/reader/names/demangle.h"

#include <csetjmp>
#include <cstring>
// libiberty declares its own basename() otherwise, which contradicts that of <cstring>.
#define HAVE_DECL_BASENAME 1
#include <libiberty/demangle.h>

namespace auger {
namespace {

struct Output {
    std::string* text;
    jmp_buf full;
};

// Called from C that knows no way to stop, so a full output jumps out of it. Only frames of C lie
// between (which keep nothing but stack memory for C++ names), and this one owns nothing.
void append(const char* piece, size_t size, void* opaque) {
    auto* output = static_cast<Output*>(opaque);
    size_t room = demangle_output_limit - output->text->size();
    if (size > room) {
        output->text->append(piece, room);
        longjmp(output->full, 1);
    }
    output->text->append(piece, size);
}

// libiberty prints "for<'a, 'b ...>" one lifetime after the other, as many as the name says: a
// dozen bytes keep it busy for hours where the output is thrown away, so that no limit of it helps.
// In Rust's v0 scheme the number stands behind a G, after the D or F of a type; one digit of base
// 62 is for 63 lifetimes.
bool binds_without_end(std::string_view mangled) {
    const auto is_digit = [](char c) {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    };
    for (size_t at = mangled.find('G'); at != mangled.npos; at = mangled.find('G', at + 1)) {
        size_t end = at + 1;
        while (end < mangled.size() && is_digit(mangled[end]))
            end++;
        const bool behind_type = at > 0 && (mangled[at - 1] == 'D' || mangled[at - 1] == 'F');
        if (behind_type && end - at > 2 && end < mangled.size() && mangled[end] == '_')
            return true;
    }
    return false;
}

using Demangler = int (*)(const char*, int, demangle_callbackref, void*);

// Empty when it does not demangle. Without DMGL_NO_RECURSE_LIMIT libiberty bounds its depth.
void run(Demangler demangler, const char* mangled, int options, std::string& text) {
    Output output{&text, {}};
    text.reserve(demangle_output_limit);
    if (setjmp(output.full) != 0) {
        text.replace(text.size() - 3, 3, "...");
        return;
    }
    if (!demangler(mangled, options, append, &output))
        text.clear();
}

std::string demangle_with(std::string_view mangled, int options) {
    bool rust = mangled.starts_with("_R");
    bool cpp = mangled.starts_with("_Z");
    if ((!rust && !cpp) || mangled.size() > demangle_input_limit ||
        mangled.find('\0') != mangled.npos || (rust && binds_without_end(mangled)))
        return std::string(mangled);
    std::string input(mangled); // libiberty wants a terminating zero
    std::string text;
    // Rust's older scheme looks like C++ with a hash at the end; this refuses what has none.
    run(rust_demangle_callback, input.c_str(), options, text);
    if (text.empty() && cpp)
        run(cplus_demangle_v3_callback, input.c_str(), options, text);
    text.shrink_to_fit();
    return text.empty() ? input : text;
}

} // namespace

// Templates would begin with their return type otherwise, unlike all other functions.
std::string demangle(std::string_view mangled) {
    return demangle_with(mangled, DMGL_PARAMS | DMGL_ANSI | DMGL_RET_DROP);
}

std::string demangle_without_parameters(std::string_view mangled) {
    return demangle_with(mangled, DMGL_ANSI | DMGL_RET_DROP);
}

} // namespace auger
