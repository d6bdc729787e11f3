// SPDX-License-Identifier: GPL-3.0-or-later
// Tables against libdw, at the first and the last address of every range in which libdw has one
// rule: all of the code of Debian's libraries, of our programs, and of code made to be difficult.
#include "loader_unwind_truth.h"

#include "loader/process/safe_open.h"
#include "loader/symbols/vdso.h"
#include "loader/unwind/unwind_compiler.h"

#include <gtest/gtest.h>

#include <gelf.h>
#include <libelf.h>

#include <cstdlib>
#include <filesystem>

namespace auger {
namespace {

struct Comparison {
    size_t places = 0;
    size_t unsupported = 0; // libdw can say it, tables cannot
    size_t lost = 0;        // a register, likewise
    std::string differences;

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

// Where libdw knows nothing, neither do tables, but for what fills up to the next function.
void compare_uncovered(Comparison& comparison, Dwarf_CFI* cfi, uint64_t address,
                       const UnwindTables& tables) {
    if (!tables.find(address))
        return;
    Dwarf_Frame* next = nullptr;
    if (dwarf_cfi_addrframe(cfi, (address + 15) & ~uint64_t{15}, &next) != 0)
        return comparison.differ(address, "covered");
    std::free(next);
}

void compare_section(Comparison& comparison, Dwarf_CFI* cfi, uint64_t begin, uint64_t end,
                     const UnwindTables& tables) {
    for (uint64_t address = begin; address < end;) {
        Dwarf_Frame* frame = nullptr;
        if (dwarf_cfi_addrframe(cfi, address, &frame) != 0) {
            compare_uncovered(comparison, cfi, address++, tables);
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
    for (const UnwindTable& table : tables->tables)
        if (!table.valid())
            comparison.differences += "invalid table\n";
    elf_version(EV_CURRENT);
    Elf* elf = elf_begin(file.fd(), ELF_C_READ, nullptr);
    Dwarf_CFI* cfi = dwarf_getcfi_elf(elf);
    Dwarf* dwarf = nullptr;
    if (!cfi) {
        dwarf = dwarf_begin_elf(elf, DWARF_C_READ, nullptr);
        cfi = dwarf_getcfi(dwarf);
    }
    for (Elf_Scn* section = nullptr; cfi && (section = elf_nextscn(elf, section));) {
        GElf_Shdr header;
        gelf_getshdr(section, &header);
        if (header.sh_flags & SHF_EXECINSTR)
            compare_section(comparison, cfi, header.sh_addr, header.sh_addr + header.sh_size,
                            *tables);
    }
    if (dwarf)
        dwarf_end(dwarf);
    else
        dwarf_cfi_end(cfi);
    elf_end(elf);
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

TEST(UnwindLibdw, ProgramsOfTheTests) {
    size_t files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(AUGER_PROGRAMS_DIR)) {
        const auto file = entry.is_regular_file() ? open_file(entry.path()) : nullptr;
        if (!file || entry.path().extension() == ".debug")
            continue;
        ++files;
        EXPECT_EQ(compare_file(*file).differences, "") << entry.path();
    }
    EXPECT_GT(files, 10u);
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
