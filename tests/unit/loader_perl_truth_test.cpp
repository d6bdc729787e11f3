// SPDX-License-Identifier: GPL-3.0-or-later
// A real Perl's contexts, subs and statements, read from outside as a walk does it
// (bpf/perl.bpf.c), and what caller() says of them. Debian's is asked; another one:
// AUGER_PERL=/path/to/perl unit_loader --gtest_filter='PerlTruth.*', which may be a script that
// starts it.
#include "bpf/unwind_table.h"
#include "loader/process/proc_maps.h"
#include "loader/reader/elf/elf_file.h"
#include "loader/reader/runtimes/read_perl.h"
#include "loader/runtimes/perl/frame_reader.h"
#include "loader/runtimes/perl/layout.h"
#include "tests/unit/asked_program.h"
#include "tests/unit/perl_marks.h"

#include <gtest/gtest.h>

#include <sys/ptrace.h>
#include <sys/user.h>

#include <cstdlib>
#include <sstream>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace auger {

static void PrintTo(const PerlFrame& frame, std::ostream* to) {
    *to << frame.name << ' ' << frame.file << ':' << frame.line;
}

namespace {

class PerlTruth : public testing::Test {
  protected:
    void SetUp() override {
        const char* const other = std::getenv("AUGER_PERL");
        const char* const perl = other ? other : "/usr/bin/perl";
        if (access(perl, X_OK) != 0)
            GTEST_SKIP() << perl << " is not installed";
        ASSERT_TRUE(program_.start({perl, AUGER_SOURCE_DIR "/tests/unit/fixtures/perl_truth.pl"},
                                   [&](const std::string& line) { understand(line); }));
        find_key();
        find_interpreter();
    }

    void understand(const std::string& line) {
        std::istringstream words(line);
        std::string kind, name, file;
        uint32_t at = 0;
        words >> kind >> name >> file >> at;
        if (kind == "frame")
            frames_.push_back({text_of_hex(name), text_of_hex(file), at});
    }

    void find_key() {
        const auto maps = read_maps(program_.pid());
        ASSERT_TRUE(maps.ok());
        for (const Mapping& mapping : *maps) {
            if (mapping.inode == 0 || !mapping.executable || key_)
                continue;
            auto fd = open_mapped_file(program_.pid(), mapping);
            if (!fd.ok())
                continue;
            const auto file = ElfFile::open(std::move(*fd), mapping.path);
            const auto perl = file.ok() ? read_perl(**file) : std::nullopt;
            if (!perl)
                continue;
            const auto linked = (*file)->address_of_offset(mapping.offset);
            ASSERT_TRUE(linked);
            key_ = perl->key + mapping.start - *linked;
            const auto layout = perl_layout(*perl);
            ASSERT_TRUE(layout.ok()) << layout.error().message();
            layout_ = layout->walk;
            ops_ = layout->ops;
            size_t named = 0; // as symbols tell of its code
            for (const ElfFunction& function : (*file)->functions())
                for (const auto& [name, code] : {std::pair{"Perl_runops_standard", perl->loop},
                                                 {"perl_run", perl->run},
                                                 {"Perl_call_sv", perl->calls[0]},
                                                 {"Perl_eval_sv", perl->calls[1]},
                                                 {"Perl_amagic_call", perl->calls[2]}})
                    if (function.name == name) {
                        EXPECT_EQ(function.address, code.body);
                        EXPECT_EQ(function.size, code.body_size);
                        named++;
                    }
            EXPECT_EQ(named, 5u);
        }
        ASSERT_TRUE(key_);
    }

    // In glibc's memory of its one thread.
    void find_interpreter() {
        const pid_t pid = program_.pid();
        ASSERT_EQ(ptrace(PTRACE_ATTACH, pid, nullptr, nullptr), 0);
        ASSERT_EQ(waitpid(pid, nullptr, 0), pid);
        user_regs_struct registers{};
        ASSERT_EQ(ptrace(PTRACE_GETREGS, pid, nullptr, &registers), 0);
        ASSERT_EQ(ptrace(PTRACE_DETACH, pid, nullptr, nullptr), 0);
        const auto key = program_.number<uint32_t>(key_);
        ASSERT_LT(key, 32u);
        interpreter_ = word(registers.fs_base + 0x310 + 16 * key + 8);
        ASSERT_TRUE(interpreter_);
    }

