// SPDX-License-Identifier: GPL-3.0-or-later
// The line that is typed in the live view: what Tab makes of it, and what was typed before.
#include "views/screen/line_editor.h"

#include <gmock/gmock.h>

namespace auger {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

LineEditor::Outcome press(LineEditor& line, Key::Code code) {
    return line.press({.code = code});
}

void type(LineEditor& line, std::string_view text) {
    for (const char c : text)
        line.press({.code = Key::Code::character, .character = char32_t(c)});
}

std::string drawn(const LineEditor& line) {
    Canvas canvas(60);
    line.draw(canvas, 0);
    return to_text(canvas);
}

// Of the word behind the last blank: those of `words` that begin with it.
CompleteLine among(std::vector<std::string> words, std::string common) {
    return [words, common](std::string_view line) {
        LineCompletion found;
        found.start = line.rfind(' ') + 1;
        for (const std::string& word : words) {
            if (word.starts_with(line.substr(found.start)))
                found.candidates.push_back(word);
        }
        found.common = found.candidates.size() == 1 ? found.candidates[0] : common;
        return found;
    };
}

TEST(LineEditor, TabTakesTheOnlyCandidate) {
    LineEditor line;
    line.set_complete(among({"handle", "libc:recv", "dir/"}, ""));
    line.start(":");
    type(line, "hist ha p95");
    for (int i = 0; i < 4; i++)
        press(line, Key::Code::left);
    press(line, Key::Code::tab);
    EXPECT_EQ(line.text(), "hist handle  p95") << "what is behind the cursor stays";
    line.start(":", "save d");
    press(line, Key::Code::tab);
    EXPECT_EQ(line.text(), "save dir/") << "goes on in the folder";
    line.start(":", "hist x");
    press(line, Key::Code::tab);
    EXPECT_EQ(line.text(), "hist x") << "nothing is known";
}

TEST(LineEditor, TabShowsSeveralCandidatesUntilTheNextKey) {
    LineEditor line;
    line.set_complete(among({"handle_all", "handle\x1b[2J"}, "handle"));
    line.start(":", "hist h");
    press(line, Key::Code::tab);
    EXPECT_EQ(line.text(), "hist handle");
    EXPECT_THAT(drawn(line), HasSubstr(":hist handle"));
    EXPECT_THAT(drawn(line), HasSubstr("  handle_all  handle\\x1b[2J"));
    type(line, "_");
    EXPECT_THAT(drawn(line), Not(HasSubstr("handle_all")));
}

TEST(LineEditor, ControlCharactersOfATargetAreNotTyped) {
    LineEditor line;
    line.set_complete(among({"handle\x1b[2J"}, ""));
    line.start(":", "hist h");
    press(line, Key::Code::tab);
    EXPECT_EQ(line.text(), "hist h");
}

TEST(LineEditor, RecallsWhatItIsGiven) {
    LineEditor line;
    line.set_history({"time f", "split f > p95"});
    line.start(":");
    press(line, Key::Code::up);
    EXPECT_EQ(line.text(), "split f > p95");
    press(line, Key::Code::up);
    EXPECT_EQ(line.text(), "time f");
    press(line, Key::Code::enter);
    EXPECT_THAT(line.history(), ElementsAre("time f", "split f > p95", "time f"));
}

} // namespace
} // namespace auger
