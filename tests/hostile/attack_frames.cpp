// SPDX-License-Identifier: GPL-3.0-or-later
// Files whose call frame information, or Go's table in its place, is nonsense or endless.
#include "tests/hostile/attack_files.h"

#include <dwarf.h>

#include <algorithm>
#include <random>

namespace auger::test {
namespace {

class Bytes {
  public:
    template <typename Number>
    Bytes& number(Number value) {
        text_.append(reinterpret_cast<const char*>(&value), sizeof value);
        return *this;
    }
    Bytes& add(const std::string& text) {
        text_ += text;
        return *this;
    }
    Bytes& fill_to(size_t size) {
        text_.resize(std::max(size, text_.size()));
        return *this;
    }
    const std::string& text() const { return text_; }

  private:
    std::string text_;
};

// A common entry with plain addresses: CFA = rsp + 8, the return address below it.
std::string common_entry() {
    const std::string body("\1zR\0\1\x78\x10\1\0"
                           "\x0c\7\x08\x90\1\0\0\0\0",
                           18);
    Bytes entry;
    entry.number(static_cast<uint32_t>(4 + body.size())).number<uint32_t>(0).add(body);
    return entry.text();
}

// What every function here is: the whole page of code.
void add_function(std::string& section, const std::string& instructions) {
    Bytes body;
    body.number(static_cast<uint32_t>(section.size() + 4)) // back to the common entry, at 0
        .number(ElfImage::code_offset)
        .number(ElfImage::code_size)
        .number<uint8_t>(0)
        .add(instructions);
    section += Bytes().number(static_cast<uint32_t>(body.text().size())).add(body.text()).text();
}

std::string file_with_frames(const std::string& path, const std::string& section) {
    ElfImage image(path);
    const std::string text("\0.eh_frame\0.strtab\0", 19);
    const size_t names = image.section(SHT_STRTAB, image.add(text), text.size(), 0, 0, 11);
    const uint64_t at = image.add(section);
    image.header(image.section(SHT_PROGBITS, at, section.size(), 0, SHF_ALLOC)).sh_addr = at;
    image.finish(names);
    return path;
}

// Thousands of functions in one place, of instructions at random.
std::string random_frames() {
    std::mt19937_64 random(15);
    std::string section = common_entry();
    for (int i = 0; i < 20'000; ++i) {
        std::string instructions(random() % 64, '\0');
        for (char& byte : instructions)
            byte = static_cast<char>(random());
        add_function(section, instructions);
    }
    section += std::string("\xf0\xff\xff\x7f", 4); // an entry of two gigabytes
    return section;
}

// One function with a row for every byte of it, and hundreds of states for each row.
std::string endless_frames() {
    std::string instructions;
    while (instructions.size() < 8 * megabyte)
        instructions += {DW_CFA_advance_loc1, instructions.size() % 2048 ? '\0' : '\1',
                         DW_CFA_def_cfa_offset, static_cast<char>(instructions.size() / 4 % 128)};
    std::string section = common_entry();
    add_function(section, instructions);
    return section;
}

// States that are remembered and never wanted again.
std::string remembering_frames() {
    std::string section = common_entry();
    add_function(section, std::string(8 * megabyte, DW_CFA_remember_state));
    return section;
}

} // namespace

Paths nonsense_to_unwind_by(const std::string& folder) {
    return {file_with_frames(folder + "/random-frames", random_frames()),
            file_with_frames(folder + "/endless-frames", endless_frames()),
            file_with_frames(folder + "/remembering-frames", remembering_frames())};
}

Paths many_go_functions(const std::string& folder) {
    // As Go 1.20 has it: functions of 8 kB, one after the other, for gigabytes of code that the
    // file does not have. All have one description, and so one program, of as many rows as are read
    // of one.
    constexpr uint32_t magic = 0xfffffff1, rows = 4096;
    constexpr uint64_t functions = uint64_t{1} << 20, header = 128;
    constexpr uint32_t length = 8192; // more than it has rows
    const uint64_t list = functions * 8 + 4;
    Bytes table;
    table.number(magic).number<uint32_t>(0x08010000).number(functions).number<uint64_t>(0);
    table.number(ElfImage::code_offset); // what addresses are counted from
    // Names, compilation units, files, programs, functions: names and programs behind the list.
    const uint64_t behind = header + list + 64;
    for (const uint64_t part : {behind, behind, behind, behind, header})
        table.number(part);
    table.fill_to(header);
    for (uint64_t i = 0; i < functions; ++i)
        table.number(static_cast<uint32_t>(i * length % 0xffff0000))
            .number(static_cast<uint32_t>(list));
    table.number(static_cast<uint32_t>(functions * length % 0xffff0000));
    // Its address, where its name is, arguments, where panics go on, its program.
    table.number<uint32_t>(0).number<uint32_t>(1).number<uint64_t>(0).number<uint32_t>(16);
    table.fill_to(behind);
    table.add(std::string("\0evil_go\0", 9)).fill_to(behind + 16);
    table.add(std::string("\2\1", 2)); // 1 more byte, for 1 instruction
    for (uint32_t i = 1; i < rows; ++i)
        table.add(i % 2 ? "\4\1" : "\3\1"); // 2 more, 2 fewer
    table.number<uint16_t>(0);

    const std::string path = folder + "/go-table";
    ElfImage image(path);
    const std::string text("\0.gopclntab\0.text\0.strtab\0", 26);
    const size_t names = image.section(SHT_STRTAB, image.add(text), text.size(), 0, 0, 18);
    const uint64_t at = image.add(table.text());
    image.header(image.section(SHT_PROGBITS, at, table.text().size(), 0, SHF_ALLOC)).sh_addr = at;
    const size_t code = image.section(SHT_PROGBITS, ElfImage::code_offset, ElfImage::code_size, 0,
                                      SHF_ALLOC | SHF_EXECINSTR, 12);
    image.header(code).sh_addr = ElfImage::code_offset;
    image.finish(names);
    return {path};
}

} // namespace auger::test
