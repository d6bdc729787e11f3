// SPDX-License-Identifier: GPL-3.0-or-later
// A client of the endpoint that says exactly the bytes it is given, however wrong they are.
#pragma once

#include "loader/base/fd.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <string_view>

namespace auger {

class HttpClient {
  public:
    // "127.0.0.1:7400", "unix:/run/a.sock", or the URL that `serve` says, with its token.
    explicit HttpClient(const std::string& address)
        : fd_(socket(address.starts_with("unix:") ? AF_UNIX : AF_INET, SOCK_STREAM | SOCK_CLOEXEC,
                     0)) {
        if (address.starts_with("unix:")) {
            sockaddr_un path{};
            path.sun_family = AF_UNIX;
            address.copy(path.sun_path, sizeof(path.sun_path) - 1, 5);
            connected_ = connect(fd_.get(), reinterpret_cast<sockaddr*>(&path), sizeof(path)) == 0;
            return;
        }
        if (const size_t at = address.find(token_parameter); at != std::string::npos)
            token = address.substr(at + token_parameter.size());
        sockaddr_in to{};
        to.sin_family = AF_INET;
        to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        to.sin_port =
            htons(static_cast<uint16_t>(std::atoi(address.substr(address.rfind(':') + 1).c_str())));
        connected_ = connect(fd_.get(), reinterpret_cast<sockaddr*>(&to), sizeof(to)) == 0;
    }

    bool connected() const { return connected_; }
    void say(std::string_view bytes) {
        (void)!send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    }
    // Is sent along as a header; empty: none.
    std::string token;
    void get(const std::string& path, const std::string& headers = {}) {
        say("GET " + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" +
            authorization() + headers + "\r\n");
    }
    void post(const std::string& path, const std::string& body) {
        say("POST " + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" +
            authorization() + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
    }
    // Takes in what has come; returns whether the other end has closed.
    bool closed() {
        char bytes[65536];
        for (;;) {
            const ssize_t got = recv(fd_.get(), bytes, sizeof(bytes), MSG_DONTWAIT);
            if (got <= 0)
                return got == 0 || (errno != EAGAIN && errno != EINTR);
            answer_.append(bytes, static_cast<size_t>(got));
        }
    }
    const std::string& answer() const { return answer_; }
    // 0: there is none.
    int status() const {
        return answer_.starts_with("HTTP/1.1 ") ? std::atoi(answer_.c_str() + 9) : 0;
    }
    std::string body() const {
        const size_t end = answer_.find("\r\n\r\n");
        return end == std::string::npos ? "" : answer_.substr(end + 4);
    }

  private:
    static constexpr std::string_view token_parameter = "?token=";
    std::string authorization() const {
        return token.empty() ? "" : "Authorization: Bearer " + token + "\r\n";
    }

    UniqueFd fd_;
    bool connected_ = false;
    std::string answer_;
};

} // namespace auger
