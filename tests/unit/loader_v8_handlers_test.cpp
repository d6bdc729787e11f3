// SPDX-License-Identifier: GPL-3.0-or-later
// Where bytecodes' handlers have their offset: code written by hand, whose places stand beside it,
// and all handlers of the node that is installed.
#include "bpf/wire/v8.h"
#include "loader/arch/arch.h"
#include "loader/process/safe_open.h"
#include "loader/reader/code/kept_value.h"
#include "loader/reader/code/value_move.h"
#include "loader/reader/runtimes/read_v8.h"
#include "loader/reader/runtimes/v8_handlers.h"

#include ARCH(dwarf_register.h)

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <initializer_list>
#include <iterator>
#include <string>
#include <vector>

namespace auger {
namespace {

constexpr uint64_t begin = 0x1000, keeper = 0x8000;
constexpr uint8_t number_r9 = 9;
constexpr int64_t slot = -0x24;

// An instruction as objdump -d has it, and where the number is before it.
struct Line {
    std::vector<int> bytes;
    std::string places; // registers, words of the own frame: "r9 w3"; "S": the caller's frame
};

std::string described(const KeptValue& value) {
    std::string text;
    for (uint32_t i = 0; i < first_frame_word + frame_words; i++)
        if (value.places >> i & 1)
            text += fmt::format("{}{}{}", text.empty() ? "" : " ", i < first_frame_word ? 'r' : 'w',
                                i < first_frame_word ? i : i - first_frame_word);
    return text + (value.saved ? text.empty() ? "S" : " S" : "");
}

std::vector<std::byte> code_of(const std::vector<Line>& lines) {
    std::vector<std::byte> code;
    for (const Line& line : lines)
        for (const int byte : line.bytes)
            code.push_back(static_cast<std::byte>(byte));
    return code;
}

void expect_places(const std::vector<Line>& lines) {
    const auto code = code_of(lines);
    const auto values = kept_value({begin, code}, number_r9, slot,
                                   [](uint64_t address) { return address == keeper; });
    ASSERT_TRUE(values);
    ASSERT_EQ(values->size(), lines.size());
    uint64_t address = begin;
    for (size_t i = 0; i < lines.size(); i++) {
        EXPECT_EQ((*values)[i].address, address);
        EXPECT_EQ(described((*values)[i]), lines[i].places)
            << fmt::format("instruction {} at {:#x}", i, address);
        address += lines[i].bytes.size();
    }
}

// Ldar: the offset goes on, and is handed on.
TEST(KeptValues, GoOn) {
    expect_places({
        {{0x4b, 0x0f, 0xbe, 0x5c, 0x0c, 0x01}, "r9"}, // movsbq 0x1(%r12,%r9,1),%rbx
        {{0x48, 0x8b, 0xd5}, "r9"},                   // mov    %rbp,%rdx
        {{0x48, 0x8b, 0x1c, 0xda}, "r9"},             // mov    (%rdx,%rbx,8),%rbx
        {{0x49, 0x83, 0xc1, 0x02}, "r9"},             // add    $0x2,%r9
        {{0x43, 0x0f, 0xb6, 0x14, 0x21}, "r9"},       // movzbl (%r9,%r12,1),%edx
        {{0x49, 0x8b, 0x0c, 0xd7}, "r9"},             // mov    (%r15,%rdx,8),%rcx
        {{0xff, 0xe1}, "r9"},                         // jmp    *%rcx
    });
}

// CallUndefinedReceiver0: put into the frame, then the register is others'.
TEST(KeptValues, AreInTheFrameBeforeTheRegisterIsWritten) {
    expect_places({
        {{0x48, 0x8b, 0xdd}, "r9"},                        // mov  %rbp,%rbx
        {{0xc7, 0x43, 0xd8, 0, 0, 0, 0}, "r9"},            // movl $0x0,-0x28(%rbx)
        {{0x44, 0x89, 0x4b, 0xdc}, "r9"},                  // mov  %r9d,-0x24(%rbx)
        {{0x4c, 0x8d, 0x0c, 0xcd, 0x37, 0, 0, 0}, "r9 S"}, // lea  0x37(,%rcx,8),%r9
        {{0x49, 0xbc, 0, 0, 0, 0, 4, 0, 0, 0}, "S"},       // movabs ...,%r12
        {{0x4c, 0x63, 0x53, 0xdc}, "S"},                   // movslq -0x24(%rbx),%r10
        {{0xc7, 0x43, 0xdc, 0, 0, 0, 0}, "r10 S"},         // movl $0x0,-0x24(%rbx)
        {{0x44, 0x89, 0x55, 0xdc}, "r10"},                 // mov  %r10d,-0x24(%rbp)
        {{0x48, 0xc7, 0x43, 0xd8, 0, 0, 0, 0}, "r10 S"},   // movq $0x0,-0x28(%rbx)
        {{0x4c, 0x8b, 0x4c, 0xcd, 0xdc}, "r10"},           // mov -0x24(%rbp,%rcx,8),%r9
        {{0xc3}, "r10"},                                   // ret
    });
}

// Where ways meet it is where all have it; what does not come back is no way.
TEST(KeptValues, AreWhereAllWaysHaveThem) {
    expect_places({
        {{0x4d, 0x8b, 0xf1}, "r9"},           // 0: mov %r9,%r14
        {{0x4d, 0x8b, 0xd9}, "r9 r14"},       // 3: mov %r9,%r11
        {{0x74, 0x06}, "r9 r11 r14"},         // 6: je e
        {{0x75, 0x01}, "r9 r11 r14"},         // 8: jne b
        {{0xcc}, "r9 r11 r14"},               // a: int3
        {{0x45, 0x31, 0xdb}, "r9 r11 r14"},   // b: xor %r11d,%r11d
        {{0x45, 0x31, 0xc9}, "r9 r14"},       // e: xor %r9d,%r9d
        {{0x4d, 0x8d, 0x4e, 0x10}, "r14"},    // 11: lea 0x10(%r14),%r9
        {{0x4d, 0x8d, 0x4e, 0x11}, "r9 r14"}, // 15: lea 0x11(%r14),%r9
        {{0x4d, 0x8d, 0x4e, 0xff}, "r14"},    // 19: lea -0x1(%r14),%r9
        {{0x4d, 0x8d, 0x4e, 0xfe}, "r9 r14"}, // 1d: lea -0x2(%r14),%r9
        {{0x45, 0x89, 0xf3}, "r14"},          // 21: mov %r14d,%r11d
        {{0xeb, 0x01}, "r11 r14"},            // 24: jmp 27
        {{0x90}, ""},                         // 26: nop
        {{0x45, 0x88, 0xde}, "r11 r14"},      // 27: mov %r11b,%r14b
        {{0xc3}, "r11"},                      // 2a: ret
    });
}

// A jump's target is the next offset from where it is known, whatever it is made of.
TEST(KeptValues, AreNextOnesOnceTheyAreHandedOn) {
    expect_places({
        {{0x4d, 0x29, 0xc1}, "r9"},             // 0: sub %r8,%r9
        {{0x43, 0x0f, 0xb6, 0x3c, 0x21}, "r9"}, // 3: movzbl (%r9,%r12,1),%edi
        {{0x49, 0x8b, 0x0c, 0xff}, "r9"},       // 8: mov (%r15,%rdi,8),%rcx
        {{0x4c, 0x8b, 0xe2}, "r9"},             // c: mov %rdx,%r12
        {{0xff, 0xe1}, "r9"},                   // f: jmp *%rcx
    });
    // What is gone to is no table's element, or is brought by a jump: whose number is that?
    for (const std::vector<int>& load : {std::vector{0x4a, 0x8b, 0x4c, 0xff, 0x08},
                                         std::vector{0x49, 0x8b, 0x0f}, std::vector{0x74, 0x00}})
        expect_places({
            {{0x4d, 0x29, 0xc1}, "r9"}, {load, ""}, {{0xff, 0xe1}, ""}, // jmp *%rcx
        });
    // Called functions have the register.
    expect_places({
        {{0x4d, 0x29, 0xc1}, "r9"},       // sub %r8,%r9
        {{0xe8, 0, 0x20, 0, 0}, ""},      // call 3008
        {{0x49, 0x8b, 0x0c, 0xff}, "r9"}, // mov (%r15,%rdi,8),%rcx
        {{0xff, 0xe1}, "r9"},             // jmp *%rcx
    });
}

// JumpLoop: with a frame for a while, in whose words it is over calls.
TEST(KeptValues, AreInTheOwnFrame) {
    expect_places({
        {{0x55}, "r9"},                               // push %rbp
        {{0x48, 0x8b, 0xec}, "r9"},                   // mov %rsp,%rbp
        {{0x6a, 0x22}, "r9"},                         // push $0x22
        {{0x48, 0x83, 0xec, 0x30}, "r9"},             // sub $0x30,%rsp
        {{0x48, 0x8b, 0x55, 0x00}, "r9"},             // mov 0x0(%rbp),%rdx
        {{0x4c, 0x89, 0x4d, 0xe8}, "r9"},             // mov %r9,-0x18(%rbp)
        {{0xe8, 0, 0x20, 0, 0}, "r9 w3"},             // call
        {{0x4c, 0x8b, 0x5d, 0xe8}, "w3"},             // mov -0x18(%rbp),%r11
        {{0x44, 0x89, 0x5a, 0xdc}, "r11 w3"},         // mov %r11d,-0x24(%rdx): whose is rdx?
        {{0x48, 0x8b, 0x55, 0x00}, "r11 w3"},         // mov 0x0(%rbp),%rdx
        {{0x44, 0x89, 0x5a, 0xdc}, "r11 w3"},         // mov %r11d,-0x24(%rdx)
        {{0xf2, 0x0f, 0x11, 0x45, 0xe8}, "r11 w3 S"}, // movsd %xmm0,-0x18(%rbp)
        {{0x4c, 0x89, 0x5d, 0xe0}, "r11 S"},          // mov %r11,-0x20(%rbp)
        {{0x48, 0x83, 0xec, 0x08}, "r11 w4 S"},       // sub $0x8,%rsp
        {{0x48, 0x83, 0xe4, 0xf0}, "r11 w4 S"},       // and $0xfffffffffffffff0,%rsp
        {{0x4c, 0x89, 0x14, 0x24}, "r11 w4 S"},       // mov %r10,(%rsp)
        {{0xff, 0xd0}, "r11 w4 S"},                   // call *%rax
        {{0x48, 0x8b, 0x24, 0x24}, "w4 S"},           // mov (%rsp),%rsp
        {{0x4c, 0x8b, 0x4d, 0xe0}, "w4 S"},           // mov -0x20(%rbp),%r9
        {{0x4c, 0x89, 0x54, 0x24, 0x08}, "r9 w4 S"},  // mov %r10,0x8(%rsp): may be any word
        {{0x48, 0x8b, 0x6d, 0x00}, "r9 S"},           // mov 0x0(%rbp),%rbp: lost, too
        {{0x44, 0x89, 0x45, 0xdc}, "r9 S"},           // mov %r8d,-0x24(%rbp)
        {{0xc3}, "r9 S"},                             // ret
    });
    // Left, the caller's frame is at hand again.
    for (const std::vector<int>& leave :
         {std::vector{0xc9}, std::vector{0x5d}, std::vector{0x48, 0x8b, 0x6d, 0x00}})
        expect_places({
            {{0x55}, "r9"},                   // push %rbp
            {{0x48, 0x8b, 0xec}, "r9"},       // mov %rsp,%rbp
            {{0x4c, 0x89, 0x4d, 0xe8}, "r9"}, // mov %r9,-0x18(%rbp)
            {leave, "r9 w3"},
            {{0x44, 0x89, 0x4d, 0xdc}, "r9"}, // mov %r9d,-0x24(%rbp)
            {{0x44, 0x89, 0x45, 0xdc}, "r9 S"},
            {{0xc3}, "r9"},
        });
}

TEST(KeptValues, StayInRegistersOverWhatKeepsThem) {
    expect_places({
        {{0xe8, 0xfb, 0x6f, 0, 0}, "r9"}, // call 8000
        {{0xe8, 0xfb, 0x6f, 0, 0}, "r9"}, // call 8005
        {{0xc3}, ""},
    });
}

TEST(KeptValues, OfWhatIsNoCodeAreNone) {
    const auto is_code = [](const std::vector<Line>& lines) {
        const auto code = code_of(lines);
        return kept_value({begin, code}, number_r9, slot, [](uint64_t) { return false; })
            .has_value();
    };
    EXPECT_TRUE(is_code({{{0xeb, 0x00}, {}}, {{0xc3}, {}}}));
    EXPECT_FALSE(is_code({{{0xeb, 0xff}, {}}, {{0xc3}, {}}})); // into itself
    EXPECT_FALSE(is_code({{{0x06}, {}}}));
    EXPECT_FALSE(is_code({{{0x48}, {}}}));
    EXPECT_TRUE(is_code({}));
}

// Beside the truth of each handler of a real interpreter: it gets the offset in the register, has
// it somewhere at each of its instructions, and knows it where it puts it into the frame.
TEST(V8Handlers, HaveTheirOffsetAtEachInstruction) {
    const std::string path = "/usr/bin/node";
    if (access(path.c_str(), R_OK) != 0)
        GTEST_SKIP() << path << " is not installed";
    const auto file = ElfFile::open(*open_regular(path), path);
    ASSERT_TRUE(file.ok());
    const auto v8 = read_v8(**file);
    if (!v8 || !(*file)->has_symbols())
        GTEST_SKIP() << path << " has no symbols, or loads V8 from elsewhere";
    const auto number = static_cast<uint8_t>(*(*v8)[V8Constant::offset_register]);
    const auto place_at = [&](uint64_t address) {
        const auto behind =
            std::ranges::upper_bound(v8->offset_places, address, {}, &V8OffsetPlace::address);
        return behind == v8->offset_places.begin() ? uint8_t{WIRE_V8_IN_FRAME}
                                                   : std::prev(behind)->place;
    };
    const auto keeps = [&](uint64_t address) {
        for (const ElfFunction& function : (*file)->functions())
            if (function.address == address)
                return function.name.starts_with("Builtins_RecordWrite") ||
                       function.name.starts_with("Builtins_EphemeronKeyBarrier") ||
                       function.name == "Builtins_DoubleToI";
        return false;
    };
    size_t handlers = 0, instructions = 0, dead = 0;
    for (const ElfFunction& function : (*file)->functions()) {
        if (!function.name.starts_with("Builtins_") || !function.name.ends_with("Handler"))
            continue;
        handlers++;
        EXPECT_EQ(place_at(function.address), WIRE_V8_IN_REGISTER + dwarf_register(number))
            << function.name;
        const auto code = (*file)->read_code(function.address, function.size);
        const auto values = kept_value({function.address, code}, number,
                                       *(*v8)[V8Constant::frame_offset] + 4, keeps);
        ASSERT_TRUE(values) << function.name;
        for (size_t i = 0; i < values->size(); i++) {
            instructions++;
            const auto bytes = std::span(code).subspan((*values)[i].address - function.address);
            const auto writes = register_writes(bytes, (*values)[i].address);
            // Nothing leads to them: what fills up, and jumps behind jumps.
            const bool is_empty = !(*values)[i].places && !(*values)[i].saved;
            const bool is_dead = is_empty && writes->written == 0;
            dead += is_dead;
            EXPECT_TRUE(!is_empty || is_dead)
                << fmt::format("{} {:#x}", function.name, (*values)[i].address);
        }
    }
    EXPECT_GT(handlers, 400u);
    EXPECT_LT(dead * 50, instructions);
    EXPECT_LT(v8->offset_places.size(), size_t{V8File::offset_places_limit});
}

} // namespace
} // namespace auger
