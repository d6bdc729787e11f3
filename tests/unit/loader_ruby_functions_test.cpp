// SPDX-License-Identifier: GPL-3.0-or-later
// Ruby's functions as hostile processes claim them.
#include "bpf/unwind_table.h"
#include "loader/runtimes/ruby/function_reader.h"
#include "loader/runtimes/ruby/layout.h"

#include "tests/unit/fake_memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <tuple>
#include <variant>
#include <vector>

namespace auger {
namespace {

using testing::ElementsAre;

RubyLayout layout_of(uint32_t version) {
    RubyFile file;
    file.version = version;
    file.context = ThreadVariable{};
    file.loop.body_size = file.symbols = 1;
    return *ruby_layout(file);
}

// A process's memory with one method, "total" of Orders, its code, and a C function of it.
class RubyFunctionOf : public testing::Test {
  protected:
    static constexpr uint64_t method = 0x10000, definition = 0x20000, iseq = 0x30000,
                              body = 0x40000, owner = 0x50000, extension = 0x58000,
                              variables = 0x59000, entries = 0x5a000, symbols = 0x60000,
                              ids = 0x61000, id_part = 0x62000, id_words = 0x63000, lines = 0x70000,
                              index = 0x71000, outermost = 0x78000, label = 0x80000, name = 0x81000,
                              path = 0x82000, real_path = 0x83000, class_name = 0x84000,
                              text_id = 0x85000, class_id = 0x86000, attached_id = 0x87000,
                              metaclass = 0x88000, other_extension = 0x89000,
                              other_variables = 0x8a000, other_entries = 0x8b000;
    // IDs: of no operator they are numbers and kinds.
    static constexpr uint64_t id_of_text = 300 << 4 | 4, id_of_class = 301 << 4 | 1,
                              id_of_attached = 302 << 4 | 1;
    RubyProcess process;
    FakeMemory memory;
    const ReadMemory read_memory = [this](uint64_t address, void* bytes, size_t size) {
        return memory.read(address, bytes, size);
    };

    RubyFunctionOf() {
        process.layout = layout_of(0x030102);
        process.symbols = symbols;
        memory.put(method, 0, uint64_t{WIRE_RUBY_METHOD_ENTRY});
        memory.put(method, WIRE_RUBY_METHOD_DEFINITION, definition);
        memory.put(method, WIRE_RUBY_METHOD_NAME, id_of_text);
        memory.put(method, WIRE_RUBY_METHOD_OWNER, owner);
        memory.put(definition, 0, uint64_t{0});
        memory.put(definition, 8, iseq);
        memory.put(definition, 32, id_of_text);
        memory.put(iseq, WIRE_RUBY_ISEQ_BODY, body);
        memory.put(body, WIRE_RUBY_BODY_KIND, uint32_t{WIRE_RUBY_METHOD_CODE});
        memory.put(body, WIRE_RUBY_BODY_SIZE, uint32_t{20});
        memory.put(body, WIRE_RUBY_BODY_INSTRUCTIONS, uint64_t{0x99000});
        memory.put(body, WIRE_RUBY_BODY_PATH, path);
        memory.put(body, WIRE_RUBY_BODY_NAME, name);
        memory.put(body, WIRE_RUBY_BODY_LABEL, label);
        memory.put(body, WIRE_RUBY_BODY_LINE, uint64_t{7 << 1 | 1});
        memory.put(body, process.layout.objects.body_lines, lines);
        memory.put(body, process.layout.objects.body_line_count, uint32_t{3});
        memory.put(body, process.layout.objects.body_line_index, index);
        memory.put(body, process.layout.objects.body_outermost, iseq);
        put_lines({{0, 8}, {5, 9}, {12, 11}}, 20);
        put_class(owner, 2, extension, variables, entries, id_of_class, class_name);
        text(label, "total");
        text(name, "total");
        text(real_path, "/srv/shop/orders.rb");
        array(path, {8, real_path}); // nil, and a text
        text(class_name, "Shop::Orders");
        put_symbols();
    }

