// SPDX-License-Identifier: GPL-3.0-or-later
// A server on the loopback that answers as debuginfod does, or as a broken or hostile one would.
#pragma once

#include "loader/base/fd.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <atomic>
#include <functional>
#include <string>
#include <thread>

namespace auger::test {

class DebuginfodServer {
  public:
    // What to send for a path ("/buildid/ID/debuginfo"): all of a reply; nothing: it never comes.
    using Reply = std::function<std::string(const std::string& path)>;

    static std::string content(const std::string& bytes) {
        return "HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\nContent-Length: " +
               std::to_string(bytes.size()) + "\r\nConnection: close\r\n\r\n" + bytes;
    }
    static std::string absent() {
        return "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    }

    explicit DebuginfodServer(Reply reply)
        : reply_(std::move(reply)), socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)),
          end_(eventfd(0, EFD_CLOEXEC)) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof(address);
        auto* generic = reinterpret_cast<sockaddr*>(&address);
        if (bind(socket_.get(), generic, size) != 0 || listen(socket_.get(), 8) != 0 ||
            getsockname(socket_.get(), generic, &size) != 0)
            throw std::runtime_error("no socket on the loopback");
        url_ = "http://127.0.0.1:" + std::to_string(ntohs(address.sin_port));
        thread_ = std::thread([this] { serve(); });
    }
    ~DebuginfodServer() {
        eventfd_write(end_.get(), 1);
        thread_.join();
    }
    const std::string& url() const { return url_; }
    int requests() const { return requests_; }

  private:
    bool readable(int fd) const {
        pollfd both[] = {{fd, POLLIN, 0}, {end_.get(), POLLIN, 0}};
        return poll(both, 2, -1) > 0 && !both[1].revents;
    }
    void serve() {
        while (readable(socket_.get())) {
            const UniqueFd client(accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC));
            std::string request(4096, '\0');
            if (!readable(client.get()))
                return;
            const ssize_t got = recv(client.get(), request.data(), request.size(), 0);
            request.resize(got > 0 ? static_cast<size_t>(got) : 0);
            const size_t begin = request.find(' ') + 1;
            requests_++;
            const std::string reply =
                reply_(request.substr(begin, request.find(' ', begin) - begin));
            for (size_t sent = 0; sent < reply.size();) {
                const ssize_t part =
                    send(client.get(), reply.data() + sent, reply.size() - sent, MSG_NOSIGNAL);
                if (part <= 0)
                    break;
                sent += static_cast<size_t>(part);
            }
            if (reply.empty())
                readable(client.get()); // until the client is tired of it
        }
    }

    Reply reply_;
    UniqueFd socket_, end_;
    std::string url_;
    std::atomic<int> requests_{0};
    std::thread thread_;
};

} // namespace auger::test
