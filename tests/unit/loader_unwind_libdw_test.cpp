// SPDX-License-Identifier: GPL-3.0-or-later
// Tables against libdw, at the first and the last address of every range in which libdw has one
// rule: all of the code of Debian's libraries, of our programs, and of code made to be difficult.
#include "tests/unit/loader_unwind_truth.h"

#include "loader/process/safe_open.h"
#include "loader/reader/tables/unwind_compiler.h"
#include "loader/symbols/vdso.h"

#include <gtest/gtest.h>

#include <gelf.h>
#include <libelf.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>

namespace auger {
namespace {

struct Comparison {
    size_t places = 0;
    size_t unsupported = 0;              // libdw can say it, tables cannot
    size_t lost = 0;                     // a register, likewise
    std::vector<wire_unwind_rule> rules; // of all tables
    std::string differences;

    size_t count(auto matches) const {
        return static_cast<size_t>(std::count_if(rules.begin(), rules.end(), matches));
    }
    void differ(uint64_t address, const char* what) {
        if (differences.size() < 500)
            differences += fmt(address) + ": " + what + "\n";
    }
    static std::string fmt(uint64_t address) {
        char text[32];
        std::snprintf(text, sizeof text, "%#lx", address);
        return text;
    }
};

void compare(Comparison& comparison, Dwarf_Frame* frame, uint64_t address, bool signal,
             const UnwindTables& tables) {
    ++comparison.places;
    const wire_unwind_rule* rule = tables.find(address);
    if (!rule)
        return comparison.differ(address, "not covered");
    const test::CallerFrame truth = test::caller_by_libdw(frame, address, signal);
    const test::CallerFrame ours = test::caller_by_rule(*rule, address);
    if (truth.signal || ours.signal) {
        if (truth.signal != ours.signal)
            comparison.differ(address, "signal");
        return;
    }
    if (rule->cfa == WIRE_CFA_UNSUPPORTED) {
        ++comparison.unsupported;
        return;
    }
    if (truth.outermost || ours.outermost) {
        if (truth.outermost != ours.outermost)
            comparison.differ(address, "outermost");
        return;
    }
    if (ours.cfa != truth.cfa)
        comparison.differ(address, "cfa");
    if (ours.rsp != truth.rsp)
        comparison.differ(address, "rsp");
    if (ours.return_address != truth.return_address)
        comparison.differ(address, "return address");
    const auto saved = [&](const auto& our_value, const auto& true_value, const char* name) {
        if (our_value && our_value != true_value)
            comparison.differ(address, name);
        if (!our_value && true_value)
            ++comparison.lost;
    };
    saved(ours.rbx, truth.rbx, "rbx");
    saved(ours.rbp, truth.rbp, "rbp");
}

// What libdw knows of a file: .eh_frame, and .debug_frame for what that does not cover.
class Libdw {
  public:
    explicit Libdw(const ElfFile& file) {
        elf_version(EV_CURRENT);
        elf_.reset(elf_begin(file.fd(), ELF_C_READ, nullptr));
        eh_frame_.reset(dwarf_getcfi_elf(elf_.get()));
        dwarf_.reset(dwarf_begin_elf(elf_.get(), DWARF_C_READ, nullptr));
        if (dwarf_)
            debug_frame_ = dwarf_getcfi(dwarf_.get());
    }
    // Null where nothing is known. To be freed.
    Dwarf_Frame* frame(uint64_t address) const {
        Dwarf_Frame* frame = nullptr;
        if (eh_frame_ && dwarf_cfi_addrframe(eh_frame_.get(), address, &frame) == 0)
            return frame;
        if (debug_frame_ && dwarf_cfi_addrframe(debug_frame_, address, &frame) == 0)
            return frame;
        return nullptr;
    }
    std::vector<std::pair<uint64_t, uint64_t>> code() const {
        std::vector<std::pair<uint64_t, uint64_t>> sections;
        for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf_.get(), section));) {
            GElf_Shdr header;
            gelf_getshdr(section, &header);
            if (header.sh_flags & SHF_EXECINSTR)
                sections.emplace_back(header.sh_addr, header.sh_addr + header.sh_size);
        }
        return sections;
    }

  private:
    template <auto Close>
    struct Closer {
        template <typename Handle>
        void operator()(Handle* handle) const {
            Close(handle);
        }
    };
    std::unique_ptr<Elf, Closer<elf_end>> elf_;
    std::unique_ptr<Dwarf_CFI, Closer<dwarf_cfi_end>> eh_frame_;
    std::unique_ptr<Dwarf, Closer<dwarf_end>> dwarf_;
    Dwarf_CFI* debug_frame_ = nullptr; // dwarf_'s
};

// Where libdw knows nothing, neither do tables, but for what fills up to the next function, and
// what they are told by the code of files whose functions are not covered.
void compare_uncovered(Comparison& comparison, const Libdw& libdw, uint64_t address,
                       const UnwindTables& tables) {
    if (tables.statistics.code_functions > 0 || !tables.find(address))
        return;
    Dwarf_Frame* next = libdw.frame((address + 15) & ~uint64_t{15});
    if (!next)
        return comparison.differ(address, "covered");
    std::free(next);
}

