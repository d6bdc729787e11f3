// SPDX-License-Identifier: GPL-3.0-or-later
// A real CPython's functions, lines and frames, read from outside, and what it says of them itself.
// Debian's is asked; another one: AUGER_PYTHON=/path/to/python3.14 unit_loader
// --gtest_filter='PythonTruth.*', which may be a script that starts it.
#include "loader/runtimes/python/code_reader.h"
#include "loader/runtimes/python/line_table.h"
#include "tests/unit/python_process.h"

#include <sstream>
#include <string>
#include <variant>
#include <vector>

namespace auger {
namespace {

struct TrueFunction {
    uint64_t address;
    std::string name, file;
    uint32_t first_line;
    std::vector<uint32_t> lines; // of each unit of code
};
struct TrueFrame {
    uint64_t code;
    uint32_t line;
    uint64_t offset;
};

struct TrueGenerator {
    uint64_t address, code;
    uint32_t flags;
};

std::string text_of(const std::string& hex) {
    std::string text;
    for (size_t i = 0; hex != "-" && i + 1 < hex.size(); i += 2)
        text.push_back(static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16)));
    return text;
}

class PythonTruth : public test::PythonProcess {
  protected:
    void SetUp() override {
        start("tests/unit/fixtures/python_truth.py",
              [this](const std::string& line) { return understand(line); });
    }

    bool understand(const std::string& line) {
        std::istringstream words(line);
        std::string kind, name, file, lines;
        words >> kind;
        if (kind == "code") {
            TrueFunction function;
            words >> function.address >> name >> file >> function.first_line >> lines;
            function.name = text_of(name);
            function.file = text_of(file);
            std::istringstream numbers(lines);
            for (std::string number; std::getline(numbers, number, ',');)
                function.lines.push_back(static_cast<uint32_t>(std::stoul(number)));
            functions_.push_back(function);
        } else if (kind == "frame") {
            TrueFrame frame;
            words >> frame.code >> frame.line >> frame.offset;
            frames_.push_back(frame);
        } else if (kind == "generator") {
            TrueGenerator generator{};
            words >> generator.address >> generator.code >> generator.flags;
            generators_.push_back(generator);
        } else if (kind == "thread") {
            words >> thread_;
        }
        return kind == "ready";
    }

    std::variant<PythonCode, PythonCodeProblem> code(uint64_t address) const {
        const wire_python_layout& at = layout_.frames;
        return read_python_code(
            reader(), layout_, address,
            wire_python_cookie(number<uint32_t>(address + at.code_line),
                               word(address + at.code_file), word(address + at.code_name),
                               word(address + at.code_lines),
                               at.code_version ? number<uint32_t>(address + at.code_version) : 0));
    }

    bool is_of_generator(uint64_t frame) const {
        const wire_python_layout& at = layout_.frames;
        return at.frame_generator
                   ? word(frame + at.frame_generator) != 0
                   : number<uint8_t>(frame + at.frame_kind) == WIRE_PYTHON_GENERATOR_OWNER;
    }

    std::vector<TrueFunction> functions_;
    std::vector<TrueFrame> frames_;
    std::vector<TrueGenerator> generators_;
    uint64_t thread_ = 0;
};

TEST_F(PythonTruth, NamesAndLinesOfAllInstructions) {
    ASSERT_GT(functions_.size(), 20u);
    for (const TrueFunction& function : functions_) {
        const auto read = code(function.address);
        const auto* const seen = std::get_if<PythonCode>(&read);
        ASSERT_TRUE(seen) << function.name;
        const bool cut = function.name.size() > 2048;
        EXPECT_EQ(seen->function, cut ? function.name.substr(0, 2048) + "..." : function.name);
        // What cannot be written as UTF-8 the program says as a question mark.
        EXPECT_EQ(seen->file, function.file == "?bad" ? "\xef\xbf\xbd"
                                                        "bad"
                                                      : function.file);
        EXPECT_EQ(seen->first_line, function.first_line);
        for (size_t unit = 0; unit < function.lines.size(); unit++)
            ASSERT_EQ(python_line(seen->form, seen->lines, seen->first_line,
                                  static_cast<uint32_t>(unit * 2)),
                      function.lines[unit])
                << function.name << " unit " << unit;
    }
}

