// SPDX-License-Identifier: GPL-3.0-or-later
// The fenced blocks of Markdown pages, for tests that hold pages to what they say.
#pragma once

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace auger::test {

struct MarkdownBlock {
    std::string tag; // behind the fence: "auger"
    std::string text;
    size_t line = 0; // of the fence, from 1
};

// Throws for a block that does not end, and when there is no such file.
inline std::vector<MarkdownBlock> blocks_of(const std::filesystem::path& page) {
    std::ifstream file(page);
    if (!file)
        throw std::runtime_error("cannot read " + page.string());
    std::vector<MarkdownBlock> blocks;
    bool inside = false;
    std::string line;
    for (size_t number = 1; std::getline(file, line); number++) {
        if (!line.starts_with("```")) {
            if (inside)
                blocks.back().text += line + "\n";
            continue;
        }
        if (!inside)
            blocks.push_back({line.substr(3), "", number});
        inside = !inside;
    }
    if (inside)
        throw std::runtime_error(page.string() + ": a block does not end");
    return blocks;
}

// README.md and the pages of docs.
inline std::vector<std::filesystem::path> document_pages(const std::filesystem::path& root) {
    std::vector<std::filesystem::path> pages = {root / "README.md"};
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root / "docs"))
        if (entry.path().extension() == ".md")
            pages.push_back(entry.path());
    return pages;
}

} // namespace auger::test
