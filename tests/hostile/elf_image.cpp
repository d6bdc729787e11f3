// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/hostile/elf_image.h"

#include "tests/hostile/attack_code.h"
#include "tests/support/elf_header.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

namespace auger::test {
namespace {

[[noreturn]] void fail(const char* what) {
    throw std::system_error(errno, std::generic_category(), what);
}

} // namespace

ElfImage::ElfImage(const std::string& path)
    : fd_(::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644)),
      end_(code_offset + code_size) {
    if (fd_ < 0)
        fail(path.c_str());
    std::vector<uint8_t> code(code_size, 0xcc);
    std::memcpy(code.data(), attack_code, sizeof attack_code);
    write(code.data(), code.size(), code_offset);
}

ElfImage::~ElfImage() {
    close(fd_);
}

void ElfImage::write(const void* bytes, size_t size, uint64_t offset) {
    for (size_t done = 0; done < size;) {
        const ssize_t now = pwrite(fd_, static_cast<const char*>(bytes) + done, size - done,
                                   static_cast<off_t>(offset + done));
        if (now <= 0)
            fail("write an ELF file");
        done += static_cast<size_t>(now);
    }
}

uint64_t ElfImage::add(const void* bytes, size_t size) {
    const uint64_t at = end_;
    write(bytes, size, at);
    end_ += size;
    return at;
}

uint64_t ElfImage::add_hole(uint64_t size) {
    const uint64_t at = end_;
    end_ += size;
    if (ftruncate(fd_, static_cast<off_t>(end_)) != 0)
        fail("make a hole");
    return at;
}

size_t ElfImage::section(uint32_t type, uint64_t offset, uint64_t size, uint32_t link,
                         uint64_t flags, uint32_t name) {
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

void ElfImage::finish(size_t names) {
    Elf64_Phdr code{};
    code.p_type = PT_LOAD;
    code.p_flags = PF_R | PF_X;
    code.p_offset = code.p_vaddr = code.p_paddr = code_offset;
    code.p_filesz = code.p_memsz = code_size;
    code.p_align = code_size;
    Elf64_Ehdr header = elf_header();
    header.e_phoff = sizeof header;
    header.e_phnum = 1;
    header.e_shnum = static_cast<Elf64_Half>(sections_.size());
    header.e_shstrndx = static_cast<Elf64_Half>(names);
    header.e_shoff = add(sections_.data(), sections_.size() * sizeof(Elf64_Shdr));
    write(&header, sizeof header, 0);
    write(&code, sizeof code, header.e_phoff);
}

} // namespace auger::test
