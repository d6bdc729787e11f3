// SPDX-License-Identifier: GPL-3.0-or-later
// SignalsBlocked: threads that are made while it lives take no signals; those stay the main
// thread's.
#pragma once

#include <csignal>

namespace auger {

class SignalsBlocked {
  public:
    SignalsBlocked() {
        sigset_t all;
        sigfillset(&all);
        ::pthread_sigmask(SIG_SETMASK, &all, &before_);
    }
    ~SignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    SignalsBlocked(const SignalsBlocked&) = delete;
    SignalsBlocked& operator=(const SignalsBlocked&) = delete;

  private:
    sigset_t before_;
};

} // namespace auger
