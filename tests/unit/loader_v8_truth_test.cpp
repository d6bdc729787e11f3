// SPDX-License-Identifier: GPL-3.0-or-later
// A real V8's frames, functions and lines, read from outside, and what it says of them itself. The
// node that is installed is asked; another one: AUGER_NODE=/path/to/node unit_loader
// --gtest_filter='*V8Truth*'.
#include "loader/process/proc_maps.h"
#include "loader/reader/elf/elf_file.h"
#include "loader/reader/runtimes/read_v8.h"
#include "loader/runtimes/v8/function_reader.h"
#include "loader/runtimes/v8/layout.h"
#include "loader/runtimes/v8/script_lines.h"

#include <gtest/gtest.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

namespace auger {
namespace {

// In the order of frames, innermost first.
struct TrueSite {
    std::string name, file; // empty: it has none
    uint32_t line = 0;
    V8Place begin{};
};

struct SeenFrame {
    V8Function function;
    V8Place place{}, begin{};
};

std::string text_of(const std::string& hex) {
    std::string text;
    for (size_t i = 0; hex != "-" && i + 1 < hex.size(); i += 2)
        text.push_back(static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16)));
    return text;
}

class V8Truth : public testing::TestWithParam<std::vector<std::string>> {
  protected:
    void SetUp() override {
        const char* const other = std::getenv("AUGER_NODE");
        const std::string node = other ? other : "/usr/bin/node";
        if (access(node.c_str(), X_OK) != 0)
            GTEST_SKIP() << node << " is not installed";
        int in[2], out[2];
        ASSERT_EQ(pipe(in), 0);
        ASSERT_EQ(pipe(out), 0);
        pid_ = fork();
        if (pid_ == 0) {
            dup2(in[0], 0);
            dup2(out[1], 1);
            for (const int fd : {in[0], in[1], out[0], out[1]})
                close(fd);
            std::vector<std::string> words = {node};
            words.insert(words.end(), GetParam().begin(), GetParam().end());
            words.push_back(AUGER_SOURCE_DIR "/tests/unit/fixtures/v8_truth.js");
            std::vector<char*> arguments;
            for (std::string& word : words)
                arguments.push_back(word.data());
            arguments.push_back(nullptr);
            execv(node.c_str(), arguments.data());
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
        wait_until_it_reads();
        find_layout();
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
        std::string kind, name, file;
        words >> kind;
        if (kind == "frame") {
            TrueSite site;
            words >> name >> file >> site.line >> site.begin.line >> site.begin.column;
            site.name = text_of(name);
            site.file = text_of(file);
            sites_.push_back(site);
        }
        return kind == "ready";
    }

    // The thread stops, and its frame pointer is node's, if that has some: the C library has left
    // it as it was.
    void wait_until_it_reads() {
        for (;;) {
            ASSERT_EQ(ptrace(PTRACE_ATTACH, pid_, nullptr, nullptr), 0);
            ASSERT_EQ(waitpid(pid_, nullptr, 0), pid_);
            user_regs_struct registers{};
            ASSERT_EQ(ptrace(PTRACE_GETREGS, pid_, nullptr, &registers), 0);
            ASSERT_EQ(ptrace(PTRACE_DETACH, pid_, nullptr, nullptr), 0);
            constexpr uint64_t read_call = 0;
            if (registers.orig_rax == read_call && registers.rdi == 0) {
                frame_pointer_ = registers.rbp;
                stack_pointer_ = registers.rsp;
                return;
            }
            usleep(1000);
        }
    }

    void find_layout() {
        const auto maps = read_maps(pid_);
        ASSERT_TRUE(maps.ok());
        bool found = false;
        for (const Mapping& mapping : *maps) {
            if (mapping.inode == 0 || !mapping.executable || found)
                continue;
            auto fd = open_mapped_file(pid_, mapping);
            if (!fd.ok())
                continue;
            const auto file = ElfFile::open(std::move(*fd), mapping.path);
            const auto v8 = file.ok() ? read_v8(**file) : std::nullopt;
            if (!v8)
                continue;
            const auto layout = v8_layout(*v8);
            ASSERT_TRUE(layout.ok()) << layout.error().message();
            layout_ = *layout;
            found = true;
            for (const Mapping& one : *maps)
                if (one.executable && one.device == mapping.device && one.inode == mapping.inode)
                    code_.push_back(one);
        }
        ASSERT_TRUE(found);
    }

    ReadMemory reader() const {
        return [pid = pid_](uint64_t address, void* bytes, size_t size) {
            // Not read_process_memory(), which waits for so long only: a busy machine is no hostile
            // owner.
            const iovec here{bytes, size}, there{reinterpret_cast<void*>(address), size};
            return process_vm_readv(pid, &here, 1, &there, 1, 0) == static_cast<ssize_t>(size)
                       ? MemoryRead::whole
                       : MemoryRead::unreadable;
        };
    }
    template <typename Number = uint64_t>
    std::optional<Number> number(uint64_t address) const {
        Number number{};
        return reader()(address, &number, sizeof number) == MemoryRead::whole
                   ? std::optional(number)
                   : std::nullopt;
    }
    static bool is_pointer(uint64_t word) { return (word & WIRE_V8_TAG_MASK) == WIRE_V8_TAG; }
    bool has_type(uint64_t pointer, uint32_t type) const {
        const auto map = is_pointer(pointer) ? number(pointer - WIRE_V8_TAG) : std::nullopt;
        return map && is_pointer(*map) &&
               number<uint16_t>(*map - WIRE_V8_TAG + layout_.walk.map_type) == type;
    }

    bool is_in_file(uint64_t code) const {
        return std::any_of(code_.begin(), code_.end(),
                           [&](const Mapping& one) { return code >= one.start && code < one.end; });
    }

    // As bpf/v8_frames.h does it: what is interpreted executes code of node's own, and not every
    // frame of compiled code has overwritten what the interpreter had in it. Nothing: it is no
    // function's frame.
    std::optional<SeenFrame> look_at(uint64_t frame, uint64_t code) const {
        const wire_v8& at = layout_.walk;
        const uint64_t context = number(frame - at.frame_context).value_or(0);
        const uint64_t function = number(frame - at.frame_function).value_or(0);
        const uint64_t bytecode = number(frame - at.frame_bytecode).value_or(0);
        const uint64_t offset = number(frame - at.frame_offset).value_or(0);
        if (!is_pointer(context) || !is_pointer(function))
            return std::nullopt;
        const uint64_t shared = number(function - WIRE_V8_TAG + at.function_shared).value_or(0);
        if (!has_type(shared, at.shared_type))
            return std::nullopt;
        const auto word = [&](uint32_t from) { return *number(shared - WIRE_V8_TAG + from); };
        if (!is_pointer(word(at.shared_data)))
            return std::nullopt;
        SeenFrame seen;
        const uint32_t cookie = wire_v8_cookie(word(at.shared_name), word(at.shared_script),
                                               static_cast<uint32_t>(word(at.shared_literal)),
                                               static_cast<uint32_t>(word(at.shared_unique)));
        const bool interpreted = !static_cast<uint32_t>(offset) && is_in_file(code) &&
                                 has_type(bytecode, at.bytecode_type);
        const uint64_t second =
            (interpreted ? offset >> 32 : uint64_t{WIRE_V8_COMPILED}) << 32 | cookie;
        const auto answer = read_v8_function(reader(), layout_, shared, second);
        if (!std::holds_alternative<V8Function>(answer))
            return std::nullopt;
        seen.function = std::get<V8Function>(answer);
        if (!seen.function.script)
            return seen;
        const auto lines = read_v8_lines(reader(), layout_, *seen.function.script);
        if (!std::holds_alternative<V8Lines>(lines))
            return seen;
        const auto place = [&](std::optional<uint32_t> position) {
            return position ? v8_place(std::get<V8Lines>(lines), *position) : V8Place();
        };
        seen.place = place(seen.function.position);
        seen.begin = place(seen.function.begin);
        return seen;
    }
    // Where node was built without frame pointers there are none between V8's and the C library's.
    // What is left of earlier calls has no such chain of callers.
    uint64_t first_frame() const {
        constexpr uint64_t most = 64 << 10;
        if (frame_pointer_ > stack_pointer_ && frame_pointer_ - stack_pointer_ < most)
            return frame_pointer_;
        for (uint64_t at = stack_pointer_; at < stack_pointer_ + most; at += sizeof at)
            if (number(at).value_or(0) > at && look_at(at, 0) &&
                look_from(at).size() >= sites_.size())
                return at;
        return 0;
    }
    std::vector<SeenFrame> look_from(uint64_t frame) const {
        std::vector<SeenFrame> seen;
        uint64_t code = 0; // of the first one, which is node's own, it is not known
        for (size_t count = 0; frame && count < 1000; count++) {
            if (auto one = look_at(frame, code))
                seen.push_back(std::move(*one));
            const uint64_t next = number(frame).value_or(0);
            code = number(frame + sizeof frame).value_or(0);
            frame = next > frame ? next : 0;
        }
        return seen;
    }

    pid_t pid_ = -1;
    UniqueFd input_;
    uint64_t frame_pointer_ = 0, stack_pointer_ = 0;
    std::vector<Mapping> code_; // of the file with V8 in it
    std::vector<TrueSite> sites_;
    V8Layout layout_{};
};

TEST_P(V8Truth, FunctionsAndLinesOfTheStack) {
    ASSERT_GE(sites_.size(), 18u);
    const auto seen = look_from(first_frame());
    // In node's own functions, it reads.
    ASSERT_GT(seen.size(), sites_.size());
    const size_t inner = seen.size() - sites_.size();
    EXPECT_LE(inner, 2u);
    for (size_t i = 0; i < inner; i++)
        EXPECT_EQ(seen[i].function.file, "node:fs") << i;
    size_t modules = 0, anonymous = 0, exact = 0;
    for (size_t i = 0; i < sites_.size(); i++) {
        const V8Function& function = seen[inner + i].function;
        const TrueSite& truth = sites_[i];
        EXPECT_EQ(function.name, truth.name) << i << " " << truth.file << ":" << truth.line;
        EXPECT_EQ(function.file, truth.file) << i << " " << truth.name;
        // Where its parameters are; V8 tells where the word `function` is, which stands before.
        EXPECT_EQ(seen[inner + i].begin.line, truth.begin.line) << i << " " << truth.name;
        EXPECT_GE(seen[inner + i].begin.column, truth.begin.column) << i << " " << truth.name;
        // What loops may be compiled by now: the file itself.
        if (seen[inner + i].place.line) {
            exact++;
            EXPECT_EQ(seen[inner + i].place.line, truth.line) << i << " " << truth.name;
        }
        anonymous += truth.name.empty();
        modules += function.begin == 0u && function.end >= function.script->length;
    }
    EXPECT_GE(modules, 1u); // the file itself
    EXPECT_GE(anonymous, 3u);
    EXPECT_GE(exact, GetParam().empty() ? sites_.size() - 2 : 0);
}

TEST_P(V8Truth, AFunctionThatIsNotTheOneSampledIsGone) {
    const wire_v8& at = layout_.walk;
    for (uint64_t frame = first_frame(); frame; frame = number(frame).value_or(0)) {
        const uint64_t function = number(frame - at.frame_function).value_or(0);
        const uint64_t shared =
            is_pointer(function) ? number(function - WIRE_V8_TAG + at.function_shared).value_or(0)
                                 : 0;
        if (!has_type(shared, at.shared_type))
            continue;
        const auto answer = read_v8_function(reader(), layout_, shared, 1);
        ASSERT_TRUE(std::holds_alternative<FunctionProblem>(answer));
        EXPECT_EQ(std::get<FunctionProblem>(answer), FunctionProblem::gone);
        return;
    }
    FAIL() << "no function's frame";
}

INSTANTIATE_TEST_SUITE_P(Code, V8Truth,
                         testing::Values(std::vector<std::string>{},
                                         std::vector<std::string>{"--always-sparkplug"}),
                         [](const auto& info) {
                             return info.param.empty() ? "AsItComes" : "Compiled";
                         });

} // namespace
} // namespace auger