    uint64_t word(uint64_t address) const { return program_.word(address); }
    uint64_t mark_of_name(uint64_t name) const {
        return perl_name_mark(word(name), text(name + WIRE_PERL_NAME_CHARACTERS));
    }
    uint32_t half(uint64_t address) const { return program_.number<uint32_t>(address); }
    std::string text(uint64_t address) const {
        std::string text;
        for (char letter; (letter = program_.number<char>(address + text.size()));)
            text.push_back(letter);
        return text;
    }

    // Of a package, the address of its name.
    uint64_t package_name(uint64_t stash) const {
        const uint64_t body = word(stash);
        const uint64_t aux = layout_.aux_in_body ? body + WIRE_PERL_STASH_BODY
                                                 : word(stash + WIRE_PERL_VALUE_MORE) +
                                                       8 * (word(body + WIRE_PERL_STASH_MOST) + 1);
        EXPECT_EQ(half(stash + WIRE_PERL_VALUE_FLAGS) & 0xff, WIRE_PERL_PACKAGE);
        EXPECT_TRUE(half(stash + WIRE_PERL_VALUE_FLAGS) & WIRE_PERL_HAS_AUX);
        const uint64_t name = word(aux + WIRE_PERL_AUX_NAME);
        return half(aux + WIRE_PERL_AUX_NAMES) ? word(name) : name;
    }

    // Of a frame at the statement at hand.
    PerlFrame frame(wire_perl_frame kind, uint64_t sub = 0) {
        uint64_t name = 0, package = 0;
        if (sub) {
            const uint64_t body = word(sub), flags = half(body + WIRE_PERL_SUB_FLAGS);
            EXPECT_EQ(half(sub + WIRE_PERL_VALUE_FLAGS) & 0xff, WIRE_PERL_SUB);
            uint64_t stash = word(body + WIRE_PERL_SUB_STASH);
            name = word(body + WIRE_PERL_SUB_NAME);
            if (!(flags & WIRE_PERL_NAMED)) {
                EXPECT_EQ(half(name + WIRE_PERL_VALUE_FLAGS) & 0xff, WIRE_PERL_GLOB);
                const uint64_t glob = word(word(name + WIRE_PERL_VALUE_MORE) + WIRE_PERL_GP_GLOB);
                const uint64_t of_glob = word(glob ? glob : name);
                name = word(of_glob + WIRE_PERL_GLOB_NAME);
                stash = word(of_glob + WIRE_PERL_GLOB_STASH);
            }
            package = flags & WIRE_PERL_LEXICAL ? 0 : package_name(stash);
        }
        const uint32_t cookie = wire_perl_cookie(
            name ? mark_of_name(name) : 0, package ? mark_of_name(package) : 0,
            perl_file_mark(text(word(cop_ + WIRE_PERL_COP_FILE))), half(cop_ + WIRE_PERL_COP_LINE));
        const PerlFrameWords words = {WIRE_FRAME_PERL | (name ? name : uint64_t{WIRE_PERL_NONE}),
                                      package | uint64_t{kind} << WIRE_PERL_FRAME_SHIFT,
                                      WIRE_FRAME_PERL_COP | cop_,
                                      uint64_t{wire_perl_way(cop_, op_, is_next_)} << 32 | cookie};
        const auto answer =
            read_perl_frame([this](uint64_t from, void* bytes,
                                   size_t size) { return program_.read(from, bytes, size); },
                            ops_, words);
        const auto* const whole = std::get_if<PerlFrame>(&answer);
        return whole ? *whole : PerlFrame{"(not read)", {}, 0};
    }

