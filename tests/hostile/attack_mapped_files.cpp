// SPDX-License-Identifier: GPL-3.0-or-later
// Files that attackers map, and whose code they run, so that somebody asks what it is called.
#include "tests/hostile/attack.h"
#include "tests/hostile/attack_code.h"
#include "tests/hostile/attack_files.h"
#include "tests/hostile/attack_mapping.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <random>
#include <unistd.h>
#include <vector>

namespace auger::test {
namespace {

class MappedFiles final : public Attack {
  public:
    void add(const std::string& path, uint64_t offset) {
        const int fd = open_file(path);
        mappings_.emplace_back(fd, offset);
        close(fd);
    }
    void step() override {
        // Those of many take turns.
        mappings_[next_++ % mappings_.size()].run(turns_of_a_step);
        rest_ms(2);
    }

  private:
    std::vector<AttackMapping> mappings_;
    size_t next_ = 0;
};

std::unique_ptr<Attack> map_attack_files(const AttackPlace& place) {
    auto attack = std::make_unique<MappedFiles>();
    for (const AttackFiles& files : all_attack_files())
        if (files.name == place.name)
            for (const std::string& path : files.make(place.folder))
                attack->add(path, ElfImage::code_offset);
    return attack;
}

using Content = std::vector<char>;

Content content_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return Content(std::istreambuf_iterator<char>(file), {});
}

// Another value where headers, sizes and offsets are: anywhere but in the code that is run.
void change(Content& content, std::pair<size_t, size_t> kept, std::mt19937_64& random) {
    constexpr uint64_t limits[] = {0,
                                   1,
                                   0x7f,
                                   0x80,
                                   0xff,
                                   0x7fffffff,
                                   0x80000000,
                                   0xfffffffe,
                                   0xffffffff,
                                   ~uint64_t{0},
                                   uint64_t{1} << 63};
    for (size_t changes = 1 + random() % 32; changes > 0; --changes) {
        // Every second one where the most depends on it: in the headers at both ends.
        size_t at = random() % content.size();
        if (random() % 2)
            at = random() % 2 ? at % 1024 : content.size() - 1 - at % 4096;
        const uint64_t value = random() % 2 ? random() : limits[random() % std::size(limits)];
        const size_t size = size_t{1} << random() % 4;
        for (size_t i = 0; i < size && at + i < content.size(); ++i)
            if (at + i < kept.first || at + i >= kept.second)
                content[at + i] = static_cast<char>(value >> 8 * i);
    }
}

std::unique_ptr<Attack> map_changed_files(const AttackPlace& place) {
    constexpr int variants = 200;
    const Content honest = content_of(place.honest);
    const auto code =
        std::search(honest.begin(), honest.end(), std::begin(attack_code), std::end(attack_code),
                    [](char a, uint8_t b) { return static_cast<uint8_t>(a) == b; });
    const auto offset = static_cast<size_t>(code - honest.begin());
    if (code == honest.end() || offset % AttackMapping::size != 0)
        fail("find the code of " + place.honest);
    std::mt19937_64 random(15);
    auto attack = std::make_unique<MappedFiles>();
    for (int i = 0; i < variants; ++i) {
        Content content = honest;
        change(content, {offset, offset + sizeof attack_code}, random);
        const std::string path = place.folder + "/changed" + std::to_string(i);
        std::ofstream(path, std::ios::binary)
            .write(content.data(), static_cast<std::streamsize>(content.size()));
        attack->add(path, offset);
    }
    return attack;
}

// So many that their list alone takes its time.
std::unique_ptr<Attack> map_one_file_often(const AttackPlace& place) {
    constexpr int times = 60'000;
    auto attack = std::make_unique<MappedFiles>();
    const std::string path = place.folder + "/often";
    {
        ElfImage image(path);
        image.finish(image.section(SHT_STRTAB, 0, 0));
    }
    for (int i = 0; i < times; ++i)
        attack->add(path, ElfImage::code_offset);
    return attack;
}

} // namespace

std::span<const AttackKind> mapped_file_attacks() {
    static const std::vector<AttackKind> all = [] {
        std::vector<AttackKind> kinds{{"changed", map_changed_files},
                                      {"mappings", map_one_file_often}};
        for (const AttackFiles& files : all_attack_files())
            kinds.push_back({files.name, map_attack_files});
        return kinds;
    }();
    return all;
}

} // namespace auger::test