TEST_F(PythonTruth, FramesOfTheThreadInTheirOrder) {
    const wire_python_layout& at = layout_.frames;
    uint64_t thread = 0;
    for (uint64_t state = word(word(runtime_ + at.runtime_interpreters) + at.interpreter_threads);
         state && !thread; state = word(state + at.thread_next))
        if (word(state + at.thread_id) == thread_)
            thread = state;
    ASSERT_TRUE(thread);
    uint64_t frame = word(thread + at.thread_frame);
    if (at.has_cframe)
        frame = word(frame + at.cframe_frame);
    std::vector<TrueFrame> seen;
    size_t shims = 0, generators = 0;
    for (; frame && seen.size() < 1000; frame = word(frame + at.frame_previous)) {
        const auto owner = number<uint8_t>(frame + at.frame_owner);
        if (at.boundary == WIRE_PYTHON_SHIM && owner >= WIRE_PYTHON_SHIM_OWNER) {
            shims++;
            continue;
        }
        shims += at.boundary == WIRE_PYTHON_CFRAME && owner;
        generators += is_of_generator(frame);
        const uint64_t address = word(frame + at.frame_code) & ~uint64_t{7};
        const auto read = code(address);
        const auto* const function = std::get_if<PythonCode>(&read);
        ASSERT_TRUE(function);
        const uint64_t offset =
            at.instruction_unit
                ? number<uint32_t>(frame + at.frame_instruction) * at.instruction_unit
                : word(frame + at.frame_instruction) - (address + at.code_instructions);
        seen.push_back({address,
                        python_line(function->form, function->lines, function->first_line,
                                    static_cast<uint32_t>(offset)),
                        offset});
    }
    // What posix.read() and posix.write() are called by differs in the instruction only.
    ASSERT_EQ(seen.size(), frames_.size());
    for (size_t i = 0; i < seen.size(); i++) {
        EXPECT_EQ(seen[i].code, frames_[i].code) << i;
        EXPECT_EQ(seen[i].line, frames_[i].line) << i;
        if (i > 0) {
            EXPECT_EQ(seen[i].offset, frames_[i].offset) << i;
        }
    }
    // The module; sorted() twice, map() twice; each generator in its own run in 3.11 only.
    if (at.boundary != WIRE_PYTHON_EACH) {
        EXPECT_GE(shims, 5u);
    }
    EXPECT_EQ(generators, 3u);
}

// What tasks are told by: bpf/python_task.h.
TEST_F(PythonTruth, GeneratorsHoldTheirFrames) {
    const wire_python_layout& at = layout_.frames;
    ASSERT_EQ(generators_.size(), 2u);
    for (const TrueGenerator& generator : generators_) {
        // gi_frame and cr_frame stand behind what all objects have.
        const uint64_t frame = at.frame_generator ? word(generator.address + 16)
                                                  : generator.address + at.generator_frame;
        EXPECT_EQ(word(frame + at.frame_code) & ~uint64_t{7}, generator.code);
        EXPECT_TRUE(is_of_generator(frame));
        if (at.frame_generator) {
            EXPECT_EQ(word(frame + at.frame_generator), generator.address);
        }
        EXPECT_EQ(number<uint32_t>(generator.code + at.code_flags), generator.flags);
    }
    EXPECT_FALSE(generators_[0].flags & WIRE_PYTHON_COROUTINE);
    EXPECT_TRUE(generators_[1].flags & WIRE_PYTHON_COROUTINE);
}

TEST_F(PythonTruth, ACodeObjectThatIsNotTheOneSampledIsGone) {
    const TrueFunction& function = functions_.front();
    const auto read = read_python_code(reader(), layout_, function.address, 1);
    ASSERT_TRUE(std::holds_alternative<PythonCodeProblem>(read));
    EXPECT_EQ(std::get<PythonCodeProblem>(read), PythonCodeProblem::gone);
}

} // namespace
} // namespace auger
