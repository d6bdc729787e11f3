// SPDX-License-Identifier: GPL-3.0-or-later
// Names of Ruby's functions in our own memory, and where its frames go in a stack.
#include "bpf/unwind_table.h"
#include "loader/kernel/live_names.h"
#include "tests/support/kernel_test.h"
#include "views/model/model.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <unistd.h>

#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace auger::test {
namespace {

// As Ruby 3.3 has them: Shop#pay, a method; Shop#wait, a C function; a block in the former.
class RubyNamesTest : public KernelTest {
  protected:
    struct alignas(16) Object {
        char bytes[256] = {};
        template <typename Number>
        void put(uint32_t offset, Number number) {
            std::memcpy(bytes + offset, &number, sizeof number);
        }
        void text(const char* characters) {
            put(0, uint64_t{5});
            put(16, uint64_t{std::strlen(characters)});
            std::strcpy(bytes + 24, characters);
        }
        uint64_t address() const { return reinterpret_cast<uint64_t>(bytes); }
    };
    static constexpr uint64_t id = 3; // of "wait"

    void SetUp() override {
        KernelTest::SetUp();
        RubyFile file;
        file.version = 0x030308;
        file.context = ThreadVariable{};
        file.loop.body_size = file.symbols = 1;
        const auto layout = ruby_layout(file);
        ASSERT_TRUE(layout.ok());
        put_code(pay_body_, pay_, "pay");
        put_code(block_body_, block_, "block in pay");
        pay_iseq_.put(WIRE_RUBY_ISEQ_BODY, pay_body_.address());
        put_method(pay_method_, pay_definition_);
        pay_definition_.put(8, pay_iseq_.address());
        put_method(wait_method_, wait_definition_);
        wait_definition_.put(0, uint64_t{1});
        wait_definition_.put(32, id);
        shop_.put(0, uint64_t{3});
        shop_.put(layout->objects.class_has_name, uint8_t{1});
        shop_.put(layout->objects.class_name, shop_name_.address());
        shop_name_.text("Shop");
        wait_.text("wait");
        path_.text("/srv/shop.rb");
        symbols_.put(16, parts_.address());
        put_array(parts_, {texts_.address()});
        put_array(texts_, {8, 8, 8, 8, 8, 8, wait_.address(), 8});
        process_ = {*layout, symbols_.address(), {loop, 0x100, 0, 0}};
        names_.ruby().set_layout(getpid(), 0, std::make_shared<const RubyProcess>(process_));
    }
    void put_code(Object& body, Object& label, const char* name) {
        label.text(name);
        name_.text("pay");
        body.put(WIRE_RUBY_BODY_KIND, uint32_t{WIRE_RUBY_METHOD_CODE});
        body.put(WIRE_RUBY_BODY_SIZE, uint32_t{10});
        body.put(WIRE_RUBY_BODY_PATH, path_.address());
        body.put(WIRE_RUBY_BODY_NAME, name_.address());
        body.put(WIRE_RUBY_BODY_LABEL, label.address());
        body.put(WIRE_RUBY_BODY_LINE, uint32_t{7});
        body.put(112, line_.address());
        body.put(128, uint32_t{1});
        body.put(168, pay_iseq_.address());
        line_.put(0, uint32_t{12});
    }
    void put_method(Object& method, Object& definition) {
        method.put(0, uint64_t{WIRE_RUBY_METHOD_ENTRY});
        method.put(WIRE_RUBY_METHOD_DEFINITION, definition.address());
        method.put(WIRE_RUBY_METHOD_NAME, id);
        method.put(WIRE_RUBY_METHOD_OWNER, shop_.address());
    }
    static void put_array(Object& array, const std::vector<uint64_t>& values) {
        array.put(0, uint64_t{7 | 1 << 13} | values.size() << 15);
        for (size_t i = 0; i < values.size(); i++)
            array.put(static_cast<uint32_t>(16 + 8 * i), values[i]);
    }
    uint32_t cookie(const Object& definition) const {
        return wire_ruby_method_cookie(definition.address(), id, shop_.address());
    }
    static uint32_t code_cookie(const Object& body) {
        std::array<uint64_t, WIRE_RUBY_BODY_BYTES / 8> words;
        std::memcpy(words.data(), body.bytes, sizeof words);
        return wire_ruby_code_cookie(words.data());
    }
    using Words = std::vector<uint64_t>;
    Words pay() const {
        return {WIRE_FRAME_RUBY_METHOD | pay_method_.address(),
                uint64_t{3} << 32 |
                    wire_ruby_frame_cookie(cookie(pay_definition_), code_cookie(pay_body_))};
    }
    Words wait() const {
        return {WIRE_FRAME_RUBY_METHOD | wait_method_.address(),
                uint64_t{WIRE_RUBY_NO_OFFSET} << 32 | cookie(wait_definition_)};
    }
    Words block() const {
        return {WIRE_FRAME_RUBY_OWNER | pay_method_.address(), cookie(pay_definition_),
                WIRE_FRAME_RUBY | block_body_.address(),
                uint64_t{WIRE_RUBY_NO_OFFSET} << 32 | code_cookie(block_body_)};
    }
    static Words join(std::initializer_list<Words> parts) {
        Words all;
        for (const Words& part : parts)
            all.insert(all.end(), part.begin(), part.end());
        return all;
    }
    // What its frames are called, leaf first; native ones by their addresses.
    std::vector<std::string> stack_of(const Words& words) {
        std::vector<std::string> frames;
        const StackId stack = names_.stack(getpid(), 1, {}, words);
        const SymbolTables& symbols = model_.symbols();
        for (const LocationId location : symbols.stack(stack)) {
            const FrameEntry& frame = symbols.frames(location).front();
            const bool is_native =
                symbols.module(symbols.location(location).module).kind == ModuleKind::unknown;
            frames.push_back(
                is_native    ? fmt::format("{:x}{}", symbols.location(location).address,
                                        symbols.location(location).is_return ? " return" : "")
                : frame.line ? fmt::format("{} {}", symbols.name(frame.function), frame.line)
                             : std::string(symbols.name(frame.function)));
        }
        return frames;
    }

