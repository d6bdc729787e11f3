// SPDX-License-Identifier: GPL-3.0-or-later
// What a process can do besides to whoever looks at it: names that act on terminals, always others;
// signals to who reads its files.
#include "tests/hostile/attack.h"
#include "tests/hostile/attack_mapping.h"
#include "tests/support/children.h"

#include <sys/prctl.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <string>

namespace auger::test {
namespace {

class Renames final : public Attack {
  public:
    void step() override {
        static constexpr const char* names[] = {
            "\033[31mevil",
            "evil\n\r\t\b",
            "evil\xff\xfe\x80",
            "",
            "evil\"'{}[]\\",
            "\xc2\x9b"
            "2Jevil",
            "\xe2\x80\xae"
            "live",
            "evil;stack 1",
            "auger-names",
            "shop",
        };
        for (int i = 0; i < 1000; ++i) {
            char counted[16];
            std::snprintf(counted, sizeof counted, "evil%08x", count_++);
            prctl(PR_SET_NAME, i % 2 ? counted : names[count_ % std::size(names)]);
            if (i % 50 == 0)
                code_.run(turns_of_a_step / 50);
        }
        rest_ms(1);
    }

  private:
    AttackMapping code_;
    unsigned count_ = 0;
};

// Of a user whom daemons share. One that can be stopped holds up all that it reads. (Only those of
// one auger: others' tests may go on meanwhile.)
class Signals final : public Attack {
  public:
    explicit Signals(const AttackPlace& place) : auger_(static_cast<pid_t>(place.number)) {}
    ~Signals() override {
        if (!met_)
            fail("there was no reader to signal");
    }
    void step() override {
        for (const pid_t launcher : children_of(auger_))
            for (const pid_t reader : children_of(launcher)) {
                std::string comm;
                std::ifstream file("/proc/" + std::to_string(reader) + "/comm");
                // Before it has its name it has not given up its rights either.
                if (!std::getline(file, comm) || !comm.starts_with("auger-") ||
                    comm == "auger-readers")
                    continue;
                met_ = true;
                if (kill(reader, SIGSTOP) == 0)
                    fail("refrain from stopping " + comm);
                if (errno != EPERM && errno != ESRCH)
                    fail("signal " + comm);
            }
        code_.run(turns_of_a_step);
        rest_ms(2);
    }

  private:
    const pid_t auger_;
    AttackMapping code_;
    bool met_ = false;
};

} // namespace

std::span<const AttackKind> process_attacks() {
    static constexpr AttackKind all[] = {
        {"renames",
         [](const AttackPlace&) -> std::unique_ptr<Attack> { return std::make_unique<Renames>(); }},
        {"signals",
         [](const AttackPlace& place) -> std::unique_ptr<Attack> {
             return std::make_unique<Signals>(place);
         }},
    };
    return all;
}

} // namespace auger::test
