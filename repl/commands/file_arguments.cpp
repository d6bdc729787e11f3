// SPDX-License-Identifier: GPL-3.0-or-later
#include "repl/commands/file_arguments.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace auger {

Parsed<std::string> parse_path(Arguments& arguments, std::string_view what) {
    auto word = arguments.expect(what);
    if (!word)
        return word.complaint();
    if (word->text.empty() || word->text.find('\0') != std::string::npos)
        return Complaint{word->span, fmt::format("{} needs a name", what), "", Error::Kind::usage};
    return std::move(word->text);
}

Parsed<const ExportFormat*> parse_format(Arguments& arguments) {
    auto name = arguments.expect("a format");
    if (!name)
        return name.complaint();
    if (const ExportFormat* format = find_export_format(name->text))
        return format;
    return Complaint{name->span, fmt::format("there is no format \"{}\"", name->text),
                     fmt::format("one of: {}", format_names()), Error::Kind::usage};
}

const std::string& format_names() {
    static const std::string names = [] {
        std::vector<std::string_view> each;
        for (const ExportFormat& format : export_formats())
            each.push_back(format.name);
        return fmt::format("{}", fmt::join(each, " "));
    }();
    return names;
}

} // namespace auger
