// SPDX-License-Identifier: GPL-3.0-or-later
// Stacks of greenlets end where those begin, in files of greenlet's alone.
#include "loader/process/safe_open.h"
#include "loader/reader/tables/unwind_compiler.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace auger {
namespace {

// By functions whether they are the outermost ones of a stack, wherever in them it is.
std::map<std::string, bool> outermost_functions(const std::string& library) {
    const std::string path = AUGER_GREENLET_FOLDER "/" + library;
    const auto file = ElfFile::open(*open_regular(path), path);
    EXPECT_TRUE(file);
    const auto tables = compile_unwind_tables(**file);
    std::map<std::string, bool> outermost;
    for (const ElfFunction& function : (*file)->functions()) {
        if (!function.name.starts_with("_ZN8greenlet"))
            continue;
        size_t places = 0;
        for (uint64_t at = function.address; at < function.address + function.size; at++) {
            const wire_unwind_rule* const rule = tables->find(at);
            EXPECT_NE(rule, nullptr);
            places += rule && rule->cfa == WIRE_CFA_END;
        }
        EXPECT_TRUE(places == 0 || places == function.size) << function.name << ": " << places;
        outermost[std::string(function.name)] = places > 0;
    }
    return outermost;
}

TEST(UnwindGreenlets, BeginInTheFunctionThatCallsWhatTheyRun) {
    const std::map<std::string, bool> expected = {
        {"_ZN8greenlet12UserGreenlet15inner_bootstrapEPvS1_", true},
        {"_ZN8greenlet12UserGreenlet8g_switchEv", false}};
    EXPECT_EQ(outermost_functions("_greenlet.cpython-311-x86_64-linux-gnu.so"), expected);
}

TEST(UnwindGreenlets, AreNotLookedForElsewhere) {
    const std::map<std::string, bool> expected = {
        {"_ZN8greenlet12UserGreenlet15inner_bootstrapEPvS1_", false},
        {"_ZN8greenlet12UserGreenlet8g_switchEv", false}};
    EXPECT_EQ(outermost_functions("others.so"), expected);
}

} // namespace
} // namespace auger
