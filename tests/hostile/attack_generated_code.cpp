// SPDX-License-Identifier: GPL-3.0-or-later
// What programs tell of the code that they generate: too much of it again and again, from what is
// no file or somebody else's, and nonsense.
#include "tests/hostile/attack.h"
#include "tests/hostile/attack_mapping.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <random>
#include <vector>

namespace auger::test {
namespace {

std::string map_path() {
    return "/tmp/perf-" + std::to_string(getpid()) + ".map";
}

// Whatever address its code gets, and much besides.
void write_large_map(const std::string& path) {
    std::string text = "0 7fffffffffff evil_generated\n";
    for (unsigned i = 0; i < 400'000; ++i) {
        char line[64];
        std::snprintf(line, sizeof line, "%x 10 evil%x\n", 0x10000000 + 16 * i, i);
        text += line;
    }
    std::ofstream(path) << text;
}

class Execs final : public Attack {
  public:
    explicit Execs(const AttackPlace& place) : place_(place) {
        if (!place.executed)
            write_large_map(map_path());
    }
    ~Execs() override { unlink(map_path().c_str()); }
    void step() override {
        code_.run(turns_of_a_step);
        // All together some hundred times a second.
        rest_ms(10 * place_.number);
        if (executes_next_)
            execute();
        executes_next_ = true; // not before it has said that it is there
    }

  private:
    void execute() {
        std::vector<std::string> words = {"attacker",
                                          place_.name,
                                          place_.folder,
                                          "again",
                                          std::to_string(place_.number),
                                          std::to_string(place_.self)};
        std::vector<char*> arguments;
        for (std::string& word : words)
            arguments.push_back(word.data());
        arguments.push_back(nullptr);
        syscall(SYS_execveat, place_.self, "", arguments.data(), environ, AT_EMPTY_PATH);
        fail("execute the attacker again");
    }

    const AttackPlace place_;
    AttackMapping code_;
    bool executes_next_ = false;
};

class GeneratedCode : public Attack {
  public:
    ~GeneratedCode() override { unlink(map_path().c_str()); }
    void step() override {
        code_.run(turns_of_a_step);
        rest_ms(2);
    }

  protected:
    AttackMapping code_;
};

// Who opens it to read waits for who writes, for ever.
class FifoForMap final : public GeneratedCode {
  public:
    FifoForMap() {
        if (mkfifo(map_path().c_str(), 0644) != 0)
            fail("make " + map_path());
    }
};

// To what the attacker may not read.
class LinkForMap final : public GeneratedCode {
  public:
    explicit LinkForMap(const AttackPlace& place) {
        if (symlink((place.folder + "/../secret").c_str(), map_path().c_str()) != 0)
            fail("make " + map_path());
    }
};

// A file of records of generated code, which is mapped so that it is found.
class NonsenseDump final : public GeneratedCode {
  public:
    explicit NonsenseDump(const AttackPlace& place)
        : file_(open_file(write(place.folder))), found_by_(file_, 0) {}
    ~NonsenseDump() override { close(file_); }

  private:
    static std::string write(const std::string& folder) {
        std::string bytes;
        const auto number = [&](auto value) {
            bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
        };
        for (const uint32_t word : {0x4a695444, 1, 40, 62, 0, 0, 0, 0, 0, 0})
            number(word);
        std::mt19937_64 random(15);
        for (int i = 0; i < 100'000; ++i) {
            const bool moves = random() % 4 == 0;
            const uint32_t size = 64;
            number(uint32_t{moves});
            number(size);
            for (int field = 0; field < 3; ++field)
                number(random());
            // Loaded: where, how much, its number. Moved: from where, to where, how much.
            for (int field = 0; field < 3; ++field)
                number(random() >> random() % 64);
            bytes += "evil_gen"; // not ended
        }
        number(uint32_t{0});
        number(uint32_t{3}); // less than a record has
        number(uint64_t{0});
        const std::string path = folder + "/jit-" + std::to_string(getpid()) + ".dump";
        std::ofstream(path, std::ios::binary) << bytes;
        return path;
    }

    int file_;
    AttackMapping found_by_;
};

} // namespace

std::span<const AttackKind> generated_code_attacks() {
    static constexpr AttackKind all[] = {
        {"execs",
         [](const AttackPlace& place) -> std::unique_ptr<Attack> {
             return std::make_unique<Execs>(place);
         }},
        {"fifo",
         [](const AttackPlace&) -> std::unique_ptr<Attack> {
             return std::make_unique<FifoForMap>();
         }},
        {"link",
         [](const AttackPlace& place) -> std::unique_ptr<Attack> {
             return std::make_unique<LinkForMap>(place);
         }},
        {"dump",
         [](const AttackPlace& place) -> std::unique_ptr<Attack> {
             return std::make_unique<NonsenseDump>(place);
         }},
    };
    return all;
}

} // namespace auger::test
