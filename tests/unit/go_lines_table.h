// SPDX-License-Identifier: GPL-3.0-or-later
// Go's table of functions with calls that were inlined, written byte by byte as each version of
// Go's linker does. One function, main.f, of 32 bytes:
//
//      0  main.f                        a.go:10, from the fourth byte on :11
//      8  main.middle, called at 4      b.go:21, from the twelfth byte on :22
//     16  main.inner, called at 10      a.go:31
//     24  main.f                        a.go:12
#pragma once

#include "tests/unit/loader_unwind_section_bytes.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace auger::test {

struct GoLinesVersion {
    const char* name;
    uint32_t magic;
    bool wide; // addresses, and the trees' own
    size_t description;
    bool short_calls;
};

inline constexpr GoLinesVersion go_lines_versions[] = {
    {"Go1_16", 0xfffffffa, true, 44, false},
    {"Go1_18", 0xfffffff0, false, 40, false},
    {"Go1_20", 0xfffffff1, false, 44, true},
};

struct GoLinesTable {
    static constexpr uint64_t begin = 0x401000, trees_at = 0x500000, tree_offset = 16;

    explicit GoLinesTable(const GoLinesVersion& version) {
        constexpr uint32_t names = 128, units = 192, files = 224, programs = 256, functions = 384;
        constexpr uint32_t described = 64;
        const auto fill_to = [this](size_t size) {
            while (table.size() < size)
                table.byte(0);
        };
        table.number(version.magic).raw({0, 0, 1, 8}).number<uint64_t>(1).number<uint64_t>(2);
        if (!version.wide)
            table.number(begin);
        for (const uint64_t part : {names, units, files, programs, functions})
            table.number(part);
        fill_to(names);
        table.text("main.f").text("main.middle").text("main.inner");
        fill_to(units);
        table.number<uint32_t>(0).number<uint32_t>(5);
        fill_to(files);
        table.text("a.go").text("b.go");
        fill_to(programs + 1);
        const uint32_t depths = program({{0, 32}}) - programs;
        const uint32_t numbers = program({{-1, 8}, {0, 8}, {1, 8}, {-1, 8}}) - programs;
        const uint32_t in_files = program({{0, 8}, {1, 8}, {0, 16}}) - programs;
        const uint32_t lines =
            program({{10, 4}, {11, 4}, {21, 4}, {22, 4}, {31, 8}, {12, 8}}) - programs;
        fill_to(functions);
        if (version.wide)
            table.number(begin).number<uint64_t>(described).number(begin + 32);
        else
            table.number<uint32_t>(0).number(described).number<uint32_t>(32);
        fill_to(functions + described);
        if (version.wide)
            table.number(begin);
        else
            table.number<uint32_t>(0);
        constexpr uint32_t name = 0, none = 0, kinds_of_values = 4, unit = 0;
        for (const uint32_t word :
             {name, none, none, depths, in_files, lines, kinds_of_values, unit})
            table.number(word);
        fill_to(functions + described + version.description - 1);
        table.byte(4); // of what else there is of the function, the tree the last
        for (const uint32_t values : {none, none, numbers, none})
            table.number(values);
        if (version.wide) {
            table.number<uint32_t>(0); // addresses are aligned
            for (const uint64_t address : {uint64_t{0}, uint64_t{0}, uint64_t{0}, tree_address()})
                table.number(address);
        } else {
            for (const uint32_t offset : {~0U, ~0U, ~0U, static_cast<uint32_t>(tree_offset)})
                table.number(offset);
        }
        call(version, 7, 4);
        call(version, 19, 10);
    }
    static constexpr uint64_t tree_address() { return trees_at + tree_offset; }

    // As GoInlineTrees reads the file.
    std::vector<std::byte> read(uint64_t address, size_t size) const {
        const Bytes bytes = tree;
        if (address < tree_address() || address - tree_address() > bytes.size())
            return {};
        const Bytes from = bytes.subspan(address - tree_address());
        return {from.begin(), from.begin() + static_cast<long>(std::min(size, from.size()))};
    }

    SectionBytes table;
    SectionBytes tree; // at tree_address()

  private:
    // Values, and for how many bytes they hold.
    uint32_t program(std::initializer_list<std::pair<int, unsigned>> values) {
        const auto at = static_cast<uint32_t>(table.size());
        int last = -1;
        for (const auto& [value, length] : values) {
            const int difference = value - std::exchange(last, value);
            table.byte(static_cast<unsigned>(difference < 0 ? -2 * difference - 1 : 2 * difference))
                .byte(length);
        }
        table.byte(0);
        return at;
    }
    void call(const GoLinesVersion& version, uint32_t name, uint32_t from) {
        if (version.short_calls)
            tree.number<uint32_t>(0).number(name).number(from).number<uint32_t>(1);
        else
            tree.number<uint32_t>(0).number<uint64_t>(0).number(name).number(from);
    }
};

} // namespace auger::test
