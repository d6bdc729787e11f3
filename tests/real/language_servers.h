// SPDX-License-Identifier: GPL-3.0-or-later
// Servers in PHP and Ruby, whose slow requests do what the others do not: `refresh`.
#pragma once

#include "tests/real/server_process.h"

#include <cstdint>
#include <memory>
#include <string>

namespace auger::test {

class LanguageServer : public ServerProcess {
  public:
    void expect_answer() override { request("quick", 1, 1); }
    // Quick requests and, at the same time, slow ones; returns when all are answered. How many.
    uint64_t load() const;
    static constexpr int quick_requests = 360, slow_requests = 40;

    // As flames have it.
    virtual std::string cause() const = 0;
    // Where it listens, as `exchanges` takes it.
    virtual std::string listens() const = 0;

  protected:
    LanguageServer();
    void request(const std::string& path, int requests, int clients) const;

    int port_; // where it is asked
};

// A pool of Debian's php-fpm, at a unix socket behind nginx.
class PhpFpm final : public LanguageServer {
  public:
    PhpFpm();

    static constexpr const char* programs[] = {AUGER_SERVERS_DIR "/usr/sbin/php-fpm8.2",
                                               AUGER_SERVERS_DIR "/usr/sbin/nginx", "/usr/bin/ab"};
    static constexpr const char* packages =
        "apache2-utils, libapparmor1, and let `./run test` fetch php8.2-fpm and nginx";

    std::string cause() const override { return "Shop\\Catalogue::refresh"; }
    std::string listens() const override { return "unix \"" + folder_.path("socket") + "\""; }

  private:
    std::unique_ptr<Program> front_;
};

// WEBrick, with a thread for each connection.
class Webrick final : public LanguageServer {
  public:
    Webrick();

    static constexpr const char* programs[] = {"/usr/bin/ruby", "/usr/bin/ab"};
    static constexpr const char* packages = "ruby, ruby-webrick, apache2-utils";

    std::string cause() const override { return "Catalogue#refresh"; }
    std::string listens() const override { return "port " + std::to_string(port_); }
};

} // namespace auger::test
