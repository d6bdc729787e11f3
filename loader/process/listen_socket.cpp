// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/process/listen_socket.h"

#include "loader/process/user_rights.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <fmt/format.h>

#include <charconv>
#include <cstring>

namespace auger {
namespace {

constexpr int backlog = 64;
constexpr std::string_view unix_scheme = "unix:";
constexpr const char* forms = "unix:PATH, 127.0.0.1:PORT or [::1]:PORT";

Error wrong(std::string_view text, std::string cause, std::string hint, size_t offset,
            size_t length) {
    return {"listen on",     std::string(text),  std::move(cause),
            std::move(hint), Error::Kind::usage, Error::Range{offset, length}};
}

Result<ListenAddress> parse_unix(std::string_view text) {
    std::string_view path = text.substr(unix_scheme.size());
    if (path.starts_with("//")) // as in URLs: no host, then the path
        path.remove_prefix(2);
    const size_t offset = text.size() - path.size();
    if (path.empty())
        return wrong(text, "the socket needs a path", "unix:/run/auger.sock", 0, text.size());
    if (path.find('\0') != std::string_view::npos)
        return wrong(text, "a path cannot contain a NUL byte", "", offset, path.size());
    constexpr size_t longest = sizeof(sockaddr_un::sun_path) - 1;
    if (path.size() > longest)
        return wrong(text, fmt::format("the path of a socket has at most {} bytes", longest),
                     "choose a shorter one", offset, path.size());
    return ListenAddress{ListenAddress::Kind::unix_socket, std::string(path), 0};
}

Result<uint16_t> parse_port(std::string_view text, size_t offset) {
    const std::string_view digits = text.substr(offset);
    uint16_t port = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
    if (digits.empty() || error != std::errc() || end != digits.data() + digits.size())
        return wrong(text, "a port is a number up to 65535", "0 picks a free one", offset,
                     digits.size());
    return port;
}

Error refused(const std::string& text, std::string cause, std::string hint) {
    return {"listen on", text, std::move(cause), std::move(hint)};
}

// Whether somebody listens on the socket that stands there.
bool answers(const sockaddr_un& address) {
    const UniqueFd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    return connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0 ||
           errno != ECONNREFUSED;
}

std::optional<ucred> peer_of(int connection) {
    ucred peer{};
    socklen_t size = sizeof(peer);
    if (getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0 || size != sizeof(peer))
        return std::nullopt;
    return peer;
}

} // namespace

Result<ListenAddress> parse_listen_address(std::string_view text) {
    if (text.starts_with(unix_scheme))
        return parse_unix(text);
    const size_t colon = text.rfind(':');
    if (colon == std::string_view::npos)
        return wrong(text, "is not an address", forms, 0, text.size());
    const std::string_view host = text.substr(0, colon);
    ListenAddress address;
    if (host == "127.0.0.1" || host == "localhost")
        address.kind = ListenAddress::Kind::ipv4_loopback;
    else if (host == "[::1]")
        address.kind = ListenAddress::Kind::ipv6_loopback;
    else
        return wrong(text,
                     "only this machine may connect: what is observed is nobody else's "
                     "business",
                     fmt::format("{}; from elsewhere: ssh -L 8080:127.0.0.1:PORT", forms), 0,
                     host.size());
    auto port = parse_port(text, colon + 1);
    if (!port)
        return port.error();
    address.port = *port;
    return address;
}

Result<ListenSocket> ListenSocket::open(const ListenAddress& address, std::optional<uid_t> owner) {
    ListenSocket made;
    const bool is_unix = address.kind == ListenAddress::Kind::unix_socket;
    if (auto bound = is_unix ? made.bind_unix(address.path, owner) : made.bind_loopback(address);
        !bound)
        return bound.error();
    if (is_unix && owner)
        if (auto given = made.give_to(*owner); !given)
            return given.error();
    if (listen(made.fd_.get(), backlog) < 0)
        return system_error("listen on", made.text_);
    return made;
}

ListenSocket::ListenSocket(ListenSocket&& other) noexcept
    : fd_(std::move(other.fd_)), text_(std::move(other.text_)),
      path_(std::exchange(other.path_, {})), device_(other.device_), inode_(other.inode_),
      file_(std::move(other.file_)), former_(std::exchange(other.former_, {})) {}

ListenSocket::~ListenSocket() {
    if (path_.empty())
        return;
    if (former_)
        (void)!fchownat(file_.get(), "", *former_, gid_t(-1), AT_EMPTY_PATH);
    const UserRights rights(invoking_user());
    struct stat status {};
    if (lstat(path_.c_str(), &status) == 0 && status.st_dev == device_ && status.st_ino == inode_)
        unlink(path_.c_str());
}

// With the user's rights throughout: where the user may not make a socket, nor does auger, and of
// what stands there nothing goes that the user may not remove.
Result<void> ListenSocket::bind_unix(const std::string& path, std::optional<uid_t> owner) {
    text_ = "unix:" + path;
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    const auto user = invoking_user();
    const UserRights rights(user);
    const std::string hint = rights_hint(user);
    struct stat status {};
    if (lstat(path.c_str(), &status) == 0) {
        if (!S_ISSOCK(status.st_mode))
            return refused(text_, "it exists and is not a socket", "choose another path");
        if (status.st_uid != geteuid() && status.st_uid != owner &&
            !(user && status.st_uid == user->uid))
            return refused(text_, "the socket there belongs to another user",
                           "choose another path");
        if (answers(address))
            return refused(text_, "another process is listening there", "choose another path");
        unlink(path.c_str());
    }
    fd_.reset(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!fd_)
        return system_error("listen on", text_);
    // The file takes the mode of the socket, so it is never open to others.
    if (fchmod(fd_.get(), 0600) < 0 ||
        bind(fd_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) < 0)
        return system_error("listen on", text_, hint);
    UniqueFd file(::open(path.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    if (!file || fstat(file.get(), &status) < 0)
        return system_error("listen on", text_);
    if (!S_ISSOCK(status.st_mode) || status.st_uid != (user ? user->uid : geteuid()) ||
        status.st_nlink != 1)
        return refused(text_, "another file has taken its place", "choose another folder");
    path_ = path;
    device_ = status.st_dev;
    inode_ = status.st_ino;
    file_ = std::move(file);
    return {};
}

// With auger's own rights, on the file that was made, whatever stands at its path by now.
Result<void> ListenSocket::give_to(uid_t owner) {
    struct stat status {};
    if (fstat(file_.get(), &status) < 0 ||
        fchownat(file_.get(), "", owner, gid_t(-1), AT_EMPTY_PATH) < 0)
        return system_error("give away", text_, "that takes root, or CAP_CHOWN");
    former_ = status.st_uid;
    return {};
}

Result<void> ListenSocket::bind_loopback(const ListenAddress& wanted) {
    const bool is_ipv4 = wanted.kind == ListenAddress::Kind::ipv4_loopback;
    const char* host = is_ipv4 ? "127.0.0.1" : "[::1]";
    text_ = fmt::format("{}:{}", host, wanted.port);
    fd_.reset(socket(is_ipv4 ? AF_INET : AF_INET6, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!fd_)
        return system_error("listen on", text_);
    // The port of an auger that has just ended is free.
    const int yes = 1;
    setsockopt(fd_.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    sockaddr_in ipv4{};
    ipv4.sin_family = AF_INET;
    ipv4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ipv4.sin_port = htons(wanted.port);
    sockaddr_in6 ipv6{};
    ipv6.sin6_family = AF_INET6;
    ipv6.sin6_addr = in6addr_loopback;
    ipv6.sin6_port = htons(wanted.port);
    const int bound = is_ipv4
                          ? bind(fd_.get(), reinterpret_cast<const sockaddr*>(&ipv4), sizeof(ipv4))
                          : bind(fd_.get(), reinterpret_cast<const sockaddr*>(&ipv6), sizeof(ipv6));
    if (bound < 0)
        return system_error("listen on", text_,
                            errno == EADDRINUSE ? "choose another port; 0 picks a free one" : "");
    sockaddr_in6 taken{};
    socklen_t size = sizeof(taken);
    if (getsockname(fd_.get(), reinterpret_cast<sockaddr*>(&taken), &size) < 0)
        return system_error("listen on", text_);
    text_ = fmt::format("{}:{}", host, ntohs(taken.sin6_port)); // where IPv4's port stands, too
    return {};
}

std::optional<uid_t> peer_user(int connection) {
    const auto peer = peer_of(connection);
    return peer ? std::optional(peer->uid) : std::nullopt;
}

std::optional<pid_t> peer_process(int connection) {
    const auto peer = peer_of(connection);
    return peer && peer->pid > 0 ? std::optional(peer->pid) : std::nullopt;
}

} // namespace auger
