// SPDX-License-Identifier: GPL-3.0-or-later
// Where Perl's frames stand among native ones.
#include "loader/runtimes/perl/frame_places.h"

#include "bpf/unwind_table.h"
#include "loader/runtimes/frame_words.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace auger {
namespace {

constexpr PerlCode perl_code = {
    {0x1000, 0x100, 0, 0}, {0x2000, 0x100, 0x9000, 0x10}, {{{}, {0x3000, 0x100, 0, 0}, {}}}};

// Native frames are capitals: L of the loop, R of perl_run(), C of what calls subs for C code,
// others of others. Small letters are frames of Perl's, of which m is the program's own level; / is
// a boundary, ; one of a block of sort's or the like, ! why the walk ended. Leaf first, as walks
// have them.
uint64_t native_word(char letter) {
    switch (letter) {
    case 'L':
        return 0x1050;
    case 'R':
        return 0x2050;
    case 'C':
        return 0x3050;
    default:
        return 0x50000 + static_cast<uint64_t>(letter);
    }
}

std::vector<uint64_t> perl_stack(std::string_view text) {
    std::vector<uint64_t> words;
    for (const char letter : text) {
        const auto number = static_cast<uint64_t>(letter);
        if (letter == '!')
            words.push_back(WIRE_STACK_CUT | WIRE_STOP_NO_TABLE);
        else if (letter == '/' || letter == ';')
            words.insert(
                words.end(),
                {WIRE_FRAME_PERL, uint64_t{letter == ';' ? WIRE_PERL_BLOCK : WIRE_PERL_CALLED}});
        else if (letter >= 'a')
            words.insert(
                words.end(),
                {WIRE_FRAME_PERL | (0x700000 + number),
                 letter == 'm' ? uint64_t{WIRE_PERL_FRAME_MAIN} << WIRE_PERL_FRAME_SHIFT : 0x800000,
                 (letter < 'c' ? WIRE_FRAME_PERL_COP : WIRE_FRAME_PERL_PLACE) | 0x900000,
                 number << 32 | 7});
        else
            words.push_back(native_word(letter));
    }
    return words;
}

std::string perl_text_of(const std::vector<uint64_t>& words) {
    std::string text;
    for (size_t i = 0; i < words.size(); i++) {
        const uint64_t word = words[i];
        if (word & WIRE_STACK_CUT) {
            text += '!';
        } else if (word == WIRE_FRAME_PERL) {
            text += '/';
            i++;
        } else if (word & WIRE_FRAME_RUNTIME) {
            text += static_cast<char>(word & 0xff);
            EXPECT_LT(i + 3, words.size());
            EXPECT_EQ(words[i + 3] >> 32, word & 0xff);
            i += 3;
        } else {
            for (char letter = 'A'; letter <= 'Z'; letter++)
                if (native_word(letter) == word)
                    text += letter;
        }
    }
    return text;
}

std::string perl_placed(std::string_view text) {
    return perl_text_of(place_perl_frames(perl_stack(text), perl_code, false));
}

TEST(PerlPlaces, OfOneRun) {
    EXPECT_EQ(perl_placed("XLRm"), "XLmR");
    EXPECT_EQ(perl_placed("XYLRabcm"), "XYLabcmR");
    EXPECT_EQ(perl_placed("LRm"), "LmR");
}

TEST(PerlPlaces, OfCallsFromC) {
    EXPECT_EQ(perl_placed("XLCPLRa/bm"), "XLaCPLbmR");
    EXPECT_EQ(perl_placed("XLCPLCPPLRab/c/dm"), "XLabCPLcCPPLdmR");
    // By a function of its own in between, as another compiler leaves it.
    EXPECT_EQ(perl_placed("XLBCPLRa/bm"), "XLaBCPLbmR");
    // A block of sort's has no frame of its own.
    EXPECT_EQ(perl_placed("XLSTPLR;bm"), "XLSTPLbmR");
    EXPECT_EQ(perl_placed("XLSTPLRa;bm"), "XLaSTPLbmR");
}

// What sort has prepared is not executed while it goes on to sort.
TEST(PerlPlaces, OfWhatIsNotExecutedYet) {
    EXPECT_EQ(perl_placed("STPLR;bm"), "STPLbmR");
    EXPECT_EQ(perl_placed("STPLRa;bm"), "STPLbmR");
    EXPECT_EQ(perl_placed("STPLSTPLRa;b;cm"), "STPLbSTPLcmR");
    // first() looks at what its block has answered, which is tied: caller() names the block.
    EXPECT_EQ(perl_placed("XLCMELSTPLRab/c;;dm"), "XLabcCMELSTPLdmR");
    EXPECT_EQ(perl_placed("XLCMELRab/c;dm"), "XLabcCMELdmR");
    // call_sv() has not come to the loop.
    EXPECT_EQ(perl_placed("CPLRa/bm"), "CPLabmR");
}

// An eval in what C code has called goes on in a loop of its own, whose caller the first one calls.
TEST(PerlPlaces, OfEvalsThatGoOnInALoopOfTheirOwn) {
    EXPECT_EQ(perl_placed("XLDLCPLRab/m"), "XLDLabCPLmR");
    EXPECT_EQ(perl_placed("XLDLDLCPLRab/m"), "XLDLDLabCPLmR");
    EXPECT_EQ(perl_placed("XLDLSTPLDLCPLRa;b/m"), "XLDLaSTPLDLbCPLmR");
}

TEST(PerlPlaces, OutsideOfTheProgram) {
    // A thread's own sub, called by C, is all that its native frames execute.
    EXPECT_EQ(perl_placed("XLCTab/em"), "XLabCT");
    // BEGIN while a program is compiled, and in a file that it requires.
    EXPECT_EQ(perl_placed("XLCBPa/em"), "XLaCBP");
    EXPECT_EQ(perl_placed("XLCBLCBPa/eb/em"), "XLaCBLebCBP");
    // While nothing is executed at all.
    EXPECT_EQ(perl_placed("XPm"), "XP");
    EXPECT_EQ(perl_placed("CBPa/em"), "CBP");
}

// By another loop than the one that is known.
TEST(PerlPlaces, WithoutALoop) {
    EXPECT_EQ(perl_placed("XQRa/bm"), "XQRabm");
    EXPECT_EQ(perl_placed("XQCLRa/b/cm"), "XQCLabcmR");
    // A method in C, called from C, has a loop and no frame; nor have constants that are folded.
    EXPECT_EQ(perl_placed("XLCPLRam"), "XLCPLamR");
    EXPECT_EQ(perl_placed("XLFKPLRam"), "XLFKPLamR");
    // A module calls the loop itself.
    EXPECT_EQ(perl_placed("XLQPLRa/bm"), "XLaQPLbmR");
}

TEST(PerlPlaces, OfStacksThatAreCut) {
    EXPECT_EQ(perl_placed("XLCPLa/bc!"), "XLaCPLbc!");
    EXPECT_EQ(perl_placed("XLa/b/m!"), "XLabm!");
    EXPECT_EQ(perl_placed("Xa/m!"), "Xam!");
    EXPECT_EQ(perl_placed("XLDLCPLa/bm!"), "XLDLaCPLbm!");
    EXPECT_EQ(perl_placed("XLSTPLa;bm!"), "XLaSTPLbm!");
    EXPECT_EQ(perl_placed("XLSTPLCPLa;b/cm!"), "XLaSTPLbCPLcm!");
    EXPECT_EQ(perl_placed("STPLa;bm!"), "STPLabm!");
    // Perl's own are, in too deep a recursion.
    EXPECT_EQ(perl_placed("XLCPLRa/bc"), "XLaCPLbcR");
    EXPECT_EQ(perl_placed("XLCPLRabc!"), "XLabcCPLR!");
    EXPECT_EQ(perl_placed("XLCPLRa/"), "XLaCPLR");
}

TEST(PerlPlaces, ByReturnAddressesAndOthers) {
    const auto with = [](uint64_t word, size_t at, bool leaf_is_return = false) {
        auto words = perl_stack("XLYRam");
        words[at] = word;
        const auto placed = place_perl_frames(words, perl_code, leaf_is_return);
        // Behind which native frame: 0, 1, 2 or 3.
        for (size_t i = 0; i < placed.size(); i++)
            if (placed[i] & WIRE_FRAME_RUNTIME)
                return static_cast<int>(i) - 1;
        return -1;
    };
    EXPECT_EQ(with(0x1050, 1), 1);
    EXPECT_EQ(with(0x1001, 1), 1);
    EXPECT_EQ(with(0x1100, 1), 1);
    // In no loop: behind all.
    EXPECT_EQ(with(0x1000, 1), 3);
    EXPECT_EQ(with(0x1101, 1), 3);
    EXPECT_EQ(with(0x1000 | WIRE_FRAME_EXACT, 1), 1);
    EXPECT_EQ(with(0x10ff | WIRE_FRAME_EXACT, 1), 1);
    EXPECT_EQ(with(0x1100 | WIRE_FRAME_EXACT, 1), 3);
    // The loop at 0, and the one at 1 is of the same run or not.
    EXPECT_EQ(with(0x1000, 0), 1);
    auto leaf = perl_stack("XYRam");
    leaf[0] = 0x1000;
    EXPECT_EQ(place_perl_frames(leaf, perl_code, false)[1], leaf[3]);
    EXPECT_EQ(place_perl_frames(leaf, perl_code, true)[1], leaf[1]);
    leaf[0] = 0x1100;
    EXPECT_EQ(place_perl_frames(leaf, perl_code, false)[1], leaf[1]);
    EXPECT_EQ(place_perl_frames(leaf, perl_code, true)[1], leaf[3]);
    // perl_run()'s other part.
    auto cold = perl_stack("XLYam");
    cold.insert(cold.begin() + 3, 0x9008);
    EXPECT_EQ(place_perl_frames(cold, perl_code, false).size(), cold.size());
    cold[3] = 0x9018;
    EXPECT_EQ(place_perl_frames(cold, perl_code, false).size(), 4u);
}

bool has_perl_frames(const std::vector<uint64_t>& words) {
    return find_pair(words, is_perl_word) < words.size();
}

// Other runtimes' pairs stay where they are, whatever their second words look like.
TEST(PerlPlaces, WithOtherRuntimes) {
    auto words = perl_stack("XLRam");
    EXPECT_TRUE(has_perl_frames(words));
    words.insert(words.begin() + 1, {WIRE_FRAME_HOTSPOT_CODE | 0x1050, WIRE_FRAME_PERL | 0x700000});
    EXPECT_TRUE(has_perl_frames(words));
    const auto placed = place_perl_frames(words, perl_code, false);
    ASSERT_EQ(placed.size(), words.size());
    EXPECT_TRUE(std::equal(placed.begin(), placed.begin() + 4, words.begin()));
    EXPECT_EQ(placed[4], words[5]);
    words.resize(5);
    EXPECT_FALSE(has_perl_frames(words));
    EXPECT_EQ(place_perl_frames(words, perl_code, false), words);
    EXPECT_FALSE(has_perl_frames(perl_stack("XLR!")));
    EXPECT_FALSE(has_perl_frames({}));
}

// A pair that was cut in two, or a frame.
TEST(PerlPlaces, OfWhatIsLeftOfAFrame) {
    auto words = perl_stack("XLRab!");
    words.erase(words.end() - 3, words.end() - 1);
    const auto placed = place_perl_frames(words, perl_code, false);
    EXPECT_EQ(placed.size(), words.size());
    EXPECT_EQ(placed.back(), words.back());
    auto half = perl_stack("XLRa");
    half.pop_back();
    EXPECT_EQ(place_perl_frames(half, perl_code, false).size(), 5u);
}

} // namespace
} // namespace auger
