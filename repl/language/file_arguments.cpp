// SPDX-License-Identifier: GPL-3.0-or-later
#include "repl/language/file_arguments.h"

#include "repl/language/values.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace auger {
namespace {

constexpr size_t most_kept = 100'000; // files

Parsed<uint64_t> parse_between(Arguments& arguments, std::string_view what, uint64_t least,
                               uint64_t most, Parsed<uint64_t> (*read)(const Word&),
                               std::string (*spell)(uint64_t)) {
    auto word = arguments.expect(what);
    if (!word)
        return word.complaint();
    auto value = read(*word);
    if (value && (*value < least || *value > most))
        return Complaint{word->span,
                         fmt::format("{} is between {} and {}", what, spell(least), spell(most)),
                         "", Error::Kind::usage};
    return value;
}

} // namespace

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

Parsed<uint64_t> parse_span(Arguments& arguments, std::string_view what, uint64_t least,
                            uint64_t most) {
    return parse_between(arguments, what, least, most, duration_of, spell_duration);
}

Parsed<uint64_t> parse_size(Arguments& arguments, std::string_view what, uint64_t least,
                            uint64_t most) {
    return parse_between(arguments, what, least, most, size_of, spell_size);
}

Parsed<size_t> parse_keep(Arguments& arguments) {
    auto word = arguments.expect("how many are kept");
    if (!word)
        return word.complaint();
    auto count = count_of(*word);
    if (!count)
        return count.complaint();
    if (*count == 0 || *count > most_kept)
        return Complaint{word->span, fmt::format("between 1 and {} are kept", most_kept), "",
                         Error::Kind::usage};
    return static_cast<size_t>(*count);
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
