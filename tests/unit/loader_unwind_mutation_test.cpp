// SPDX-License-Identifier: GPL-3.0-or-later
// Real files and sections, changed at random but in the same way each time: bits, bytes that are
// often limits, parts of other files, other lengths. What is promised of hostile input is checked
// by the fuzz targets; libFuzzer goes deeper, this goes everywhere and under the sanitizers.
#include "tests/fuzz/fuzz_targets.h"

#include "loader/process/safe_open.h"
#include "loader/reader/elf/elf_file.h"
#include "loader/unwind/byte_cursor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <random>

namespace auger {
namespace {

using Input = std::vector<uint8_t>;

class Mutator {
  public:
    explicit Mutator(const std::vector<Input>& corpus) : corpus_(corpus) {}

    Input next() {
        Input input = any();
        for (size_t changes = 1 + random_() % 8; changes > 0; --changes)
            change(input);
        return input;
    }

  private:
    const Input& any() { return corpus_[random_() % corpus_.size()]; }
    size_t place(const Input& input) { return random_() % input.size(); }
    void change(Input& input) {
        static constexpr uint64_t limits[] = {0,
                                              1,
                                              0x7f,
                                              0x80,
                                              0xff,
                                              0x7fffffff,
                                              0x80000000,
                                              0xfffffffe,
                                              1u << 31,
                                              ~uint64_t{0},
                                              uint64_t{1} << 63};
        if (input.size() < 16)
            return;
        const size_t at = place(input);
        switch (random_() % 5) {
        case 0:
            input[at] ^= 1u << random_() % 8;
            break;
        case 1: {
            const uint64_t value = limits[random_() % std::size(limits)];
            std::memcpy(&input[at], &value,
                        std::min<size_t>(size_t{1} << random_() % 4, input.size() - at));
            break;
        }
        case 2: { // a part of another
            const Input& other = any();
            const size_t from = place(other);
            const size_t size = std::min({random_() % 256, other.size() - from, input.size() - at});
            std::copy_n(other.begin() + static_cast<ptrdiff_t>(from), size,
                        input.begin() + static_cast<ptrdiff_t>(at));
            break;
        }
        case 3: // an entry's length a little off
            input[at] = static_cast<uint8_t>(input[at] + (random_() % 2 ? 4 : -4));
            break;
        case 4:
            if (random_() % 8 == 0)
                input.resize(at);
            break;
        }
    }

    const std::vector<Input>& corpus_;
    std::mt19937_64 random_{1};
};

Input bytes_of(const std::string& path) {
    const auto fd = open_regular(path);
    const auto text = fd ? read_all(fd->get(), 16 << 20) : fd.error();
    return text ? Input(text->begin(), text->end()) : Input();
}

std::vector<std::string> programs() {
    std::vector<std::string> paths;
    for (const auto& entry : std::filesystem::directory_iterator(AUGER_UNWIND_DIR))
        paths.push_back(entry.path());
    std::sort(paths.begin(), paths.end());
    return paths;
}

TEST(UnwindMutations, Sections) {
    std::vector<Input> corpus;
    for (const std::string& path : programs()) {
        const auto fd = open_regular(path);
        ASSERT_TRUE(fd.ok());
        auto file = ElfFile::open(UniqueFd(dup(fd->get())), path);
        ASSERT_TRUE(file.ok());
        for (const uint8_t kind : {0, 1}) {
            const auto content =
                (*file)->read_section(kind == 0 ? ".eh_frame" : ".debug_frame", 1 << 20);
            if (content.empty())
                continue;
            Input& input = corpus.emplace_back(1, kind);
            const size_t size = std::min<size_t>(content.size(), 8000);
            for (const std::byte byte : Bytes(content).first(size))
                input.push_back(static_cast<uint8_t>(byte));
        }
    }
    ASSERT_GE(corpus.size(), 15u);
    Mutator mutator(corpus);
    for (int i = 0; i < 10000; ++i) {
        const Input input = mutator.next();
        test::fuzz_unwind_section(input.data(), input.size());
    }
}

TEST(UnwindMutations, Files) {
    std::vector<Input> corpus = {bytes_of(AUGER_GO_PROGRAM), bytes_of(AUGER_UNCOVERED_LIBRARY)};
    for (const std::string& path : programs())
        if (Input input = bytes_of(path); input.size() > 1000 && input.size() < 200'000)
            corpus.push_back(std::move(input));
    ASSERT_GE(corpus.size(), 10u);
    // Most of a file is code: the headers at both ends are where lies matter.
    Mutator mutator(corpus);
    std::mt19937_64 random(2);
    for (int i = 0; i < 300; ++i) {
        Input input = mutator.next();
        for (int change = 0; change < 4 && input.size() > 4096; ++change) {
            const size_t at = random() % 4096;
            input[random() % 2 ? at : input.size() - 1 - at] = static_cast<uint8_t>(random());
        }
        test::fuzz_elf_file(input.data(), input.size());
    }
}

} // namespace
} // namespace auger
