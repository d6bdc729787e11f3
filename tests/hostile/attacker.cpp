// SPDX-License-Identifier: GPL-3.0-or-later
// attacker ATTACK FOLDER USER NUMBER: gives up all rights for those of a user, does in the
// folder what the attack needs, prints `ready`, and goes on until SIGTERM. It ends with 0 when it
// could do all of that and was not harmed by whoever looked on.
#include "tests/hostile/attack.h"

#include <fcntl.h>
#include <grp.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <exception>

namespace auger::test {

void fail(const std::string& what) {
    std::fprintf(stderr, "attacker: could not %s: %s\n", what.c_str(), std::strerror(errno));
    std::_Exit(1);
}

namespace {

// Waits in the mask of signals, also while it executes itself.
sigset_t ending_signals() {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    return set;
}

bool ended() {
    const sigset_t set = ending_signals();
    const timespec at_once{};
    return sigtimedwait(&set, nullptr, &at_once) == SIGTERM;
}

void become(uid_t user) {
    if (setgroups(0, nullptr) != 0 || setresgid(user, user, user) != 0 ||
        setresuid(user, user, user) != 0)
        fail("give up its rights");
    prctl(PR_SET_DUMPABLE, 1); // as what that user starts
}

std::unique_ptr<Attack> make(const AttackPlace& place) {
    for (const auto& kinds : {mapped_file_attacks(), changing_file_attacks(),
                              generated_code_attacks(), process_attacks()})
        for (const AttackKind& kind : kinds)
            if (kind.name == place.name)
                return kind.make(place);
    errno = ENOENT;
    fail("find an attack " + place.name);
}

int run(int argc, char** argv) {
    if (argc < 5)
        fail("understand; usage: attacker ATTACK FOLDER USER NUMBER");
    const bool again = argc > 5;
    AttackPlace place;
    place.name = argv[1];
    place.folder = argv[2];
    place.number = static_cast<unsigned>(std::atoi(argv[4]));
    place.executed = again;
    place.self = again ? std::atoi(argv[5]) : open("/proc/self/exe", O_RDONLY);
    // By a path that others than root may have no way to.
    const int honest = open(AUGER_HONEST_LIBRARY, O_RDONLY | O_CLOEXEC);
    place.honest = "/proc/self/fd/" + std::to_string(honest);
    const sigset_t set = ending_signals();
    sigprocmask(SIG_BLOCK, &set, nullptr);
    if (!again)
        become(static_cast<uid_t>(std::strtoul(argv[3], nullptr, 10)));
    prctl(PR_SET_PDEATHSIG, SIGKILL); // whatever becomes of the test
    prctl(PR_SET_NAME, ("evil-" + place.name).c_str());
    const auto attack = make(place);
    attack->step();
    if (!again) {
        std::puts("ready");
        std::fflush(stdout);
    }
    while (!ended())
        attack->step();
    return 0;
}

} // namespace
} // namespace auger::test

int main(int argc, char** argv) {
    try {
        return auger::test::run(argc, argv);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "attacker: %s\n", error.what());
        return 1;
    }
}