    void see_context(uint64_t context, uint32_t at, uint32_t stack_type, uint8_t outermost) {
        const auto type = program_.number<uint8_t>(context);
        const uint64_t next = word(context + WIRE_PERL_CONTEXT_NEXT);
        const bool is_own =
            stack_type == WIRE_PERL_STACK_SORT || stack_type == WIRE_PERL_STACK_MULTICALL;
        const bool is_fake = type & WIRE_PERL_SUB_FAKE;
        switch (type & WIRE_PERL_CONTEXT_KIND) {
        case WIRE_PERL_IN_SUB: {
            const bool in_block = (outermost & WIRE_PERL_CONTEXT_KIND) == WIRE_PERL_IN_BLOCK ||
                                  outermost & (WIRE_PERL_SUB_RE | WIRE_PERL_SUB_FAKE);
            if (!is_fake)
                seen_.push_back(frame(WIRE_PERL_FRAME_SUB, word(context + layout_.context_sub)));
            pieces_ += !next && (!is_own || at > (in_block ? 1 : 0));
            break;
        }
        case WIRE_PERL_IN_EVAL:
            seen_.push_back(frame(type & (WIRE_PERL_EVAL_TEXT | WIRE_PERL_EVAL_BLOCK)
                                      ? WIRE_PERL_FRAME_EVAL
                                      : WIRE_PERL_FRAME_REQUIRE));
            break;
        default:
            return;
        }
        if (is_fake)
            return;
        cop_ = word(context + WIRE_PERL_CONTEXT_COP);
        op_ = next;
        is_next_ = true;
    }

    void see_frames() {
        cop_ = word(interpreter_ + layout_.interpreter_cop);
        op_ = word(interpreter_ + WIRE_PERL_INTERPRETER_OP);
        for (uint64_t stack = word(interpreter_ + layout_.interpreter_stack); stack;
             stack = word(stack + WIRE_PERL_STACK_PREVIOUS)) {
            const uint64_t contexts = word(stack + WIRE_PERL_STACK_CONTEXTS);
            const uint32_t type = half(stack + layout_.stack_type);
            const uint32_t left = half(stack + WIRE_PERL_STACK_INDEX) + 1;
            ASSERT_LT(left, 100u);
            if (layout_.stack_sub) {
                EXPECT_LE(half(stack + layout_.stack_sub) + 1, left);
            }
            for (uint32_t at = left; at-- > 0;)
                see_context(contexts + uint64_t{at} * layout_.context_bytes, at, type,
                            program_.number<uint8_t>(contexts));
            pieces_ += type == WIRE_PERL_STACK_SORT || type == WIRE_PERL_STACK_MULTICALL;
            if (type != WIRE_PERL_STACK_MAIN)
                continue;
            seen_.push_back(frame(WIRE_PERL_FRAME_MAIN));
            pieces_++;
            return;
        }
        FAIL() << "it has no main stack of contexts";
    }

    AskedProgram program_;
    std::vector<PerlFrame> frames_; // innermost first, as it has told
    uint64_t key_ = 0;              // where PL_thr_key is in the process
    uint64_t interpreter_ = 0;
    wire_perl_layout layout_{};
    PerlOps ops_{};
    uint64_t cop_ = 0, op_ = 0; // the statement of the frame at hand, and the op
    bool is_next_ = false;      // the op behind that
    std::vector<PerlFrame> seen_;
    size_t pieces_ = 0;
};

TEST_F(PerlTruth, FramesInTheirOrder) {
    see_frames();
    ASSERT_EQ(seen_.size(), frames_.size());
    for (size_t i = 0; i < frames_.size(); i++)
        EXPECT_EQ(seen_[i], frames_[i]) << i;
    EXPECT_GT(frames_.size(), 20u);
    // The handler of a signal, DESTROY, code in a regular expression, first(), FETCH, what is
    // added, sort, the program.
    EXPECT_EQ(pieces_, 8u);
}

} // namespace
} // namespace auger
