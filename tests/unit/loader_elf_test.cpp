// SPDX-License-Identifier: GPL-3.0-or-later
// Honest and hostile ELF files, and the function index over them.
#include "loader/reader/elf/function_index.h"
#include "loader/reader/matching/inlined_copies.h"
#include "loader/reader/matching/probe_match.h"

#include <elf.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <random>

namespace auger {
namespace {

const std::string fixture = std::string(AUGER_FIXTURES_DIR) + "/fixture_functions";

std::string content_of(const std::string& path) {
    std::ifstream stream(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
}

UniqueFd file_with(std::string_view content) {
    UniqueFd fd(memfd_create("elf", MFD_CLOEXEC));
    EXPECT_EQ(write(fd.get(), content.data(), content.size()),
              static_cast<ssize_t>(content.size()));
    return fd;
}

Result<std::shared_ptr<const ElfFile>> open_path(const std::string& path) {
    return ElfFile::open(UniqueFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)), path);
}

// Uses everything that a probe uses.
size_t exercise(std::string_view content) {
    auto file = ElfFile::open(file_with(content), "hostile");
    if (!file)
        return 0;
    auto index = std::make_shared<FunctionIndex>(*file);
    size_t seen = (*file)->imports().size() + (*file)->needed().size();
    for (const FunctionIndex::Function& function : index->functions()) {
        seen += index->best_name(function).size() + index->cold_candidates(function).size();
        EXPECT_GT(function.size, 0u);
    }
    seen += (*file)->read_section(".text", 1 << 20).size();
    seen += (*file)->read_section(".debug_info", 1 << 20).size();
    ProbeModule module{index, "hostile", true};
    for (const char* text : {"*_*", "only_inlined"}) {
        Result<ProbeMatches> found =
            match_probe(*parse_probe(text).pattern, std::span(&module, 1), {});
        seen += found.ok();
    }
    return seen;
}

TEST(ElfFile, ReadsAProgram) {
    auto file = open_path(fixture);
    ASSERT_TRUE(file.ok()) << file.error().message();
    EXPECT_EQ((*file)->build_id().size(), 40u);
    EXPECT_TRUE((*file)->has_symbols());
    EXPECT_TRUE((*file)->dynamic());
    EXPECT_FALSE((*file)->is_go());
    EXPECT_TRUE((*file)->has_section(".text"));
    EXPECT_NE(std::find((*file)->needed().begin(), (*file)->needed().end(), "libc.so.6"),
              (*file)->needed().end());
    const auto& imports = (*file)->imports();
    EXPECT_NE(std::find(imports.begin(), imports.end(), "puts"), imports.end());
    for (const ElfSegment& segment : (*file)->segments()) {
        if (segment.file_size == 0)
            continue;
        EXPECT_EQ((*file)->offset_of_address(segment.address), segment.offset);
        EXPECT_EQ((*file)->address_of_offset(segment.offset + segment.file_size - 1),
                  segment.address + segment.file_size - 1);
    }
    EXPECT_FALSE((*file)->address_of_offset(~uint64_t{0}));
    EXPECT_TRUE((*file)->read_code(~uint64_t{0}, 16).empty());
}

TEST(ElfFile, RefusesWhatIsNoProgram) {
    EXPECT_FALSE(open_path("/etc/passwd").ok());
    EXPECT_FALSE(open_path("/dev/null").ok()); // a device
    std::string path = testing::TempDir() + "auger_fifo." + std::to_string(getpid());
    ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
    auto fifo = open_path(path);
    unlink(path.c_str());
    ASSERT_FALSE(fifo.ok());
    EXPECT_EQ(fifo.error().cause, "not a regular file");
    std::string arm = content_of(fixture);
    arm[offsetof(Elf64_Ehdr, e_machine)] = static_cast<char>(EM_AARCH64);
    EXPECT_FALSE(ElfFile::open(file_with(arm), "arm").ok());
}

TEST(ElfFile, SurvivesTruncation) {
    std::string whole = content_of(fixture);
    size_t complete = exercise(whole);
    EXPECT_GT(complete, 0u);
    for (size_t size = 0; size < whole.size(); size += 64) {
        // Between the headers and the tables nothing changes: every 64th byte there is enough.
        if (size > 8192 && size % 1024 != 0)
            continue;
        EXPECT_LE(exercise(std::string_view(whole).substr(0, size)), complete);
    }
}

TEST(ElfFile, SurvivesDamagedHeaders) {
    const std::string whole = content_of(fixture);
    Elf64_Ehdr header;
    std::memcpy(&header, whole.data(), sizeof header);
    std::mt19937 random(20240607);
    auto below = [&](size_t limit) { return random() % limit; };
    constexpr uint64_t nasty[] = {0,
                                  1,
                                  0x7f,
                                  0xff,
                                  0xffff,
                                  0x7fffffff,
                                  0xffffffff,
                                  ~uint64_t{0},
                                  ~uint64_t{0} >> 1,
                                  uint64_t{1} << 63};
    for (int round = 0; round < 400; ++round) {
        std::string damaged = whole;
        for (size_t changes = 1 + below(4); changes > 0; --changes) {
            size_t at = 0;
            switch (below(4)) {
            case 0:
                at = 16 + below(sizeof header - 16);
                break;
            case 1:
                at = header.e_phoff + below(header.e_phnum * sizeof(Elf64_Phdr));
                break;
            case 2:
                at = header.e_shoff + below(header.e_shnum * sizeof(Elf64_Shdr));
                break;
            default:
                at = below(damaged.size());
            }
            uint64_t value = nasty[below(std::size(nasty))];
            size_t size = std::min<size_t>(size_t{1} << below(4), damaged.size() - at);
            std::memcpy(damaged.data() + at, &value, size);
        }
        exercise(damaged);
    }
}

TEST(ElfFile, DoesNotInflateALie) {
    // A section that claims to hold 2 GB when inflated costs nothing.
    std::string whole = content_of(fixture);
    Elf64_Ehdr header;
    std::memcpy(&header, whole.data(), sizeof header);
    auto file = ElfFile::open(file_with(whole), "honest");
    ASSERT_TRUE(file.ok());
    ASSERT_FALSE((*file)->read_section(".text", 1 << 20).empty());
    EXPECT_TRUE((*file)->read_section(".text", 16).empty());
    for (size_t i = 0; i < header.e_shnum; ++i) {
        Elf64_Shdr section;
        size_t at = header.e_shoff + i * sizeof section;
        std::memcpy(&section, whole.data() + at, sizeof section);
        if (!(section.sh_flags & SHF_EXECINSTR) || section.sh_size < sizeof(Elf64_Chdr))
            continue;
        section.sh_flags |= SHF_COMPRESSED;
        section.sh_flags &= ~static_cast<uint64_t>(SHF_ALLOC);
        std::memcpy(whole.data() + at, &section, sizeof section);
        Elf64_Chdr claim{ELFCOMPRESS_ZLIB, 0, uint64_t{2} << 30, 1};
        std::memcpy(whole.data() + section.sh_offset, &claim, sizeof claim);
    }
    auto lying = ElfFile::open(file_with(whole), "lying");
    ASSERT_TRUE(lying.ok());
    EXPECT_TRUE((*lying)->read_section(".text", size_t{4} << 30).empty());
}

TEST(FunctionIndex, FindsByAddressAndName) {
    auto file = open_path(fixture);
    ASSERT_TRUE(file.ok());
    FunctionIndex index(*file);
    auto found = index.named("plain_function");
    ASSERT_EQ(found.size(), 1u);
    const FunctionIndex::Function* function = found[0];
    EXPECT_EQ(function->name_count, 2u); // and its alias
    EXPECT_EQ(index.containing(function->address), function);
    EXPECT_EQ(index.containing(function->address + function->size - 1), function);
    EXPECT_NE(index.containing(function->address + function->size), function);
    EXPECT_EQ(index.containing(0), nullptr);
    EXPECT_TRUE(index.named("plain").empty());
    // Sizes that assembly leaves out are repaired, and end before the next function.
    bool guessed = false;
    const auto& all = index.functions();
    for (size_t i = 0; i < all.size(); ++i) {
        EXPECT_GT(all[i].size, 0u);
        if (all[i].size_guessed && i + 1 < all.size()) {
            guessed = true;
            EXPECT_LE(all[i].address + all[i].size, all[i + 1].address);
        }
    }
    EXPECT_TRUE(guessed); // _init or deregister_tm_clones
    auto throwing = index.named("_Z16throws_when_coldi");
    ASSERT_EQ(throwing.size(), 1u);
    EXPECT_EQ(index.cold_candidates(*throwing[0]).size(), 1u);
}

} // namespace
} // namespace auger