    // Texts and arrays as 3.1 has them, short ones in the object.
    void text(uint64_t at, std::string_view characters) {
        memory.pieces.erase(at);
        memory.put(at, 0, uint64_t{5 | 1 << 13}); // on the heap
        memory.put(at, 16, uint64_t{characters.size()});
        memory.put(at, 24, at + 64);
        for (size_t i = 0; i < characters.size(); i++)
            memory.put(at, 64 + i, characters[i]);
        page(at);
    }
    void array(uint64_t at, const std::vector<uint64_t>& values) {
        memory.pieces.erase(at);
        memory.put(at, 0, uint64_t{7 | 1 << 13 | values.size() << 15});
        for (size_t i = 0; i < values.size(); i++)
            memory.put(at, 16 + 8 * i, values[i]);
        page(at);
    }
    // Memory is read by pages.
    void page(uint64_t at) { memory.pieces[at].resize(4096); }
    void put_symbols() {
        memory.put(symbols, 16, ids);
        memory.put(ids, 0, uint64_t{7});
        memory.put(ids, 16, uint64_t{1});
        memory.put(ids, 32, id_words);
        memory.put(id_words, 0, id_part);
        memory.put(id_part, 0, uint64_t{7});
        memory.put(id_part, 16, uint64_t{1024});
        memory.put(id_part, 32, id_words + 0x100);
        memory.pieces[id_words].resize(0x100 + 1024 * 8);
        for (const auto& [id, at, letters] :
             {std::tuple{id_of_text, text_id, "total"},
              std::tuple{id_of_class, class_id, "__classpath__"},
              std::tuple{id_of_attached, attached_id, "__attached__"}}) {
            text(at, letters);
            memory.put(id_words, 0x100 + (id >> 4) * 16, at);
        }
        for (const uint64_t at : {method, definition, iseq, body, symbols, ids, id_part, lines,
                                  index, outermost, id_words + 0x1000, id_words + 0x2000})
            if (memory.pieces.contains(at))
                page(at);
        memory.pieces[id_words].resize(3 * 4096);
    }
    void put_class(uint64_t at, uint64_t type, uint64_t its_extension, uint64_t its_variables,
                   uint64_t its_entries, uint64_t id, uint64_t value) {
        memory.put(at, 0, type);
        memory.put(at, 24, its_extension);
        memory.put(its_extension, 8, its_variables);
        memory.put(its_variables, 32, uint64_t{1}); // the first entry was deleted
        memory.put(its_variables, 40, uint64_t{3});
        memory.put(its_variables, 48, its_entries);
        memory.put(its_entries, 24, uint64_t{UINT64_MAX}); // so was this one
        memory.put(its_entries, 48, uint64_t{1});
        memory.put(its_entries, 56, id);
        memory.put(its_entries, 64, value);
        for (const uint64_t one : {at, its_extension, its_variables, its_entries})
            page(one);
    }
    // As succ_index_table has them.
    void put_lines(const std::vector<RubyLine>& all, uint32_t size) {
        memory.put(body, WIRE_RUBY_BODY_SIZE, size);
        memory.put(body, process.layout.objects.body_line_count, static_cast<uint32_t>(all.size()));
        for (size_t i = 0; i < all.size(); i++)
            memory.put(lines, i * process.layout.objects.line_bytes, all[i].line);
        const auto rank = [&](uint32_t position) {
            return static_cast<uint64_t>(std::ranges::count_if(
                all, [&](const RubyLine& line) { return line.position <= position; }));
        };
        for (uint32_t word = 0; word < 6; word++) {
            uint64_t bits = 0;
            for (uint32_t i = 0; i < 9; i++)
                bits |= rank(word * 9 + i) << (7 * i);
            memory.put(index, word * 8, bits);
        }
        for (uint32_t block = 0; 54 + block * 512 < size; block++) {
            const size_t at = 48 + block * 80;
            memory.put(index, at, static_cast<uint32_t>(rank(53 + block * 512)));
            memory.put(index, at + 8, uint64_t{0});
            for (uint32_t word = 0; word < 8; word++) {
                uint64_t bits = 0;
                for (const RubyLine& line : all)
                    if (line.position >= 54 && (line.position - 54) / 64 == block * 8 + word)
                        bits |= uint64_t{1} << (line.position - 54) % 64;
                memory.put(index, at + 16 + word * 8, bits);
            }
        }
        for (const uint64_t one : {lines, index})
            memory.pieces[one].resize((memory.pieces[one].size() + 4095) / 4096 * 4096);
    }

