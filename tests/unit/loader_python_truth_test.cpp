// SPDX-License-Identifier: GPL-3.0-or-later
// A real CPython's functions, lines and frames, read from outside, and what it says of them itself.
// Debian's is asked; another one: AUGER_PYTHON=/path/to/python3.14 unit_loader
// --gtest_filter='PythonTruth.*', which may be a script that starts it.
#include "loader/process/proc_maps.h"
#include "loader/reader/elf/elf_file.h"
#include "loader/reader/runtimes/read_python.h"
#include "loader/runtimes/python/code_reader.h"
#include "loader/runtimes/python/layout.h"
#include "loader/runtimes/python/line_table.h"

#include <gtest/gtest.h>

#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
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

class PythonTruth : public testing::Test {
  protected:
    void SetUp() override {
        const char* const other = std::getenv("AUGER_PYTHON");
        const char* const python = other ? other : "/usr/bin/python3";
        if (access(python, X_OK) != 0)
            GTEST_SKIP() << python << " is not installed";
        int in[2], out[2];
        ASSERT_EQ(pipe(in), 0);
        ASSERT_EQ(pipe(out), 0);
        pid_ = fork();
        if (pid_ == 0) {
            dup2(in[0], 0);
            dup2(out[1], 1);
            for (const int fd : {in[0], in[1], out[0], out[1]})
                close(fd);
            setenv("PYTHONIOENCODING", "utf-8", 1);
            execl(python, python, "-S", AUGER_SOURCE_DIR "/tests/unit/fixtures/python_truth.py",
                  nullptr);
            _exit(127);
        }
        close(in[0]);
        close(out[1]);
        input_ = UniqueFd(in[1]);
        FILE* const said = fdopen(out[0], "r");
        char* line = nullptr;
        size_t room = 0;
        bool ready = false;
        while (!ready && getline(&line, &room, said) > 0)
            ready = understand(line);
        free(line);
        fclose(said);
        ASSERT_TRUE(ready);
        find_runtime();
    }
    void TearDown() override {
        input_ = UniqueFd();
        if (pid_ > 0) {
            kill(pid_, SIGKILL);
            waitpid(pid_, nullptr, 0);
        }
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

    void find_runtime() {
        const auto maps = read_maps(pid_);
        ASSERT_TRUE(maps.ok());
        for (const Mapping& mapping : *maps) {
            if (mapping.inode == 0 || !mapping.executable || runtime_)
                continue;
            auto fd = open_mapped_file(pid_, mapping);
            if (!fd.ok())
                continue;
            const auto file = ElfFile::open(std::move(*fd), mapping.path);
            const auto python = file.ok() ? read_python(**file) : std::nullopt;
            if (!python)
                continue;
            const auto linked = (*file)->address_of_offset(mapping.offset);
            ASSERT_TRUE(linked);
            runtime_ = python->runtime + mapping.start - *linked;
            const auto layout = python_layout(python->hex_version, python->debug_offsets);
            ASSERT_TRUE(layout.ok()) << layout.error().message();
            layout_ = *layout;
        }
        ASSERT_TRUE(runtime_);
    }

    MemoryRead read(uint64_t address, void* bytes, size_t size) const {
        // Not read_process_memory(), which waits for so long only: a busy machine is no hostile
        // owner.
        const iovec here{bytes, size}, there{reinterpret_cast<void*>(address), size};
        return process_vm_readv(pid_, &here, 1, &there, 1, 0) == static_cast<ssize_t>(size)
                   ? MemoryRead::whole
                   : MemoryRead::unreadable;
    }
    template <typename Number>
    Number number(uint64_t address) const {
        Number number{};
        EXPECT_EQ(read(address, &number, sizeof number), MemoryRead::whole);
        return number;
    }
    uint64_t word(uint64_t address) const { return number<uint64_t>(address); }

    std::variant<PythonCode, PythonCodeProblem> code(uint64_t address) const {
        const wire_python_layout& at = layout_.frames;
        return read_python_code(
            [this](uint64_t from, void* bytes, size_t size) { return read(from, bytes, size); },
            layout_, address,
            wire_python_cookie(number<uint32_t>(address + at.code_line),
                               word(address + at.code_file), word(address + at.code_name)));
    }

    pid_t pid_ = -1;
    UniqueFd input_;
    std::vector<TrueFunction> functions_;
    std::vector<TrueFrame> frames_;
    std::vector<TrueGenerator> generators_;
    uint64_t thread_ = 0;
    uint64_t runtime_ = 0; // in the process
    PythonLayout layout_{};
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
            ASSERT_EQ(python_line(seen->lines, seen->first_line, static_cast<uint32_t>(unit * 2)),
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
        generators += number<uint8_t>(frame + at.frame_kind) == WIRE_PYTHON_GENERATOR_OWNER;
        const uint64_t address = word(frame + at.frame_code) & ~uint64_t{7};
        const auto read = code(address);
        const auto* const function = std::get_if<PythonCode>(&read);
        ASSERT_TRUE(function);
        const uint64_t offset =
            word(frame + at.frame_instruction) - (address + at.code_instructions);
        seen.push_back(
            {address,
             python_line(function->lines, function->first_line, static_cast<uint32_t>(offset)),
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
    EXPECT_GE(shims, 5u);
    EXPECT_EQ(generators, 3u);
}

// What tasks are told by: bpf/python_task.h.
TEST_F(PythonTruth, GeneratorsHoldTheirFrames) {
    const wire_python_layout& at = layout_.frames;
    ASSERT_EQ(generators_.size(), 2u);
    for (const TrueGenerator& generator : generators_) {
        const uint64_t frame = generator.address + at.generator_frame;
        EXPECT_EQ(word(frame + at.frame_code) & ~uint64_t{7}, generator.code);
        EXPECT_EQ(number<uint8_t>(frame + at.frame_kind), WIRE_PYTHON_GENERATOR_OWNER);
        EXPECT_EQ(number<uint32_t>(generator.code + at.code_flags), generator.flags);
    }
    EXPECT_FALSE(generators_[0].flags & WIRE_PYTHON_COROUTINE);
    EXPECT_TRUE(generators_[1].flags & WIRE_PYTHON_COROUTINE);
}

TEST_F(PythonTruth, ACodeObjectThatIsNotTheOneSampledIsGone) {
    const TrueFunction& function = functions_.front();
    const auto read_at = [this](uint64_t from, void* bytes, size_t size) {
        return read(from, bytes, size);
    };
    const auto read = read_python_code(read_at, layout_, function.address, 1);
    ASSERT_TRUE(std::holds_alternative<PythonCodeProblem>(read));
    EXPECT_EQ(std::get<PythonCodeProblem>(read), PythonCodeProblem::gone);
}

} // namespace
} // namespace auger
