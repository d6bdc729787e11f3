// SPDX-License-Identifier: GPL-3.0-or-later
// A real Ruby's frames and functions, read from outside, and what it says of them itself. Debian's
// is asked; another one: AUGER_RUBY=/path/to/ruby3.3 unit_loader --gtest_filter='RubyTruth.*',
// which may be a script that starts it.
#include "bpf/unwind_table.h"
#include "loader/process/proc_maps.h"
#include "loader/reader/elf/elf_file.h"
#include "loader/reader/runtimes/read_ruby.h"
#include "loader/runtimes/ruby/function_reader.h"
#include "loader/runtimes/ruby/layout.h"
#include "loader/values/thread_place.h"
#include "tests/unit/asked_program.h"

#include <gtest/gtest.h>

#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace auger {
namespace {

struct RubyFrame {
    std::string name, file;
    uint32_t line = 0;
    friend bool operator==(const RubyFrame&, const RubyFrame&) = default;
};
void PrintTo(const RubyFrame& frame, std::ostream* to) {
    *to << frame.name << ' ' << frame.file << ':' << frame.line;
}

class RubyTruth : public testing::Test {
  protected:
    void SetUp() override {
        const char* const other = std::getenv("AUGER_RUBY");
        const char* const ruby = other ? other : "/usr/bin/ruby3.1";
        if (access(ruby, X_OK) != 0)
            GTEST_SKIP() << ruby << " is not installed";
        ASSERT_TRUE(program_.start({ruby, AUGER_SOURCE_DIR "/tests/unit/fixtures/ruby_truth.rb"},
                                   [this](const std::string& line) { understand(line); }));
        find_thread();
        find_ruby();
    }

    void understand(const std::string& line) {
        std::istringstream words(line);
        std::string kind, name, file;
        uint32_t at = 0;
        words >> kind >> name >> file >> at;
        if (kind == "frame")
            frames_.push_back({text_of_hex(name), text_of_hex(file), at});
    }
    void find_thread() {
        const pid_t pid = program_.pid();
        user_regs_struct registers{};
        ASSERT_EQ(ptrace(PTRACE_ATTACH, pid, nullptr, nullptr), 0);
        ASSERT_EQ(waitpid(pid, nullptr, 0), pid);
        ASSERT_EQ(ptrace(PTRACE_GETREGS, pid, nullptr, &registers), 0);
        ASSERT_EQ(ptrace(PTRACE_DETACH, pid, nullptr, nullptr), 0);
        thread_ = registers.fs_base;
    }

    void find_ruby() {
        const pid_t pid = program_.pid();
        const auto maps = read_maps(pid);
        ASSERT_TRUE(maps.ok());
        const std::filesystem::path program =
            std::filesystem::read_symlink("/proc/" + std::to_string(pid) + "/exe");
        for (const Mapping& mapping : *maps) {
            if (mapping.inode == 0 || !mapping.executable || context_)
                continue;
            auto fd = open_mapped_file(pid, mapping);
            if (!fd.ok())
                continue;
            const auto file = ElfFile::open(std::move(*fd), mapping.path);
            const auto ruby = file.ok() ? read_ruby(**file) : std::nullopt;
            if (!ruby)
                continue;
            const auto linked = (*file)->address_of_offset(mapping.offset);
            ASSERT_TRUE(linked);
            const uint64_t bias = mapping.start - *linked;
            const auto layout = ruby_layout(*ruby);
            ASSERT_TRUE(layout.ok()) << layout.error().message();
            process_ = {*layout, ruby->symbols + bias, ruby->loop};
            file_ = *ruby;
            const auto place =
                thread_place(*ruby->context, mapping.path == program, true, bias,
                             [this](uint64_t address) { return std::optional(word(address)); });
            ASSERT_TRUE(place.ok() && *place);
            ASSERT_NO_FATAL_FAILURE(find_context(**place));
            for (const ElfFunction& function : (*file)->functions())
                if (function.name == "rb_vm_exec") {
                    EXPECT_EQ(function.address, ruby->loop.body);
                    EXPECT_EQ(function.size, ruby->loop.body_size);
                }
        }
        ASSERT_TRUE(context_);
    }
    // As a walk does it (bpf/thread_variable.h).
    void find_context(const wire_thread_place& place) {
        uint64_t variable = thread_ + static_cast<uint64_t>(place.offset);
        if (place.way == WIRE_THREAD_DYNAMIC) {
            const uint64_t vector = word(thread_ + 8);
            ASSERT_LE(place.module, word(vector - 16));
            variable =
                word(vector + 16 * uint64_t{place.module}) + static_cast<uint64_t>(place.offset);
        }
        context_ = word(variable);
    }

