// SPDX-License-Identifier: GPL-3.0-or-later
#include "repl/services/served_place.h"

#include "loader/process/proc_info.h"
#include "repl/services/client_access.h"
#include "repl/services/endpoint_request.h"
#include "repl/services/page_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace auger {
namespace {

Result<AccessToken> token_of(const ServedAddress& asked) {
    return asked.token_file.empty() ? AccessToken::random()
                                    : AccessToken::of_file(asked.token_file);
}

// The file's mode keeps others out already, but its owner, or a mistake, may change that.
HttpServer::Admit our_users_only() {
    return [users = our_users()](int connection) {
        const auto user = peer_user(connection);
        return user && std::ranges::count(users, *user) > 0;
    };
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
    auto socket = ListenSocket::open(*parsed);
    if (!socket)
        return socket.error();
    std::unique_ptr<PortToken> token;
    HttpServer::Admit admit;
    if (parsed->kind == ListenAddress::Kind::unix_socket) {
        admit = our_users_only();
    } else {
        auto made = token_of(asked);
        if (!made)
            return made.error();
        token = std::make_unique<PortToken>(std::move(*made));
    }
    auto check = [token = token.get()](const HttpRequest& request) {
        return answer_at_once(request, token);
    };
    auto server = HttpServer::start(socket->fd(), check, {}, std::move(admit));
    if (!server)
        return server.error();
    return ServedPlace{asked, std::move(*socket), std::move(token), std::move(*server)};
}

// In the server's thread: what needs nothing of the session.
std::optional<HttpAnswer> ServedPlace::answer_at_once(const HttpRequest& request,
                                                      const PortToken* token) {
    if (!asked_by_stranger(request)) {
        if (auto file = page_answer(request))
            return file;
    }
    if (token && !knows(request, token->get()))
        return without_token();
    auto read = read_request(request);
    if (auto* refusal = std::get_if<HttpAnswer>(&read))
        return std::move(*refusal);
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
