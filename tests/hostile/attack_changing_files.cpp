// SPDX-License-Identifier: GPL-3.0-or-later
// Files that are others at every look: they grow and shrink while they are read, or seem new each
// time they are mapped.
#include "tests/hostile/attack.h"
#include "tests/hostile/attack_files.h"
#include "tests/hostile/attack_mapping.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

namespace auger::test {
namespace {

// As many functions as make some megabytes, behind the code.
std::string large_file(const std::string& folder) {
    const std::string path = folder + "/changing";
    ElfImage image(path);
    const std::string text("\0evil_function\0", 15);
    const size_t names = image.section(SHT_STRTAB, image.add(text), text.size());
    std::vector<Elf64_Sym> symbols(200'000);
    for (size_t i = 1; i < symbols.size(); ++i) {
        symbols[i].st_name = 1;
        symbols[i].st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
        symbols[i].st_shndx = 1;
        symbols[i].st_value = ElfImage::code_offset + i % ElfImage::code_size;
        symbols[i].st_size = 1;
    }
    image.section(SHT_SYMTAB, image.add(symbols.data(), symbols.size() * sizeof(Elf64_Sym)),
                  symbols.size() * sizeof(Elf64_Sym), static_cast<uint32_t>(names));
    image.finish(names);
    return path;
}

int open_to_write(const std::string& path) {
    const int fd = open(path.c_str(), O_RDWR | O_CLOEXEC);
    if (fd < 0)
        fail("open " + path);
    return fd;
}

class ResizedFile final : public Attack {
  public:
    explicit ResizedFile(const AttackPlace& place)
        : fd_(open_to_write(large_file(place.folder))), thread_([this] { resize(); }) {}
    ~ResizedFile() override {
        stop_ = true;
        thread_.join();
        close(fd_);
    }
    void step() override {
        const AttackMapping mapping(fd_, ElfImage::code_offset);
        mapping.run(turns_of_a_step);
        rest_ms(1);
    }

  private:
    // The code is left alone: who runs what is no longer there ends.
    void resize() {
        struct stat status;
        if (fstat(fd_, &status) != 0)
            fail("look at the file");
        constexpr off_t least = ElfImage::code_offset + ElfImage::code_size;
        for (off_t size = status.st_size; !stop_;
             size = size / 2 < least ? status.st_size : size / 2) {
            if (ftruncate(fd_, size) != 0)
                fail("resize the file");
            usleep(200);
        }
    }

    int fd_;
    std::atomic<bool> stop_{false};
    std::thread thread_; // last: it uses the others
};

// Whoever knows files by when they were written takes it for another one each time.
class RenewedFile final : public Attack {
  public:
    explicit RenewedFile(const AttackPlace& place) : fd_(open_to_write(large_file(place.folder))) {}
    ~RenewedFile() override { close(fd_); }
    void step() override {
        constexpr uint64_t few_turns = 1000;
        for (int i = 0; i < 100; ++i) {
            if (futimens(fd_, nullptr) != 0)
                fail("touch the file");
            const AttackMapping mapping(fd_, ElfImage::code_offset);
            mapping.run(few_turns);
        }
        rest_ms(1);
    }

  private:
    int fd_;
};

// Whoever waits until a file is not just being written waits for each of them.
class FreshFiles final : public Attack {
  public:
    explicit FreshFiles(const AttackPlace& place) {
        for (int i = 0; i < 300; ++i) {
            const std::string path = place.folder + "/fresh" + std::to_string(i);
            {
                ElfImage image(path);
                image.finish(image.section(SHT_STRTAB, 0, 0));
            }
            files_.push_back(open_to_write(path));
            mappings_.emplace_back(files_.back(), ElfImage::code_offset);
        }
        thread_ = std::thread([this] { touch(); });
    }
    ~FreshFiles() override {
        stop_ = true;
        thread_.join();
        for (const int file : files_)
            close(file);
    }
    void step() override {
        // Anew, so that they are looked at.
        AttackMapping(files_[next_++ % files_.size()], ElfImage::code_offset).run(turns_of_a_step);
        rest_ms(2);
    }

  private:
    void touch() {
        while (!stop_) {
            for (const int file : files_)
                if (futimens(file, nullptr) != 0)
                    fail("touch a file");
            usleep(2'000);
        }
    }

    std::vector<int> files_;
    std::vector<AttackMapping> mappings_;
    size_t next_ = 0;
    std::atomic<bool> stop_{false};
    std::thread thread_;
};

} // namespace

std::span<const AttackKind> changing_file_attacks() {
    static constexpr AttackKind all[] = {
        {"resized",
         [](const AttackPlace& place) -> std::unique_ptr<Attack> {
             return std::make_unique<ResizedFile>(place);
         }},
        {"fresh",
         [](const AttackPlace& place) -> std::unique_ptr<Attack> {
             return std::make_unique<FreshFiles>(place);
         }},
        {"renewed",
         [](const AttackPlace& place) -> std::unique_ptr<Attack> {
             return std::make_unique<RenewedFile>(place);
         }},
    };
    return all;
}

} // namespace auger::test
