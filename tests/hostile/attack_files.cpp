// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/hostile/attack_files.h"

#include <zlib.h>

#include <stdexcept>

namespace auger::test {
namespace {

// What deflates to nearly nothing: one megabyte of zeros again and again, each by itself.
std::string packed_zeros(uint64_t size) {
    z_stream stream{};
    if (deflateInit(&stream, 9) != Z_OK)
        throw std::runtime_error("deflateInit");
    std::string zeros(megabyte, '\0');
    const auto next = [&] {
        std::string packed(megabyte, '\0');
        stream.next_in = reinterpret_cast<Bytef*>(zeros.data());
        stream.avail_in = static_cast<uInt>(zeros.size());
        stream.next_out = reinterpret_cast<Bytef*>(packed.data());
        stream.avail_out = static_cast<uInt>(packed.size());
        if (deflate(&stream, Z_FULL_FLUSH) != Z_OK)
            throw std::runtime_error("deflate");
        packed.resize(packed.size() - stream.avail_out);
        return packed;
    };
    std::string all = next(); // with the header
    const std::string more = next();
    deflateEnd(&stream);
    for (uint64_t done = megabyte; done < size; done += megabyte)
        all += more;
    return all;
}

} // namespace

Paths many_sections_of_one_long_name(const std::string& folder) {
    const std::string path = folder + "/sections";
    ElfImage image(path);
    const std::string name(100'000, 's');
    const uint64_t at = image.add('\0' + name + '\0');
    const size_t names = image.section(SHT_STRTAB, at, name.size() + 2);
    for (int i = 0; i < 60'000; ++i)
        image.section(SHT_PROGBITS, 0, 0);
    image.finish(names);
    return {path};
}

Paths many_libraries_whose_names_overlap(const std::string& folder) {
    const std::string path = folder + "/libraries";
    ElfImage image(path);
    const std::string text(megabyte, 'l');
    std::vector<Elf64_Dyn> entries(65'535);
    for (size_t i = 0; i < entries.size(); ++i) {
        entries[i].d_tag = DT_NEEDED;
        entries[i].d_un.d_val = i;
    }
    const uint64_t at = image.add(text + '\0');
    const size_t names = image.section(SHT_STRTAB, at, text.size() + 1);
    image.section(SHT_DYNAMIC, image.add(entries.data(), entries.size() * sizeof(Elf64_Dyn)),
                  entries.size() * sizeof(Elf64_Dyn), static_cast<uint32_t>(names));
    image.finish(names);
    return {path};
}

Paths holes_for_tables_of_strings(const std::string& folder) {
    Paths paths;
    for (int i = 0; i < 16; ++i) {
        paths.push_back(folder + "/hole" + std::to_string(i));
        ElfImage image(paths.back());
        const Elf64_Sym symbols[2] = {};
        const uint64_t at = image.add(symbols, sizeof symbols);
        const size_t names =
            image.section(SHT_STRTAB, image.add_hole(510 * megabyte), 510 * megabyte);
        image.section(SHT_SYMTAB, at, sizeof symbols, static_cast<uint32_t>(names));
        image.finish(names);
    }
    return paths;
}

Paths many_functions_whose_names_overlap(const std::string& folder) {
    const std::string path = folder + "/functions";
    ElfImage image(path);
    const std::string text(50 * megabyte, 'f');
    std::vector<Elf64_Sym> symbols(200);
    for (size_t i = 1; i < symbols.size(); ++i) {
        symbols[i].st_name = static_cast<Elf64_Word>(i);
        symbols[i].st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
        symbols[i].st_shndx = 1;
        symbols[i].st_value = ElfImage::code_offset + i;
    }
    const uint64_t at = image.add(text + '\0');
    const size_t names = image.section(SHT_STRTAB, at, text.size() + 1);
    image.section(SHT_SYMTAB, image.add(symbols.data(), symbols.size() * sizeof(Elf64_Sym)),
                  symbols.size() * sizeof(Elf64_Sym), static_cast<uint32_t>(names));
    image.finish(names);
    return {path};
}

Paths compressed_names_of_sections(const std::string& folder, uint64_t size) {
    const std::string path = folder + "/compressed";
    ElfImage image(path);
    Elf64_Chdr header{};
    header.ch_type = ELFCOMPRESS_ZLIB;
    header.ch_size = size;
    header.ch_addralign = 1;
    // It ends too early: libelf keeps nothing of what it has inflated, and does so at every
    // look-up.
    const std::string content =
        std::string(reinterpret_cast<const char*>(&header), sizeof header) + packed_zeros(size);
    const size_t names =
        image.section(SHT_STRTAB, image.add(content), content.size(), 0, SHF_COMPRESSED);
    for (int i = 0; i < 2'000; ++i)
        image.section(SHT_PROGBITS, 0, 0);
    image.finish(names);
    return {path};
}

Paths debug_link_to_a_terabyte(const std::string& folder) {
    const std::string path = folder + "/linking";
    ElfImage image(path);
    const std::string text = std::string("\0.gnu_debuglink\0.strtab\0", 24);
    const std::string link = std::string("sparse\0\0\1\2\3\4", 12);
    const size_t names = image.section(SHT_STRTAB, image.add(text), text.size(), 0, 0, 16);
    image.section(SHT_PROGBITS, image.add(link), link.size());
    image.finish(names);
    ElfImage sparse(folder + "/sparse");
    sparse.finish(sparse.section(SHT_STRTAB, 0, 0));
    sparse.add_hole(megabyte << 20);
    return {path};
}

Paths many_files(const std::string& folder) {
    Paths paths;
    for (int i = 0; i < 3'000; ++i) {
        paths.push_back(folder + "/many" + std::to_string(i));
        ElfImage image(paths.back());
        image.finish(image.section(SHT_STRTAB, 0, 0));
    }
    return paths;
}

std::span<const AttackFiles> all_attack_files() {
    static constexpr AttackFiles all[] = {
        {"sections", many_sections_of_one_long_name},
        {"libraries", many_libraries_whose_names_overlap},
        {"holes", holes_for_tables_of_strings},
        {"functions", many_functions_whose_names_overlap},
        {"compressed",
         [](const std::string& folder) {
             return compressed_names_of_sections(folder, 2048 * megabyte);
         }},
        {"debug-link", debug_link_to_a_terabyte},
        {"frames", nonsense_to_unwind_by},
        {"go-table", many_go_functions},
        {"many", many_files},
    };
    return all;
}

} // namespace auger::test
