// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/frame_text.h"

#include "views/escape.h"

namespace auger {

std::string frame_text(std::string_view raw) {
    std::string name = escape_untrusted(raw);
    for (size_t at = 0; (at = name.find("(anonymous namespace)", at)) != name.npos;)
        name.replace(at, sizeof("(anonymous namespace)") - 1, "{anonymous}");
    if (name.starts_with('(')) {
        // "(anonymous class)::f", "(inlined)": whatever is in the first parentheses.
        size_t depth = 0, end = 0;
        do {
            depth += name[end] == '(' ? 1 : 0;
            depth -= name[end] == ')' ? 1 : 0;
            end++;
        } while (depth > 0 && end < name.size());
        name.replace(0, end, "{anonymous}");
    }
    for (char& c : name)
        if (c == ';')
            c = ':';
    // The count stands behind the last space, so spaces inside are fine, but not at the ends.
    size_t first = name.find_first_not_of(' ');
    if (first == name.npos)
        return "[unknown]";
    return name.substr(first, name.find_last_not_of(' ') - first + 1);
}

std::string perf_frame_text(std::string_view raw) {
    std::string name = frame_text(raw);
    const size_t offset = name.rfind("+0x");
    if (offset != name.npos && name.find_first_not_of("0123456789abcdef", offset + 3) == name.npos)
        name[offset] = '@';
    return name;
}

std::string label_text(std::string_view raw) {
    std::string text = frame_text(raw);
    if (text.size() == 1)
        text += '_';
    return text;
}

} // namespace auger