    // In no mapping.
    static constexpr uint64_t other = 0x2000, loop = 0x3000;
    Object pay_, block_, name_, path_, wait_, shop_name_, shop_, line_;
    Object pay_body_, block_body_, pay_iseq_, pay_method_, pay_definition_, wait_method_,
        wait_definition_, symbols_, parts_, texts_;
    RubyProcess process_;
    Model model_;
    LiveNames names_{model_};
};

TEST_F(RubyNamesTest, StandWhereTheLoopRunsThem) {
    const Words boundary = {WIRE_FRAME_RUBY, 0};
    EXPECT_THAT(stack_of(join({{other, loop + 8, other, loop + 8, other},
                               block(),
                               boundary,
                               wait(),
                               pay(),
                               boundary})),
                testing::ElementsAre("2000", "3008 return", "block in Shop#pay 7", "2000 return",
                                     "3008 return", "Shop#wait", "Shop#pay 12", "2000 return"));
    // A block is about to run: it is what the leaf belongs to, which is no return address.
    EXPECT_THAT(stack_of(join({{other, loop + 8, other}, block(), boundary, pay(), boundary})),
                testing::ElementsAre("block in Shop#pay 7", "2000", "3008 return", "Shop#pay 12",
                                     "2000 return"));
    // What is cut says so behind all that is known.
    EXPECT_THAT(stack_of(join({{other, loop + 8, other},
                               pay(),
                               boundary,
                               pay(),
                               boundary,
                               {WIRE_STACK_CUT | WIRE_STOP_NO_TABLE}})),
                testing::ElementsAre("2000", "3008 return", "Shop#pay 12", "2000 return",
                                     "Shop#pay 12", "[stack cut: no call frame information]"));
    EXPECT_THAT(names_.ruby().missing(), testing::Each(0u));
}

// Of runtimes whose frames stand in place of native ones a word without an address is a frame.
TEST_F(RubyNamesTest, OnlyBoundariesAreLeftOut) {
    EXPECT_THAT(stack_of({other, WIRE_FRAME_HOTSPOT_BYTECODE, 0, other}),
                testing::ElementsAre("2000", "[interpreter]", "2000 return"));
    EXPECT_THAT(
        stack_of({other, WIRE_FRAME_PYTHON, 0, WIRE_FRAME_PHP, 0, WIRE_FRAME_PERL, 0, other,
                  WIRE_STACK_CUT | WIRE_STOP_DEPTH}),
        testing::ElementsAre("2000", "2000 return", "[stack cut: deeper than can be kept]"));
}

// Nobody has called the C function that a fiber begins with.
TEST_F(RubyNamesTest, FirstFramesOfFibersStandAroundAll) {
    EXPECT_THAT(
        stack_of(join({{other, loop + 8, other}, pay(), {WIRE_FRAME_RUBY, 0}, wait()})),
        testing::ElementsAre("2000", "3008 return", "Shop#pay 12", "2000 return", "Shop#wait"));
    EXPECT_THAT(stack_of(join({{other, loop + 8, other}, wait()})),
                testing::ElementsAre("2000", "3008 return", "2000 return", "Shop#wait"));
}

TEST_F(RubyNamesTest, FramesWithoutNamesAreCountedByCause) {
    Words gone = pay();
    gone[1] ^= 1;
    EXPECT_THAT(stack_of(join({{other, loop + 8}, gone, {WIRE_FRAME_RUBY | WIRE_RUBY_NO_CODE, 0}})),
                testing::ElementsAre("2000", "3008 return", "[ruby: gone before its name was read]",
                                     "[ruby: unreadable]"));
    EXPECT_THAT(names_.ruby().missing(), testing::ElementsAre(1u, 1u, 0u));
    // The two words of a method around no code belong to no other stack.
    EXPECT_THAT(stack_of(join({{other, loop + 8}, {block()[0], block()[1]}})),
                testing::ElementsAre("2000", "3008 return"));
    EXPECT_THAT(stack_of(join({{other, loop + 8}, wait()})),
                testing::ElementsAre("2000", "3008 return", "Shop#wait"));
}

} // namespace
} // namespace auger::test
