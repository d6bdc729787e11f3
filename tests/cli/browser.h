// SPDX-License-Identifier: GPL-3.0-or-later
// Browser: a headless Chromium that is told what to do through its debugging pipe, as puppeteer
// does it. What a test waits for is said by the page itself.
#pragma once

#include "tests/support/temporary_folder.h"

#include <nlohmann/json.hpp>

#include <sys/types.h>

#include <string>
#include <vector>

namespace auger::test {

class Browser {
  public:
    static bool installed();
    Browser(); // throws (failing the test) when it does not begin
    ~Browser();
    Browser(const Browser&) = delete;
    Browser& operator=(const Browser&) = delete;

    void open(const std::string& url);
    // The value of an expression, in the page; of a promise, what it comes to.
    nlohmann::json evaluate(const std::string& expression);
    // Until it is true, with a generous limit.
    bool wait_for(const std::string& expression);
    void prefer(const std::string& colours); // "light", "dark"
    void resize(int width, int height);
    // As a PNG file.
    void take_picture(const std::string& path);
    // What went wrong in the page: errors, and what its policy forbade.
    const std::vector<std::string>& troubles() const { return troubles_; }

  private:
    nlohmann::json call(const std::string& method, nlohmann::json parameters = {});
    nlohmann::json read_message();
    void take_note(const nlohmann::json& event);

    TemporaryFolder folder_;
    pid_t pid_ = -1;
    int to_ = -1, from_ = -1;
    std::string buffer_;
    int last_id_ = 0;
    std::string session_; // of the page
    std::vector<std::string> troubles_;
};

} // namespace auger::test
