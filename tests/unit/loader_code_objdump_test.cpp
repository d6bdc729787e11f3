// SPDX-License-Identifier: GPL-3.0-or-later
// A second opinion: instruction boundaries and exits of real files beside what objdump reads.
#include "loader/reader/code/function_code.h"
#include "loader/reader/elf/function_index.h"

#include <fcntl.h>
#include <gmock/gmock.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace auger {
namespace {

// Address -> mnemonic and operands.
std::map<uint64_t, std::string> disassemble(const std::string& path) {
    std::map<uint64_t, std::string> lines;
    std::string command = "objdump -d --no-show-raw-insn '" + path + "' 2>/dev/null";
    std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
    char line[512];
    while (pipe && std::fgets(line, sizeof line, pipe.get())) {
        char* end;
        uint64_t address = std::strtoull(line, &end, 16);
        if (line[0] == ' ' && end[0] == ':' && end[1] == '\t')
            lines[address] = end + 2;
    }
    return lines;
}

// Addresses of functions of which the file's symbols tell the size, by readelf.
std::set<uint64_t> functions_with_sizes(const std::string& path) {
    std::set<uint64_t> addresses;
    std::string command = "readelf --wide --symbols '" + path + "' 2>/dev/null";
    std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
    char line[1024];
    while (pipe && std::fgets(line, sizeof line, pipe.get())) {
        // 12: 0000000000001139    11 FUNC    GLOBAL DEFAULT   15 name
        char value[32], size[32], type[16], section[16];
        if (std::sscanf(line, " %*[0-9]: %31s %31s %15s %*s %*s %15s", value, size, type,
                        section) != 4)
            continue;
        const std::string_view kind = type;
        if ((kind == "FUNC" || kind == "IFUNC") && std::string_view(section) != "UND" &&
            std::strtoull(size, nullptr, 0) != 0) // decimal, or 0x and hexadecimal
            addresses.insert(std::strtoull(value, nullptr, 16));
    }
    return addresses;
}

// What need not be understood, by what objdump reads: it only returns, or jumps behind a prefix.
bool is_odd(const std::map<uint64_t, std::string>& lines, uint64_t address, uint64_t end) {
    size_t instructions = 0;
    for (auto at = lines.lower_bound(address); at != lines.end() && at->first < end; ++at) {
        const std::string& text = at->second;
        instructions += !text.starts_with("endbr") && !text.starts_with("nop");
        if (!text.starts_with("j"))
            continue;
        const uint64_t target = std::strtoull(text.c_str() + text.find(' '), nullptr, 16);
        if (target >= address && target < end && !lines.contains(target))
            return true;
    }
    return instructions <= 1;
}

void compare(const std::string& path) {
    std::map<uint64_t, std::string> lines = disassemble(path);
    if (lines.empty() && std::system("objdump --version > /dev/null 2>&1") != 0)
        GTEST_SKIP() << "no objdump here";
    ASSERT_FALSE(lines.empty());
    auto file = ElfFile::open(UniqueFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC)), path);
    ASSERT_TRUE(file.ok());
    FunctionIndex index(*file);
    auto read = [&](uint64_t address, size_t size) { return (*file)->read_code(address, size); };
    std::set<uint64_t> expected = functions_with_sizes(path);
    ASSERT_FALSE(expected.empty());
    size_t compared = 0, odd = 0, guessed = 0;
    std::vector<std::string> refused;
    for (const FunctionIndex::Function& function : index.functions()) {
        std::vector<std::byte> body = read(function.address, function.size);
        Result<FunctionCode> code = analyse_function({function.address, body}, {}, read);
        if (function.size_guessed) {
            guessed++;
            continue;
        }
        EXPECT_EQ(expected.erase(function.address), 1u) << index.best_name(function);
        if (!code && is_odd(lines, function.address, function.address + function.size)) {
            odd++;
            continue;
        }
        if (!code) {
            refused.push_back(std::string(index.best_name(function)) + ": " + code.error().cause);
            continue;
        }
        std::vector<uint64_t> boundaries, returns, found;
        uint64_t end = function.address + function.size;
        for (auto at = lines.lower_bound(function.address); at != lines.end() && at->first < end;
             ++at) {
            boundaries.push_back(at->first);
            std::string text = at->second;
            for (const char* prefix : {"repz ", "bnd "})
                if (text.starts_with(prefix))
                    text.erase(0, std::string(prefix).size());
            if (text.starts_with("ret"))
                returns.push_back(at->first);
        }
        for (const CodeExit& exit : code->exits)
            if (exit.kind == ExitKind::ret)
                found.push_back(exit.address);
        EXPECT_EQ(code->boundaries, boundaries) << index.best_name(function);
        EXPECT_EQ(found, returns) << index.best_name(function);
        ++compared;
    }
    // Each function that another reader of the file knows was looked at, and no other.
    EXPECT_THAT(expected, testing::IsEmpty());
    EXPECT_EQ(compared, index.functions().size() - guessed - odd);
    EXPECT_THAT(refused, testing::IsEmpty());
    std::printf("%zu functions: %zu compared, %zu odd, %zu of a guessed size\n",
                index.functions().size(), compared, odd, guessed);
}

TEST(CodeBesideObjdump, Fixture) {
    compare(std::string(AUGER_FIXTURES_DIR) + "/fixture_functions");
}

TEST(CodeBesideObjdump, DynamicLoader) {
    compare("/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2");
}

} // namespace
} // namespace auger
