// SPDX-License-Identifier: GPL-3.0-or-later
// An interpreter's frames that are more than can be kept, in stacks that user space has to finish.
#include "tests/kernel/program.h"
#include "tests/kernel/session.h"
#include "tests/support/temporary_folder.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>

namespace auger::test {
namespace {

// Far down in itself it computes in a library of which nobody has heard, and in the next one.
// (Their functions call their own, not those of the library that Python has.)
constexpr const char* deep_program = R"(
import ctypes, os, shutil, sys, zlib
folder, depth = sys.argv[1], int(sys.argv[2])
source = next(line.split()[-1] for line in open('/proc/self/maps') if '/libz.so' in line)
data = bytes(1 << 20)
def compute():
    for number in range(60):
        path = f'{folder}/{number}.so'
        shutil.copy(source, path)
        library = ctypes.CDLL(path, mode=os.RTLD_NOW | os.RTLD_DEEPBIND)
        for _ in range(6):
            library.crc32(0, data, len(data))
def recurse(left):
    return recurse(left - 1) if left else compute()
sys.setrecursionlimit(2000)
print('ready', flush=True)
sys.stdin.readline()
recurse(depth)
open(f'{folder}/done', 'w').close()
sys.stdin.readline()
)";

struct Computing {
    uint64_t all = 0, cut = 0, too_deep = 0;
};

// Of samples in those libraries, how many say that their stack is cut, and because it is too deep.
Computing compute_at_depth(const std::string& depth) {
    TemporaryFolder folder;
    Program program("/usr/bin/python3", {"-c", deep_program, folder.path(""), depth});
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    // CPython is known, and the libraries that it has.
    EXPECT_TRUE(
        session.pump_until([&] { return session.backend().unwind_status().pending.empty(); }));
    must(session.backend().set_sampling({.rate_hz = 999}));
    program.go();
    EXPECT_TRUE(session.pump_until([&] { return std::filesystem::exists(folder.path("done")); }));
    must(session.backend().set_sampling({}));
    program.go();
    session.pump_to_end();
    EXPECT_EQ(program.wait_exit(), 0);
    session.backend().settle_symbols(std::chrono::seconds(60));

    const SymbolTables& symbols = session.model().symbols();
    Computing computing;
    for (const SampleEvent& sample : session.log.samples) {
        const auto locations = symbols.stack(sample.stack);
        if (locations.empty() || !symbols.module(symbols.location(locations[0]).module)
                                      .path.starts_with(folder.path("")))
            continue;
        const auto outermost = symbols.name(symbols.found_frames(locations.back())[0].function);
        computing.all++;
        computing.cut += outermost.starts_with("[stack cut");
        computing.too_deep += outermost == "[stack cut: deeper than can be kept]";
    }
    return computing;
}

class DeepChains : public KernelTest {};

TEST_F(DeepChains, SayThatTheyAreCutInStacksThatAreFinishedLater) {
    const Computing deep = compute_at_depth("800");
    EXPECT_GE(deep.all, 40u);
    // Some for another reason: a table was not waited for.
    EXPECT_EQ(deep.cut, deep.all);
    EXPECT_GT(deep.too_deep, 0u);
    const Computing flat = compute_at_depth("8");
    EXPECT_GE(flat.all, 40u);
    EXPECT_EQ(flat.too_deep, 0u);
}

} // namespace
} // namespace auger::test
