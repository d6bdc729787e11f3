// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/stub_receiver.h"

#include "tests/support/test_certificate.h"

#include <arpa/inet.h>
#include <microhttpd.h>
#include <netinet/in.h>

#include <algorithm>
#include <chrono>
#include <stdexcept>

namespace auger::test {

struct StubReceiver::Callbacks {
    static MHD_Result on_request(void* self, MHD_Connection* connection, const char* url,
                                 const char* method, const char*, const char* bytes, size_t* size,
                                 void** state) {
        auto*& request = *reinterpret_cast<Request**>(state);
        if (!request) {
            request = new Request{method, url};
            MHD_get_connection_values(connection, MHD_HEADER_KIND, on_header, request);
            MHD_get_connection_values(connection, MHD_GET_ARGUMENT_KIND, on_parameter, request);
            return MHD_YES;
        }
        if (*size != 0) {
            request->body.append(bytes, *size);
            *size = 0;
            return MHD_YES;
        }
        const Answer answer = static_cast<StubReceiver*>(self)->take(std::move(*request));
        if (answer.kind == Answer::Kind::hang || answer.kind == Answer::Kind::close)
            return MHD_NO;
        constexpr size_t block = 4096;
        MHD_Response* response =
            answer.kind == Answer::Kind::endless
                ? MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, block, more, self, nullptr)
                : MHD_create_response_from_buffer(answer.body.size(),
                                                  const_cast<char*>(answer.body.data()),
                                                  MHD_RESPMEM_MUST_COPY);
        for (const auto& [name, value] : answer.headers)
            MHD_add_response_header(response, name.c_str(), value.c_str());
        const MHD_Result queued = MHD_queue_response(connection, answer.status, response);
        MHD_destroy_response(response);
        return queued;
    }
    static ssize_t more(void* self, uint64_t, char* to, size_t size) {
        auto& receiver = *static_cast<StubReceiver*>(self);
        const std::lock_guard lock(receiver.mutex_);
        if (receiver.ending_)
            return MHD_CONTENT_READER_END_OF_STREAM;
        std::fill_n(to, size, 'x');
        return static_cast<ssize_t>(size);
    }
    static MHD_Result on_header(void* request, MHD_ValueKind, const char* name, const char* value) {
        std::string lower(name);
        std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return tolower(c); });
        static_cast<Request*>(request)->headers[lower] = value;
        return MHD_YES;
    }
    static MHD_Result on_parameter(void* request, MHD_ValueKind, const char* name,
                                   const char* value) {
        static_cast<Request*>(request)->parameters[name] = value ? value : "";
        return MHD_YES;
    }
    static void on_end(void*, MHD_Connection*, void** state, MHD_RequestTerminationCode) {
        delete static_cast<Request*>(*state);
        *state = nullptr;
    }
};

StubReceiver::StubReceiver(Reply reply, Transport transport, uint16_t port)
    : reply_(std::move(reply)) {
    const bool tls = transport == Transport::tls;
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    std::vector<MHD_OptionItem> options = {
        {MHD_OPTION_SOCK_ADDR, 0, &address},
        {MHD_OPTION_LISTENING_ADDRESS_REUSE, 1, nullptr},
        {MHD_OPTION_NOTIFY_COMPLETED, reinterpret_cast<intptr_t>(&Callbacks::on_end), nullptr}};
    if (tls) {
        options.push_back({MHD_OPTION_HTTPS_MEM_CERT, 0, const_cast<char*>(test_certificate)});
        options.push_back({MHD_OPTION_HTTPS_MEM_KEY, 0, const_cast<char*>(test_certificate_key)});
    }
    options.push_back({MHD_OPTION_END, 0, nullptr});
    daemon_ = MHD_start_daemon(MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION |
                                   (tls ? MHD_USE_TLS : 0),
                               0, nullptr, nullptr, &Callbacks::on_request, this, MHD_OPTION_ARRAY,
                               options.data(), MHD_OPTION_END);
    const MHD_DaemonInfo* bound =
        daemon_ ? MHD_get_daemon_info(daemon_, MHD_DAEMON_INFO_BIND_PORT) : nullptr;
    if (!bound)
        throw std::runtime_error("no server on the loopback");
    port_ = bound->port;
    url_ = (tls ? "https://127.0.0.1:" : "http://127.0.0.1:") + std::to_string(port_);
}

StubReceiver::~StubReceiver() {
    {
        const std::lock_guard lock(mutex_);
        ending_ = true;
    }
    changed_.notify_all();
    MHD_stop_daemon(daemon_);
}

StubReceiver::Answer StubReceiver::take(Request request) {
    std::unique_lock lock(mutex_);
    const size_t number = requests_.size();
    requests_.push_back(std::move(request));
    const Request& kept = requests_.back();
    const Answer answer = reply_ ? reply_(kept, number) : Answer{};
    changed_.notify_all();
    if (answer.kind == Answer::Kind::hang)
        changed_.wait(lock, [&] { return ending_; });
    return answer;
}

std::vector<StubReceiver::Request> StubReceiver::requests() const {
    const std::lock_guard lock(mutex_);
    return requests_;
}

bool StubReceiver::wait_for(size_t requests) const {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::minutes(1),
                             [&] { return requests_.size() >= requests; });
}

} // namespace auger::test