    uint64_t word(uint64_t address) const { return program_.word(address); }

    // As a walk does it (bpf/ruby.bpf.c).
    uint64_t method_of(uint64_t environment) const {
        for (int hops = 0; hops < WIRE_RUBY_MOST_HOPS; hops++) {
            const bool is_local = word(environment) & WIRE_RUBY_LOCAL;
            uint64_t object = word(environment - 16);
            if (object && is_local && kind_of(object) == WIRE_RUBY_SVAR)
                object = word(object + WIRE_RUBY_SVAR_METHOD);
            if (object && kind_of(object) == WIRE_RUBY_METHOD_ENTRY)
                return object;
            if (is_local)
                return 0;
            environment = word(environment - 8) & ~uint64_t{3};
        }
        return 0;
    }
    uint64_t kind_of(uint64_t object) const { return word(object) & WIRE_RUBY_OBJECT_MASK; }
    uint32_t cookie_of_method(uint64_t method) const {
        return wire_ruby_method_cookie(word(method + WIRE_RUBY_METHOD_DEFINITION),
                                       word(method + WIRE_RUBY_METHOD_NAME),
                                       word(method + WIRE_RUBY_METHOD_OWNER));
    }
    RubyFrameWords words_of_code(uint64_t frame, uint64_t method, bool is_method) const {
        const uint64_t body = word(word(frame + WIRE_RUBY_FRAME_ISEQ) + WIRE_RUBY_ISEQ_BODY);
        std::array<uint64_t, WIRE_RUBY_BODY_BYTES / 8> bytes{};
        EXPECT_EQ(program_.read(body, bytes.data(), sizeof bytes), MemoryRead::whole);
        const uint64_t offset =
            (word(frame + WIRE_RUBY_FRAME_PC) - bytes[WIRE_RUBY_BODY_INSTRUCTIONS / 8]) / 8;
        EXPECT_LE(offset, bytes[0] >> 32);
        const uint32_t cookie = wire_ruby_code_cookie(bytes.data());
        if (is_method)
            return {WIRE_FRAME_RUBY_METHOD | method,
                    offset << 32 | wire_ruby_frame_cookie(cookie_of_method(method), cookie)};
        RubyFrameWords words{WIRE_FRAME_RUBY | body, offset << 32 | cookie};
        if (method) {
            words.owner = WIRE_FRAME_RUBY_OWNER | method;
            words.owner_second = cookie_of_method(method);
        }
        return words;
    }
    // Innermost first; those that begin a run of the loop are counted.
    std::vector<RubyFrameWords> chain(size_t& runs) const {
        std::vector<RubyFrameWords> words;
        const uint64_t end =
            word(context_ + WIRE_RUBY_CONTEXT_STACK) + 8 * word(context_ + WIRE_RUBY_CONTEXT_SIZE);
        for (uint64_t frame = word(context_ + WIRE_RUBY_CONTEXT_FRAME); frame < end;
             frame += process_.layout.frames.frame_bytes) {
            const uint64_t environment = word(frame + WIRE_RUBY_FRAME_EP);
            const uint64_t flags = word(environment), kind = flags & WIRE_RUBY_FRAME_MASK;
            if (kind == WIRE_RUBY_DUMMY_FRAME)
                continue;
            const uint64_t method = method_of(environment);
            if (kind == WIRE_RUBY_C_FRAME)
                words.push_back({WIRE_FRAME_RUBY_METHOD | method,
                                 uint64_t{WIRE_RUBY_NO_OFFSET} << 32 | cookie_of_method(method)});
            else if (word(frame + WIRE_RUBY_FRAME_ISEQ) && word(frame + WIRE_RUBY_FRAME_PC))
                words.push_back(
                    words_of_code(frame, method, kind == WIRE_RUBY_METHOD_FRAME && method));
            runs += (flags & WIRE_RUBY_FINISH) != 0;
        }
        return words;
    }
    RubyFrame frame_of(RubyFrameWords words) const {
        const auto position = static_cast<uint32_t>(words.second >> 32);
        words.second = static_cast<uint32_t>(words.second);
        const auto answer =
            read_ruby_function([this](uint64_t from, void* bytes,
                                      size_t size) { return program_.read(from, bytes, size); },
                               process_, words);
        if (const auto* const problem = std::get_if<FunctionProblem>(&answer))
            return {*problem == FunctionProblem::gone ? "(gone)" : "(not read)", {}, 0};
        const RubyFunction& function = std::get<RubyFunction>(answer);
        return {function.name, function.file, function.line(position)};
    }
    void expect_own_chain(const std::vector<RubyFrameWords>& words) {
        // It has gone on to gets(), in say().
        ASSERT_EQ(words.size(), frames_.size() + 2);
        EXPECT_EQ(frame_of(words[0]), (RubyFrame{"IO#gets", "", 0}));
        EXPECT_EQ(frame_of(words[1]).name, "Truth.say");
        // Where await() calls, caller_locations() or say(), differs in the line only.
        EXPECT_EQ(frame_of(words[2]).name, frames_[0].name);
        EXPECT_EQ(frame_of(words[2]).file, frames_[0].file);
        for (size_t i = 1; i < frames_.size(); i++)
            EXPECT_EQ(frame_of(words[i + 2]), frames_[i]) << i;
    }