void compare_code(Comparison& comparison, const Libdw& libdw, uint64_t begin, uint64_t end,
                  const UnwindTables& tables) {
    for (uint64_t address = begin; address < end;) {
        Dwarf_Frame* frame = libdw.frame(address);
        if (!frame) {
            compare_uncovered(comparison, libdw, address++, tables);
            continue;
        }
        Dwarf_Addr first = 0, last = 0;
        bool signal = false;
        dwarf_frame_info(frame, &first, &last, &signal);
        compare(comparison, frame, address, signal, tables);
        if (last - 1 > address)
            compare(comparison, frame, last - 1, signal, tables);
        address = std::max(last, address + 1);
        std::free(frame);
    }
}

Comparison compare_file(const ElfFile& file) {
    Comparison comparison;
    const auto tables = compile_unwind_tables(file);
    if (!tables) {
        comparison.differences = tables.error().message();
        return comparison;
    }
    for (const UnwindTable& table : tables->tables) {
        if (!table.valid())
            comparison.differences += "invalid table\n";
        for (const wire_unwind_rule& rule : table.rules)
            comparison.rules.push_back(rule);
    }
    const Libdw libdw(file);
    for (const auto& [begin, end] : libdw.code())
        compare_code(comparison, libdw, begin, end, *tables);
    return comparison;
}

std::shared_ptr<const ElfFile> open_file(const std::string& path) {
    auto fd = open_regular(path);
    if (!fd)
        return nullptr;
    auto file = ElfFile::open(std::move(*fd), path);
    return file ? *file : nullptr;
}

class UnwindLibraries : public testing::TestWithParam<const char*> {};

TEST_P(UnwindLibraries, SayWhatLibdwSays) {
    const auto file = open_file(GetParam());
    if (!file)
        GTEST_SKIP() << "not installed: " << GetParam();
    const Comparison comparison = compare_file(*file);
    EXPECT_EQ(comparison.differences, "");
    EXPECT_GT(comparison.places, 1000u);
    // longjmp, and one function of OpenSSL's that finds its CFA through an index.
    EXPECT_LE(comparison.unsupported * 1000, comparison.places);
    EXPECT_LE(comparison.lost * 1000, comparison.places);
    RecordProperty("places", std::to_string(comparison.places));
}

INSTANTIATE_TEST_SUITE_P(Debian, UnwindLibraries,
                         testing::Values("/lib/x86_64-linux-gnu/libc.so.6",
                                         "/lib64/ld-linux-x86-64.so.2",
                                         "/usr/lib/x86_64-linux-gnu/libstdc++.so.6",
                                         "/usr/lib/x86_64-linux-gnu/libcrypto.so.3"));

TEST(UnwindLibdw, EveryCompilerAndLinker) {
    size_t files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(AUGER_UNWIND_DIR)) {
        const auto file = open_file(entry.path());
        ASSERT_TRUE(file) << entry.path();
        ++files;
        const Comparison comparison = compare_file(*file);
        EXPECT_EQ(comparison.differences, "") << entry.path();
        EXPECT_GT(comparison.places, 150u) << entry.path();
        // instructions.S is part of all of them.
        const auto cfa = [](wire_cfa_kind kind) {
            return [kind](const wire_unwind_rule& rule) { return rule.cfa == kind; };
        };
        EXPECT_GE(comparison.count(cfa(WIRE_CFA_MEMORY)), 3u) << entry.path();
        EXPECT_EQ(comparison.count(cfa(WIRE_CFA_SIGNAL)), 1u) << entry.path();
        EXPECT_EQ(comparison.count(cfa(WIRE_CFA_END)), 1u) << entry.path();
        EXPECT_GE(comparison.count([](const wire_unwind_rule& rule) {
            return rule.rbp_saved == WIRE_SAVED_AT_RBP || rule.rbx_saved == WIRE_SAVED_AT_RBP;
        }),
                  2u)
            << entry.path();
        EXPECT_GE(comparison.count([](const wire_unwind_rule& rule) {
            return rule.return_kind == WIRE_RETURN_REGISTER;
        }),
                  1u)
            << entry.path();
        if (entry.path().filename().string().starts_with("lazy")) {
            EXPECT_EQ(comparison.count(cfa(WIRE_CFA_PLT)), 1u) << entry.path();
        }
    }
    EXPECT_GE(files, 15u);
}

TEST(UnwindLibdw, ProgramsOfTheTests) {
    size_t files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(AUGER_PROGRAMS_DIR)) {
        const auto file = entry.is_regular_file() ? open_file(entry.path()) : nullptr;
        // Go's functions are unwound by Go's own table, and its .debug_frame is not right about all
        // (kernel test GoStacks).
        if (!file || entry.path().extension() == ".debug" || file->is_go())
            continue;
        ++files;
        EXPECT_EQ(compare_file(*file).differences, "") << entry.path();
    }
    EXPECT_GT(files, 5u);
}

TEST(UnwindLibdw, Vdso) {
    auto image = vdso_image();
    if (!image)
        GTEST_SKIP() << image.error().message();
    const auto file = ElfFile::open(std::move(*image), "[vdso]");
    ASSERT_TRUE(file.ok()) << file.error().message();
    const Comparison comparison = compare_file(**file);
    EXPECT_EQ(comparison.differences, "");
    EXPECT_GT(comparison.places, 10u);
}

} // namespace
} // namespace auger
