// SPDX-License-Identifier: GPL-3.0-or-later
// ELF files of a few kilobytes that claim to have gigabytes. Each is read in a process of its own
// that may have a few hundred megabytes more and some seconds of processor time. Not built with the
// address sanitizer, which reserves more than any bound.
#include "loader/process/safe_open.h"
#include "loader/reader/elf/elf_file.h"
#include "loader/reader/names/elf_questions.h"
#include "tests/support/temporary_folder.h"

#include <gtest/gtest.h>

#include <elf.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include <cstring>
#include <exception>
#include <functional>
#include <string>
#include <vector>

namespace auger {
namespace {

constexpr uint64_t megabyte = uint64_t{1} << 20;

// A file that is written where something is said, and has holes elsewhere.
class Image {
  public:
    explicit Image(const std::string& path)
        : fd_(::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC, 0644)) {}
    ~Image() { close(fd_); }
    // Returns where it is.
    uint64_t add(const void* bytes, size_t size) {
        const uint64_t at = end_;
        EXPECT_EQ(pwrite(fd_, bytes, size, static_cast<off_t>(at)), static_cast<ssize_t>(size));
        end_ += size;
        return at;
    }
    uint64_t add(const std::string& bytes) { return add(bytes.data(), bytes.size()); }
    uint64_t add_hole(uint64_t size) {
        const uint64_t at = end_;
        end_ += size;
        EXPECT_EQ(ftruncate(fd_, static_cast<off_t>(end_)), 0);
        return at;
    }
    size_t section(uint32_t type, uint64_t offset, uint64_t size, uint32_t link = 0,
                   uint64_t flags = 0, uint32_t name = 1) {
        Elf64_Shdr header{};
        header.sh_name = name;
        header.sh_type = type;
        header.sh_offset = offset;
        header.sh_size = size;
        header.sh_link = link;
        header.sh_flags = flags;
        header.sh_entsize = type == SHT_SYMTAB ? sizeof(Elf64_Sym) : 0;
        sections_.push_back(header);
        return sections_.size() - 1;
    }
    void finish(size_t names) {
        Elf64_Ehdr header{};
        std::memcpy(header.e_ident, ELFMAG, SELFMAG);
        header.e_ident[EI_CLASS] = ELFCLASS64;
        header.e_ident[EI_DATA] = ELFDATA2LSB;
        header.e_ident[EI_VERSION] = EV_CURRENT;
        header.e_type = ET_DYN;
        header.e_machine = EM_X86_64;
        header.e_version = EV_CURRENT;
        header.e_ehsize = sizeof(header);
        header.e_shentsize = sizeof(Elf64_Shdr);
        header.e_shnum = static_cast<Elf64_Half>(sections_.size());
        header.e_shstrndx = static_cast<Elf64_Half>(names);
        header.e_shoff = add(sections_.data(), sections_.size() * sizeof(Elf64_Shdr));
        EXPECT_EQ(pwrite(fd_, &header, sizeof(header), 0), ssize_t{sizeof(header)});
    }

  private:
    int fd_;
    uint64_t end_ = sizeof(Elf64_Ehdr);
    std::vector<Elf64_Shdr> sections_{1};
};

// All that is read of a file before anybody asks for more.
void read_whole(const ElfFile& file) {
    size_t bytes = file.needed().size() + file.imports().size() + file.build_id().size();
    for (const ElfFunction& function : file.functions())
        bytes += std::string(function.name).size();
    EXPECT_FALSE(file.section(".none"));
    EXPECT_EQ(file.read_section(".none", megabyte).size(), 0u);
    EXPECT_LT(bytes, 200 * megabyte);
}

std::shared_ptr<const ElfFile> open_elf(const std::string& path) {
    auto file = ElfFile::open(std::move(*open_regular(path)), path);
    return file ? *file : nullptr;
}

class ElfLimits : public testing::Test {
  protected:
    // What becomes of a process that does this.
    static void within_bounds(const std::function<void()>& work) {
        const pid_t child = fork();
        if (child == 0) {
            const rlimit memory = {600 * megabyte, 600 * megabyte}, time = {20, 20};
            setrlimit(RLIMIT_AS, &memory);
            setrlimit(RLIMIT_CPU, &time);
            try {
                work();
            } catch (const std::exception& error) {
                ADD_FAILURE() << error.what();
            }
            _exit(testing::Test::HasFailure() ? 1 : 0);
        }
        int status = -1;
        ASSERT_EQ(waitpid(child, &status, 0), child);
        EXPECT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
        EXPECT_EQ(WEXITSTATUS(status), 0);
    }
    void read_within_bounds(const std::string& name) {
        within_bounds([&] {
            if (const auto file = open_elf(folder_.path(name)))
                read_whole(*file);
        });
    }

