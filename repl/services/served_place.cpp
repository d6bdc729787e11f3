// SPDX-License-Identifier: GPL-3.0-or-later
#include "repl/services/served_place.h"

#include "loader/process/proc_info.h"
#include "loader/process/users.h"
#include "repl/services/client_access.h"
#include "repl/services/endpoint_request.h"
#include "repl/services/page_files.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <string_view>
#include <vector>

namespace auger {
namespace {

Result<AccessToken> token_of(const ServedAddress& asked) {
    return asked.token_file.empty() ? AccessToken::random()
                                    : AccessToken::of_file(asked.token_file);
}

// The file's mode keeps others out already, but its owner, or a mistake, may change that.
HttpServer::Admit only(std::vector<uid_t> users) {
    return [users = std::move(users)](int connection) {
        const auto user = peer_user(connection);
        return user && std::ranges::count(users, *user) > 0;
    };
}

// At an address that another user may ask, too: all addresses share what may wait in all, and one
// who is told of nobody but itself keeps none of it from others.
constexpr size_t most_waiting_with_guest = 4;

// The number of a process that has ended may be another user's by now.
bool is_of(pid_t process, uid_t user) {
    struct stat status {};
    return stat(fmt::format("/proc/{}", process).c_str(), &status) == 0 && status.st_uid == user;
}

} // namespace

Result<ServedPlace> ServedPlace::open(const ServedAddress& asked, pid_t pid) {
    constexpr std::string_view variable = "{PID}";
    std::string text = asked.address;
    for (size_t at = text.find(variable); at != std::string::npos; at = text.find(variable, at))
        text.replace(at, variable.size(), std::to_string(pid));
    auto parsed = parse_listen_address(text);
    if (!parsed)
        return parsed.error();
    std::optional<uid_t> guest;
    if (!asked.user.empty()) {
        auto user = find_user(asked.user);
        if (!user)
            return user.error();
        guest = *user;
    }
    auto socket = ListenSocket::open(*parsed, guest);
    if (!socket)
        return socket.error();
    std::unique_ptr<PortToken> token;
    HttpServer::Admit admit;
    if (parsed->kind == ListenAddress::Kind::unix_socket) {
        std::vector<uid_t> users = our_users();
        if (guest && std::ranges::count(users, *guest) > 0)
            guest.reset();
        else if (guest)
            users.push_back(*guest);
        admit = only(std::move(users));
    } else {
        auto made = token_of(asked);
        if (!made)
            return made.error();
        token = std::make_unique<PortToken>(std::move(*made));
    }
    auto check = [token = token.get(), guest](const HttpRequest& request) {
        return answer_at_once(request, token, guest);
    };
    HttpLimits limits;
    if (guest)
        limits.waiting = most_waiting_with_guest;
    auto server = HttpServer::start(socket->fd(), check, limits, std::move(admit));
    if (!server)
        return server.error();
    return ServedPlace{asked, std::move(*socket), std::move(token), std::move(*server)};
}

// In the server's thread: what needs nothing of the session.
std::optional<HttpAnswer> ServedPlace::answer_at_once(const HttpRequest& request,
                                                      const PortToken* token,
                                                      std::optional<uid_t> guest) {
    if (!asked_by_stranger(request)) {
        if (auto file = page_answer(request))
            return file;
    }
    if (token && !knows(request, token->get()))
        return without_token();
    auto read = read_request(request);
    if (auto* refusal = std::get_if<HttpAnswer>(&read))
        return std::move(*refusal);
    if (guest && request.user == guest &&
        !(asks_for_itself(std::get<EndpointRequest>(read)) && is_of(*request.process, *guest)))
        return not_for_itself();
    if (std::get<EndpointRequest>(read).kind != EndpointRequest::Kind::events)
        return std::nullopt;
    return HttpAnswer{.events = true, .type = "text/event-stream"};
}

// A token that is kept in a file is not shown: what auger prints may go to a log.
std::string ServedPlace::url() const {
    if (!token_)
        return socket_.text();
    const std::string url = fmt::format("http://{}/", socket_.text());
    return asked_.token_file.empty() ? url + "?token=" + token_->get().text() : url;
}

Result<std::optional<AccessToken>> ServedPlace::other_token(const ServedAddress& asked) const {
    if (asked_ == asked || !token_)
        return std::optional<AccessToken>();
    auto token = token_of(asked);
    if (!token)
        return token.error();
    return std::optional(std::move(*token));
}

void ServedPlace::set_token(const ServedAddress& asked, AccessToken token) {
    token_->set(std::move(token));
    asked_ = asked;
}

} // namespace auger
