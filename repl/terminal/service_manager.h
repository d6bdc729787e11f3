// SPDX-License-Identifier: GPL-3.0-or-later
// ServiceManager: who has started auger as a service and waits to be told when it is ready, as
// systemd does for Type=notify: by a datagram to the socket that NOTIFY_SOCKET names
// (sd_notify(3)). Changes when a service manager is to be told something else.
#pragma once

#include <string>

namespace auger {

class ServiceManager {
  public:
    // Takes NOTIFY_SOCKET out of the environment: it is not for what auger starts.
    ServiceManager();
    // Nobody waits: nothing happens.
    void ready();
    // Only after ready().
    void stopping();

  private:
    bool tell(const char* state) const;

    std::string socket_; // a path, or an abstract name behind '@'; empty: there is no such manager
    bool told_ = false;
};

} // namespace auger
