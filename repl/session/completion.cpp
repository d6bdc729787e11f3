// SPDX-License-Identifier: GPL-3.0-or-later
#include "repl/session/completion.h"

#include <algorithm>
#include <filesystem>
#include <set>

namespace auger {
namespace {

void add_words(std::string_view words, std::string_view prefix, std::set<std::string>& out) {
    while (!words.empty()) {
        const size_t end = std::min(words.find(' '), words.size());
        const std::string_view word = words.substr(0, end);
        if (!word.empty() && word.starts_with(prefix))
            out.emplace(word);
        words.remove_prefix(std::min(end + 1, words.size()));
    }
}

// `name` as the lexer reads it back in one word.
std::string spelled(const std::string& name) {
    const auto commands = lex(name);
    if (commands && commands->size() == 1 && (*commands)[0].words.size() == 1 &&
        (*commands)[0].words[0].text == name && !(*commands)[0].words[0].comparison)
        return name;
    if (name.find('\'') == std::string::npos)
        return "'" + name + "'";
    return quote_word(name);
}

// What may follow a command's name and the words behind it.
const ArgumentKind& kind_behind(const CommandRow& row, const std::vector<Word>& words) {
    const auto& kinds = row.arguments;
    const auto named =
        words.size() < 2 ? kinds.end() : std::ranges::find_if(kinds, [&](const ArgumentKind& kind) {
            return !kind.after.empty() && kind.after == words.back().text;
        });
    if (named != kinds.end())
        return *named;
    const auto places = static_cast<size_t>(
        std::ranges::count_if(kinds, [](const ArgumentKind& kind) { return kind.after.empty(); }));
    return kinds[std::min(words.size(), places) - 1];
}

// Values of the tracepoint that was named last: what `text`, which ends in "args." and perhaps a
// beginning, may become.
std::vector<std::string> fields_of(const std::vector<Word>& words, const std::string& text,
                                   const CompletionSource& source) {
    constexpr std::string_view of_record = "args.", of_kernel = "tracepoint:";
    std::vector<std::string> all;
    const size_t at = text.rfind(of_record);
    if (at == std::string::npos || !source.fields)
        return all;
    const auto named = std::ranges::find_if(words.rbegin(), words.rend(), [&](const Word& word) {
        return word.text.starts_with(of_kernel);
    });
    if (named == words.rend())
        return all;
    const std::string before = text.substr(0, at + of_record.size());
    for (const std::string& field : source.fields(named->text))
        if ((before + field).starts_with(text))
            all.push_back(before + field);
    return all;
}

// Whole characters that all of them begin with.
std::string common_beginning(const std::vector<std::string>& texts) {
    if (texts.empty())
        return {};
    std::string common = texts[0];
    for (const std::string& text : texts) {
        size_t same = 0;
        while (same < std::min(common.size(), text.size()) && common[same] == text[same])
            ++same;
        while (same > 0 && same < common.size() &&
               (static_cast<unsigned char>(common[same]) & 0xc0) == 0x80)
            --same;
        common.resize(same);
    }
    return common;
}

} // namespace

std::vector<std::string> complete_file(std::string_view prefix) {
    constexpr size_t limit = 500;
    const size_t slash = prefix.rfind('/');
    const std::string folder(slash == std::string_view::npos ? std::string_view()
                                                             : prefix.substr(0, slash + 1));
    std::vector<std::string> files;
    std::error_code error;
    std::filesystem::directory_iterator entries(folder.empty() ? "." : folder, error);
    for (const std::filesystem::directory_iterator end; !error && entries != end;
         entries.increment(error)) {
        std::string path = folder + entries->path().filename().string();
        const bool hidden = path.compare(folder.size(), 1, ".") == 0;
        if (!path.starts_with(prefix) || (hidden && prefix.size() == folder.size()))
            continue;
        std::error_code unknown;
        if (entries->is_directory(unknown))
            path += '/';
        files.push_back(std::move(path));
        if (files.size() == limit)
            break;
    }
    return files;
}

Completion complete(const CommandTable& table, std::string_view line,
                    const CompletionSource& source) {
    // A word that is being typed may be an open quotation: close it to read what is there.
    auto commands = lex(line);
    for (const char* quote : {"'", "\""}) {
        if (!commands)
            commands = lex(std::string(line) + quote);
    }
    Completion completion;
    completion.start = line.size();
    if (!commands)
        return completion;
    CommandText text;
    if (!commands->empty())
        text = commands->back();
    // Behind ';' a new command begins; behind a blank, a new word.
    const auto end_of = [](const Word& word) { return word.span.offset + word.span.length; };
    if (!text.words.empty() &&
        line.find(';', std::min(end_of(text.words.back()), line.size())) != std::string_view::npos)
        text.words.clear();
    Word last;
    if (!text.words.empty() && end_of(text.words.back()) >= line.size()) {
        last = text.words.back();
        text.words.pop_back();
        completion.start = last.span.offset;
    }

    std::set<std::string> names, found;
    if (text.words.empty()) {
        for (const CommandRow& row : table.rows()) {
            if (row.name.starts_with(last.text))
                found.emplace(row.name);
        }
    } else {
        const auto row = table.find(text.words.front());
        if (!row || (*row)->arguments.empty())
            return completion;
        for (const std::string& field : fields_of(text.words, last.text, source))
            found.insert(field);
        const ArgumentKind& kind = kind_behind(**row, text.words);
        add_words(kind.words, last.text, found);
        if (kind.command) {
            for (const CommandRow& other : table.rows())
                names.emplace(other.name);
        }
        if (kind.probe)
            names.merge([&] {
                auto probes = source.probes();
                return std::set<std::string>(probes.begin(), probes.end());
            }());
        if (kind.function) {
            for (std::string& name : source.functions(last.text))
                names.insert(std::move(name));
        }
        if (kind.file) {
            for (std::string& name : source.files(last.text))
                names.insert(std::move(name));
        }
        for (const std::string& name : names) {
            if (name.starts_with(last.text))
                found.insert(spelled(name));
        }
    }
    completion.candidates.assign(found.begin(), found.end());
    completion.common = common_beginning(completion.candidates);
    // A quotation that was opened differently would be lost; what is typed stays then.
    if (completion.candidates.size() > 1 &&
        completion.common.size() < line.size() - completion.start)
        completion.common = line.substr(completion.start);
    return completion;
}

} // namespace auger
