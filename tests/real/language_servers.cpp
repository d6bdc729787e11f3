// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/real/language_servers.h"

#include "tests/real/ab.h"

#include <future>
#include <sstream>

namespace auger::test {
namespace {

std::string site(const std::string& name) {
    return std::string(AUGER_SCRIPTS_DIR) + "/sites/" + name;
}

std::string pool(const TemporaryFolder& folder) {
    std::ostringstream text;
    text << "[global]\ndaemonize = no\nerror_log = " << folder.path("fpm.log")
         << "\n[www]\nuser = root\ngroup = root\nlisten = " << folder.path("socket")
         << "\npm = static\npm.max_children = 3\n";
    return text.str();
}

std::string front(const TemporaryFolder& folder, int port) {
    std::ostringstream text;
    text << "daemon off;\nmaster_process off;\nworker_processes 1;\nuser root;\n"
         << "pid " << folder.path("pid") << ";\nerror_log " << folder.path("errors") << ";\n"
         << "events { worker_connections 64; }\nhttp {\n access_log off;\n";
    for (const char* kind : {"client_body", "proxy", "fastcgi", "uwsgi", "scgi"})
        text << " " << kind << "_temp_path " << folder.path(kind) << ";\n";
    text << " server {\n  listen 127.0.0.1:" << port << ";\n  location / {\n"
         << "   fastcgi_pass unix:" << folder.path("socket") << ";\n"
         << "   fastcgi_param SCRIPT_FILENAME " << site("shop.php") << ";\n"
         << "   fastcgi_param REQUEST_METHOD $request_method;\n"
         << "   fastcgi_param REQUEST_URI $request_uri;\n  }\n }\n}\n";
    return text.str();
}

} // namespace

LanguageServer::LanguageServer() : port_(free_port()) {}

void LanguageServer::request(const std::string& path, int requests, int clients) const {
    request_by_ab(port_, path, requests, clients);
}

uint64_t LanguageServer::load() const {
    auto slow = std::async(std::launch::async, [this] { request("slow", slow_requests, 1); });
    request("quick", quick_requests, 2);
    slow.get();
    return quick_requests + slow_requests;
}

PhpFpm::PhpFpm() {
    front_ = std::make_unique<Program>(
        programs[1], std::vector<std::string>{"-p", folder_.path(""), "-e", folder_.path("errors"),
                                              "-c", folder_.file("front", front(folder_, port_))});
    start(programs[0], {"--allow-to-run-as-root", "--nodaemonize", "--no-php-ini", "--fpm-config",
                        folder_.file("pool", pool(folder_))});
}

Webrick::Webrick() {
    start(programs[0], {site("shop.rb"), std::to_string(port_)});
}

} // namespace auger::test