    uint32_t method_cookie() { return wire_ruby_method_cookie(definition, id_of_text, owner); }
    uint32_t code_cookie() {
        std::array<uint64_t, WIRE_RUBY_BODY_BYTES / 8> words{};
        memory.read(body, words.data(), sizeof words);
        return wire_ruby_code_cookie(words.data());
    }
    RubyFrameWords method_frame() {
        return {WIRE_FRAME_RUBY_METHOD | method,
                wire_ruby_frame_cookie(method_cookie(), code_cookie())};
    }
    RubyFrameWords code_frame(bool with_owner) {
        RubyFrameWords words{WIRE_FRAME_RUBY | body, code_cookie()};
        if (with_owner) {
            words.owner = WIRE_FRAME_RUBY_OWNER | method;
            words.owner_second = method_cookie();
        }
        return words;
    }
    std::variant<RubyFunction, FunctionProblem> read(const RubyFrameWords& words) {
        memory.reads = 0;
        return read_ruby_function(read_memory, process, words);
    }
    std::string name_of(const RubyFrameWords& words) {
        const auto answer = read(words);
        const auto* const whole = std::get_if<RubyFunction>(&answer);
        return whole ? whole->name : "(none)";
    }
    FunctionProblem problem_of(const RubyFrameWords& words) {
        const auto answer = read(words);
        const auto* const problem = std::get_if<FunctionProblem>(&answer);
        EXPECT_TRUE(problem);
        return problem ? *problem : FunctionProblem::late;
    }
};

TEST_F(RubyFunctionOf, ItsNameFileAndLines) {
    const auto answer = read(method_frame());
    const auto* const total = std::get_if<RubyFunction>(&answer);
    ASSERT_TRUE(total);
    EXPECT_EQ(total->name, "Shop::Orders#total");
    EXPECT_EQ(total->file, "/srv/shop/orders.rb");
    EXPECT_EQ(total->first_line, 7u);
    EXPECT_THAT(total->lines, ElementsAre(RubyLine{0, 8}, RubyLine{5, 9}, RubyLine{12, 11}));
    // A position is behind the instruction that calls; at the beginning it is the beginning.
    EXPECT_EQ(total->line(0), 8u);
    EXPECT_EQ(total->line(5), 8u);
    EXPECT_EQ(total->line(6), 9u);
    EXPECT_EQ(total->line(12), 9u);
    EXPECT_EQ(total->line(13), 11u);
    EXPECT_EQ(total->line(WIRE_RUBY_NO_OFFSET), 7u);
}

TEST_F(RubyFunctionOf, BlocksAndWhatIsNoMethods) {
    text(label, "block (2 levels) in total");
    EXPECT_EQ(name_of(code_frame(true)), "block (2 levels) in Shop::Orders#total");
    EXPECT_EQ(name_of(code_frame(false)), "block (2 levels) in total");
    text(label, "rescue in total");
    EXPECT_EQ(name_of(code_frame(true)), "rescue in Shop::Orders#total");
    // The block of define_method stands in a class.
    text(label, "block in <class:Orders>");
    text(name, "<class:Orders>");
    memory.put(iseq, WIRE_RUBY_ISEQ_BODY, outermost);
    memory.put(outermost, WIRE_RUBY_BODY_KIND, uint32_t{3});
    page(outermost);
    EXPECT_EQ(name_of(code_frame(true)), "block in <class:Orders>");
    array(path, {real_path});
    EXPECT_EQ(std::get<RubyFunction>(read(code_frame(false))).file, "/srv/shop/orders.rb");
    memory.put(body, WIRE_RUBY_BODY_PATH, real_path);
    EXPECT_EQ(std::get<RubyFunction>(read(code_frame(false))).file, "/srv/shop/orders.rb");
}

TEST_F(RubyFunctionOf, CFunctionsHaveNeitherFileNorLine) {
    memory.put(definition, 0, uint64_t{1});
    const auto answer = read({WIRE_FRAME_RUBY_METHOD | method, method_cookie()});
    const auto* const total = std::get_if<RubyFunction>(&answer);
    ASSERT_TRUE(total);
    EXPECT_EQ(total->name, "Shop::Orders#total");
    EXPECT_EQ(total->file, "");
    EXPECT_EQ(total->line(WIRE_RUBY_NO_OFFSET), 0u);
}

TEST_F(RubyFunctionOf, MethodsOfClassesAndOfSingleObjects) {
    put_class(metaclass, 2 | 1 << 12, other_extension, other_variables, other_entries,
              id_of_attached, owner);
    EXPECT_EQ(RubyMemory(read_memory, process).qualifier(metaclass), "Shop::Orders.");
    EXPECT_EQ(RubyMemory(read_memory, process).qualifier(owner), "Shop::Orders#");
    memory.put(other_entries, 64, label); // a String has it
    EXPECT_EQ(RubyMemory(read_memory, process).qualifier(metaclass), "");
    memory.put(entries, 56, id_of_text); // the class has no name
    EXPECT_EQ(RubyMemory(read_memory, process).qualifier(owner), "");
    EXPECT_EQ(RubyMemory(read_memory, process).qualifier(label), "");
    EXPECT_EQ(RubyMemory(read_memory, process).qualifier(8), "");
}

// Since 3.3 they stand behind the class.
TEST_F(RubyFunctionOf, ClassNamesOfLaterVersions) {
    process.layout = layout_of(0x030308);
    memory.put(owner, process.layout.objects.class_has_name, uint8_t{1});
    memory.put(owner, process.layout.objects.class_name, class_name);
    EXPECT_EQ(RubyMemory(read_memory, process).qualifier(owner), "Shop::Orders#");
    memory.put(owner, process.layout.objects.class_has_name, uint8_t{0}); // "#<Class:0x0000...>"
    EXPECT_EQ(RubyMemory(read_memory, process).qualifier(owner), "");
    // A short text has its length in the object, too.
    memory.put(class_name, 0, uint64_t{5});
    memory.put(class_name, 16, uint64_t{3});
    memory.put(class_name, 24, std::array{'A', 'b', 'c'});
    EXPECT_EQ(RubyMemory(read_memory, process).text(class_name), "Abc");
    process.layout = layout_of(0x030202);
    EXPECT_EQ(RubyMemory(read_memory, process).qualifier(owner), "");
}

TEST_F(RubyFunctionOf, ShortTextsOfOlderVersions) {
    memory.put(name, 0, uint64_t{5 | 3 << 14});
    memory.put(name, 16, std::array{'a', 'b', 'c', 'd'});
    EXPECT_EQ(RubyMemory(read_memory, process).text(name), "abc");
}

TEST_F(RubyFunctionOf, LongCode) {
    const std::vector<RubyLine> all = {{0, 8},    {53, 9},   {54, 10},  {117, 11},
                                       {118, 12}, {565, 13}, {566, 14}, {1200, 15}};
    put_lines(all, 1300);
    EXPECT_EQ(std::get<RubyFunction>(read(method_frame())).lines, all);
    // Neighbours of one line are one.
    put_lines({{0, 8}, {60, 8}, {61, 9}}, 100);
    EXPECT_THAT(std::get<RubyFunction>(read(method_frame())).lines,
                ElementsAre(RubyLine{0, 8}, RubyLine{61, 9}));
    put_lines({{0, 8}}, 100);
    memory.put(body, process.layout.objects.body_line_index, uint64_t{1}); // needs none
    EXPECT_EQ(std::get<RubyFunction>(read(method_frame())).line(90), 8u);
}

TEST_F(RubyFunctionOf, SizesAreBounded) {
    const std::string longest(1024, 'a');
    text(label, longest);
    memory.put(body, WIRE_RUBY_BODY_NAME, label);
    EXPECT_EQ(name_of(code_frame(false)), longest);
    for (const uint64_t length : {uint64_t{1025}, UINT64_MAX}) {
        memory.put(label, 16, length);
        EXPECT_EQ(name_of(code_frame(false)), longest + "...") << length;
    }
    for (const uint32_t count : {uint32_t{(1 << 17) + 1}, UINT32_MAX}) {
        memory.put(body, process.layout.objects.body_line_count, count);
        EXPECT_EQ(std::get<RubyFunction>(read(code_frame(false))).line(3), 7u) << count;
    }
    memory.put(body, process.layout.objects.body_line_count, uint32_t{3});
    memory.put(body, WIRE_RUBY_BODY_SIZE, UINT32_MAX);
    EXPECT_EQ(std::get<RubyFunction>(read(code_frame(false))).line(3), 7u);
    // Entries that the index claims are none.
    put_lines({{0, 8}, {5, UINT32_MAX}}, 20);
    memory.put(index, 0, UINT64_MAX);
    EXPECT_EQ(std::get<RubyFunction>(read(code_frame(false))).line(9), 7u);
    // A table of variables that claims to be endless.
    memory.put(variables, 32, uint64_t{0});
    memory.put(variables, 40, UINT64_MAX);
    text(label, "total");
    memory.put(entries, 56, id_of_text);
    EXPECT_EQ(name_of(method_frame()), "(none)");
    EXPECT_LT(memory.reads, 100u);
}

// Another one takes its place at whichever read.
TEST_F(RubyFunctionOf, WhatDiesWhileItIsReadIsGone) {
    const RubyFrameWords words = method_frame();
    EXPECT_EQ(name_of(words), "Shop::Orders#total");
    const size_t reads = memory.reads;
    ASSERT_GT(reads, 10u);
    size_t gone = 0;
    for (size_t at = 0; at < reads; at++)
        for (const bool by_code : {true, false}) {
            memory.put(body, WIRE_RUBY_BODY_LINE, uint64_t{7 << 1 | 1});
            memory.put(method, WIRE_RUBY_METHOD_OWNER, owner);
            memory.before = [&](size_t now) {
                if (now == at && by_code)
                    memory.put(body, WIRE_RUBY_BODY_LINE, uint64_t{9 << 1 | 1});
                else if (now == at)
                    memory.put(method, WIRE_RUBY_METHOD_OWNER, metaclass);
            };
            const auto answer = read(words);
            if (const auto* const whole = std::get_if<RubyFunction>(&answer)) {
                EXPECT_EQ(whole->name, "Shop::Orders#total") << at;
                continue;
            }
            EXPECT_EQ(std::get<FunctionProblem>(answer), FunctionProblem::gone) << at;
            gone++;
        }
    EXPECT_GT(gone, reads);
}

TEST_F(RubyFunctionOf, WhatIsNoLongerTheSameIsGone) {
    RubyFrameWords other = method_frame();
    other.second ^= 1;
    EXPECT_EQ(problem_of(other), FunctionProblem::gone);
    other = code_frame(true);
    other.owner_second ^= 1;
    EXPECT_EQ(problem_of(other), FunctionProblem::gone);
    other = code_frame(true);
    other.second ^= 1;
    EXPECT_EQ(problem_of(other), FunctionProblem::gone);
    // An object of another kind has come there, as when objects move.
    const RubyFrameWords moved = method_frame();
    memory.put(method, 0, uint64_t{0x1e});
    EXPECT_EQ(problem_of(moved), FunctionProblem::gone);
}

TEST_F(RubyFunctionOf, WhatCannotBeReadSaysWhy) {
    const RubyFrameWords words = method_frame();
    for (const uint64_t piece : {method, definition, iseq, body, label, name, path, real_path,
                                 owner, class_name, symbols, lines, index}) {
        const auto content = memory.pieces[piece];
        memory.pieces.erase(piece);
        memory.answer = MemoryRead::unreadable;
        EXPECT_EQ(problem_of(words), FunctionProblem::unreadable) << std::hex << piece;
        memory.answer = MemoryRead::late;
        EXPECT_EQ(problem_of(words), FunctionProblem::late) << std::hex << piece;
        memory.pieces[piece] = content;
    }
    EXPECT_EQ(problem_of({WIRE_FRAME_RUBY | WIRE_RUBY_NO_CODE, 0}), FunctionProblem::late);
}

} // namespace
} // namespace auger