    AskedProgram program_;
    std::vector<RubyFrame> frames_; // innermost first: of await(), and on
    uint64_t thread_ = 0;           // its thread pointer
    uint64_t context_ = 0;          // in the process
    RubyProcess process_;
    RubyFile file_;
};

TEST_F(RubyTruth, FramesInTheirOrder) {
    size_t runs = 0;
    const auto words = chain(runs);
    EXPECT_GE(frames_.size(), 18u);
    expect_own_chain(words);
    // The program; the blocks of each, map and times (since 3.3 that is no C function), what eval()
    // and instance_exec() run.
    EXPECT_EQ(runs, process_.layout.frames.version < 0x0303 ? 6u : 5u);
    // Blocks have their methods with them.
    EXPECT_TRUE(std::ranges::any_of(words, [](const RubyFrameWords& one) { return one.owner; }));
}

// ... have their names again, and what was noted before has none or its own.
TEST_F(RubyTruth, ObjectsThatHaveMoved) {
    size_t runs = 0;
    const auto before = chain(runs);
    std::vector<RubyFrame> frames;
    for (const RubyFrameWords& one : before)
        frames.push_back(frame_of(one));
    ASSERT_TRUE(
        program_.answer("compact\n", [this](const std::string& line) { understand(line); }));
    const auto after = chain(runs);
    expect_own_chain(after);
    for (size_t i = 0; i < before.size(); i++)
        if (const RubyFrame now = frame_of(before[i]); now.name != "(gone)") {
            EXPECT_EQ(now, frames[i]) << i;
        }
}

TEST_F(RubyTruth, TheLoopIsOneFunction) {
    EXPECT_GT(file_.loop.body_size, 500u);
    EXPECT_LT(file_.loop.body_size, 20'000u);
    EXPECT_TRUE(file_.loop.cold_size == 0 ||
                file_.loop.cold + file_.loop.cold_size <= file_.loop.body ||
                file_.loop.cold >= file_.loop.body + file_.loop.body_size);
    EXPECT_LT(file_.loop.cold_size, file_.loop.body_size);
}

// Debian ships a header of its own build, for Ruby's compiler (MJIT): libruby3.1's structures as
// another program says them.
TEST(RubyOffsets, AreThoseOfDebiansHeader) {
    const std::string folder = "/usr/include/x86_64-linux-gnu/ruby-3.1.0";
    if (access((folder + "/rb_mjit_min_header-3.1.2.h").c_str(), R_OK) != 0)
        GTEST_SKIP() << "ruby3.1-dev is not installed";
    const std::string command = "cc -w -O1 -S -o - -I" + folder +
                                " -I/usr/include/ruby-3.1.0 " AUGER_SOURCE_DIR
                                "/tests/unit/fixtures/ruby_offsets.c";
    FILE* const said = popen(command.c_str(), "r");
    ASSERT_TRUE(said);
    std::map<std::string, uint64_t> offsets;
    char line[1024];
    while (fgets(line, sizeof line, said)) {
        std::istringstream words(line);
        std::string mark, name;
        uint64_t number = 0;
        if (words >> mark >> name >> number && mark == "#OFFSET")
            offsets[name] = number;
    }
    ASSERT_EQ(pclose(said), 0);
    RubyFile file;
    file.version = 0x030102;
    file.context = ThreadVariable{};
    file.loop.body_size = file.symbols = 1;
    const auto layout = ruby_layout(file);
    ASSERT_TRUE(layout.ok());
    const RubyObjects& objects = layout->objects;
    const std::map<std::string, uint64_t> known = {
        {"context_stack", WIRE_RUBY_CONTEXT_STACK},
        {"context_size", WIRE_RUBY_CONTEXT_SIZE},
        {"context_frame", WIRE_RUBY_CONTEXT_FRAME},
        {"context_machine", layout->frames.context_machine},
        {"context_machine_size", layout->frames.context_machine + 16},
        {"frame_pc", WIRE_RUBY_FRAME_PC},
        {"frame_iseq", WIRE_RUBY_FRAME_ISEQ},
        {"frame_ep", WIRE_RUBY_FRAME_EP},
        {"frame_bytes", layout->frames.frame_bytes},
        {"iseq_body", WIRE_RUBY_ISEQ_BODY},
        {"body_kind", WIRE_RUBY_BODY_KIND},
        {"body_size", WIRE_RUBY_BODY_SIZE},
        {"body_instructions", WIRE_RUBY_BODY_INSTRUCTIONS},
        {"body_path", WIRE_RUBY_BODY_PATH},
        {"body_name", WIRE_RUBY_BODY_NAME},
        {"body_label", WIRE_RUBY_BODY_LABEL},
        {"body_line", WIRE_RUBY_BODY_LINE},
        {"body_lines", objects.body_lines},
        {"body_line_count", objects.body_line_count},
        {"body_line_index", objects.body_line_index},
        {"body_outermost", objects.body_outermost},
        {"method_definition", WIRE_RUBY_METHOD_DEFINITION},
        {"method_name", WIRE_RUBY_METHOD_NAME},
        {"method_owner", WIRE_RUBY_METHOD_OWNER},
        {"definition_code", 8},
        {"definition_name", 32},
        {"class_extension", 24},
        {"extension_variables", 8},
        {"table_begin", 32},
        {"table_end", 40},
        {"table_entries", 48},
        {"flag_finish", WIRE_RUBY_FINISH},
        {"flag_local", WIRE_RUBY_LOCAL},
        {"frame_mask", WIRE_RUBY_FRAME_MASK},
        {"method_frame", WIRE_RUBY_METHOD_FRAME},
        {"c_frame", WIRE_RUBY_C_FRAME},
        {"ifunc_frame", WIRE_RUBY_IFUNC_FRAME},
        {"dummy_frame", WIRE_RUBY_DUMMY_FRAME},
        {"svar", WIRE_RUBY_SVAR},
        {"method_entry", WIRE_RUBY_METHOD_ENTRY},
        {"method_code", WIRE_RUBY_METHOD_CODE},
        {"class_singleton", objects.class_singleton},
    };
    EXPECT_EQ(offsets, known);
}

} // namespace
} // namespace auger
