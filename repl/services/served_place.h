// SPDX-License-Identifier: GPL-3.0-or-later
// ServedPlace: one address that the endpoint listens at, and who is admitted there.
#pragma once

#include "loader/process/listen_socket.h"
#include "repl/services/access_token.h"
#include "repl/services/http_server.h"
#include "repl/services/service_settings.h"

#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace auger {

class ServedPlace {
  public:
    // "{PID}" in the address is `pid`.
    static Result<ServedPlace> open(const ServedAddress& asked, pid_t pid);

    const ServedAddress& asked() const { return asked_; }
    // A socket as it was asked for, a port as a URL, with the number that was chosen and with its
    // token.
    std::string url() const;
    HttpServer& server() const { return *server_; }

    // A token that takes the present one's place, if this is to have another; nothing: it is not.
    Result<std::optional<AccessToken>> other_token(const ServedAddress& asked) const;
    void set_token(const ServedAddress& asked, AccessToken token);

  private:
    // The token of a port, which the server's thread asks for.
    class PortToken {
      public:
        explicit PortToken(AccessToken token) : token_(std::move(token)) {}
        AccessToken get() const {
            const std::lock_guard lock(mutex_);
            return token_;
        }
        void set(AccessToken token) {
            const std::lock_guard lock(mutex_);
            token_ = std::move(token);
        }

      private:
        mutable std::mutex mutex_;
        AccessToken token_;
    };

    ServedPlace(ServedAddress asked, ListenSocket socket, std::unique_ptr<PortToken> token,
                std::unique_ptr<HttpServer> server)
        : asked_(std::move(asked)), socket_(std::move(socket)), token_(std::move(token)),
          server_(std::move(server)) {}
    // `guest`: who may ask for its own processes alone.
    static std::optional<HttpAnswer>
    answer_at_once(const HttpRequest& request, const PortToken* token, std::optional<uid_t> guest);

    ServedAddress asked_;
    ListenSocket socket_;
    std::unique_ptr<PortToken> token_; // null: a unix socket, whose peers are known
    std::unique_ptr<HttpServer> server_;
};

} // namespace auger
