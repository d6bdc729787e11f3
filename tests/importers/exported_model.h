// SPDX-License-Identifier: GPL-3.0-or-later
// What the importers are given: slow and fast calls with samples, and samples outside of any call,
// in functions whose names importers stumble over.
#pragma once

#include "tests/support/durations.h"
#include "tests/support/run.h"
#include "tests/support/temporary_folder.h"
#include "tests/unit/synthetic_stream.h"
#include "views/exports/export.h"
#include "views/model/account.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace auger::test {

// The program's path; empty: it is not installed.
std::string find_tool(const std::string& name);
// A file's; empty: there is none.
std::string text_of(const std::string& path);

class Importers : public testing::Test {
  protected:
    Importers();
    // The path of a file in the format.
    std::string write(std::string_view format, const std::string& name,
                      const ExportQuery& query = {});
    double ns(CallClass one) const { return make_account(model).classes[one].weight_ns; }
    double whole_ns() const { return make_account(model).classes.sum().weight_ns; }
    // What a page has written into <pre id="report">, when its scripts have run. Null: nothing.
    nlohmann::json report_of(const std::string& url);

    // Each is the leaf of one sample outside of calls.
    const std::vector<std::string> nasty_names = {"(anonymous namespace)::f(int)",
                                                  "a;b c",
                                                  "x",
                                                  "std::map<" + std::string(10'000, 'T') +
                                                      ">::find(int)",
                                                  "bad\xff\xfe",
                                                  "esc\x1b[2J\nnext",
                                                  "service+0x1f0e0",
                                                  "<script>alert(1)</script>&amp;"};
    Model model;
    SyntheticStream stream{model};
    TemporaryFolder folder;
    const std::string chromium = find_tool("chromium");
};

} // namespace auger::test