    test::TemporaryFolder folder_;
};

TEST_F(ElfLimits, ManySectionsOfOneLongName) {
    Image image(folder_.path("sections"));
    const std::string name(100'000, 's');
    const uint64_t at = image.add('\0' + name + '\0');
    const size_t names = image.section(SHT_STRTAB, at, name.size() + 2);
    for (int i = 0; i < 60'000; ++i)
        image.section(SHT_PROGBITS, 0, 0);
    image.finish(names);
    read_within_bounds("sections");
}

TEST_F(ElfLimits, ManyLibrariesWhoseNamesOverlap) {
    Image image(folder_.path("libraries"));
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
    read_within_bounds("libraries");
}

TEST_F(ElfLimits, HolesForTablesOfStrings) {
    std::vector<std::string> paths;
    for (int i = 0; i < 16; ++i) {
        paths.push_back(folder_.path("hole" + std::to_string(i)));
        Image image(paths.back());
        const Elf64_Sym symbols[2] = {};
        const uint64_t at = image.add(symbols, sizeof(symbols));
        const size_t names =
            image.section(SHT_STRTAB, image.add_hole(510 * megabyte), 510 * megabyte);
        image.section(SHT_SYMTAB, at, sizeof(symbols), static_cast<uint32_t>(names));
        image.finish(names);
    }
    within_bounds([&] {
        std::vector<std::shared_ptr<const ElfFile>> files;
        for (const std::string& path : paths) {
            files.push_back(open_elf(path));
            ASSERT_TRUE(files.back());
            read_whole(*files.back());
        }
    });
}

TEST_F(ElfLimits, ManyFunctionsWhoseNamesOverlap) {
    Image image(folder_.path("functions"));
    const std::string text(50 * megabyte, 'f');
    std::vector<Elf64_Sym> symbols(200);
    for (size_t i = 1; i < symbols.size(); ++i) {
        symbols[i].st_name = static_cast<Elf64_Word>(i);
        symbols[i].st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
        symbols[i].st_shndx = 1;
        symbols[i].st_value = 0x1000 + i;
    }
    const uint64_t at = image.add(text + '\0');
    const size_t names = image.section(SHT_STRTAB, at, text.size() + 1);
    image.section(SHT_SYMTAB, image.add(symbols.data(), symbols.size() * sizeof(Elf64_Sym)),
                  symbols.size() * sizeof(Elf64_Sym), static_cast<uint32_t>(names));
    image.finish(names);
    read_within_bounds("functions");
}

TEST_F(ElfLimits, CompressedNamesOfSections) {
    Image image(folder_.path("compressed"));
    constexpr uint64_t size = 200 * megabyte;
    // One megabyte of zeros at a time.
    z_stream stream{};
    ASSERT_EQ(deflateInit(&stream, 1), Z_OK);
    std::string packed(8 * megabyte, '\0'), zeros(megabyte, '\0');
    stream.next_out = reinterpret_cast<Bytef*>(packed.data());
    stream.avail_out = static_cast<uInt>(packed.size());
    for (uint64_t done = 0; done < size; done += zeros.size()) {
        stream.next_in = reinterpret_cast<Bytef*>(zeros.data());
        stream.avail_in = static_cast<uInt>(zeros.size());
        ASSERT_GE(deflate(&stream, done + zeros.size() == size ? Z_FINISH : Z_NO_FLUSH), 0);
    }
    // It ends too early: libelf keeps nothing of what it has inflated, and does so at every
    // look-up.
    packed.resize(stream.total_out - 100);
    deflateEnd(&stream);
    Elf64_Chdr header{};
    header.ch_type = ELFCOMPRESS_ZLIB;
    header.ch_size = size;
    header.ch_addralign = 1;
    const std::string content =
        std::string(reinterpret_cast<const char*>(&header), sizeof(header)) + packed;
    const size_t names =
        image.section(SHT_STRTAB, image.add(content), content.size(), 0, SHF_COMPRESSED);
    for (int i = 0; i < 2'000; ++i)
        image.section(SHT_PROGBITS, 0, 0);
    image.finish(names);
    read_within_bounds("compressed");
}

TEST_F(ElfLimits, ADebugLinkToATerabyte) {
    {
        Image image(folder_.path("linking"));
        const std::string text = std::string("\0.gnu_debuglink\0.strtab\0", 24);
        const std::string link = std::string("sparse\0\0\1\2\3\4", 12);
        const size_t names = image.section(SHT_STRTAB, image.add(text), text.size());
        image.section(SHT_PROGBITS, image.add(link), link.size());
        image.finish(names);
        Image sparse(folder_.path("sparse"));
        sparse.finish(sparse.section(SHT_STRTAB, 0, 0));
        sparse.add_hole(megabyte << 20);
    }
    within_bounds([&] {
        const auto file = open_elf(folder_.path("linking"));
        ASSERT_TRUE(file && file->debug_link());
        const auto root = open_folder(folder_.path(""));
        DebugFolders folders;
        folders.own_root = root->get();
        EXPECT_FALSE(open_debug_file(*file, "/linking", folders));
    });
}

} // namespace
} // namespace auger
