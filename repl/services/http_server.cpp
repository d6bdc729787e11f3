// SPDX-License-Identifier: GPL-3.0-or-later
#include "repl/services/http_server.h"

#include "loader/base/guarded.h"
#include "loader/base/signals_blocked.h"
#include "loader/process/capabilities.h"
#include "loader/process/landlock.h"
#include "loader/process/listen_socket.h"
#include "repl/services/event_streams.h"

#include <fcntl.h>
#include <microhttpd.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <string_view>
#include <thread>

namespace auger {
namespace {

using std::chrono::seconds;
using std::chrono::steady_clock;

constexpr std::chrono::milliseconds last_words{500};
constexpr unsigned newcomers = 64; // beyond the limit, while others are being closed

// One connection. Requests follow each other on it.
struct Connection {
    int fd;
    steady_clock::time_point deadline; // max(): auger's turn
    bool asking = true;                // its request is not whole
};

// One request and its answer.
struct Exchange {
    HttpRequest request;
    std::optional<HttpAnswer> answer;
    bool too_large = false;
    MHD_Connection* connection = nullptr; // while it waits
};

MHD_Result add_pair(void* to, MHD_ValueKind, const char* key, const char* value) {
    static_cast<HttpRequest*>(to)->query.emplace_back(key, value ? value : "");
    return MHD_YES;
}

std::string header(MHD_Connection* connection, const char* name) {
    const char* value = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
    return value ? value : "";
}

MHD_Response* body_of(HttpAnswer& answer) {
    struct stat status {};
    if (answer.file && fstat(answer.file.get(), &status) == 0)
        return MHD_create_response_from_fd64(static_cast<uint64_t>(status.st_size),
                                             answer.file.release());
    return MHD_create_response_from_buffer(answer.text.size(), answer.text.data(),
                                           MHD_RESPMEM_MUST_COPY);
}

MHD_Result respond(MHD_Connection* connection, const HttpAnswer& answer, MHD_Response* response) {
    if (!response)
        return MHD_NO;
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, answer.type.c_str());
    MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
    MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    // The URL may hold a token, which is for nobody that a page leads to.
    MHD_add_response_header(response, "Referrer-Policy", "no-referrer");
    for (const auto& [name, value] : answer.headers)
        MHD_add_response_header(response, name.c_str(), value.c_str());
    const MHD_Result queued = MHD_queue_response(connection, answer.status, response);
    MHD_destroy_response(response);
    return queued;
}

} // namespace

struct HttpServer::State {
    explicit State(const HttpLimits& all) : limits(all), streams(all.streams) {}

    Check check;
    Admit admit; // may be empty: all are
    HttpLimits limits;
    UniqueFd wake; // an eventfd
    EventStreams streams;
    MHD_Daemon* daemon = nullptr;

    std::mutex mutex; // of what follows
    uint64_t next_id = 1;
    std::map<uint64_t, Exchange*> waiting; // for an answer, or for its reader
    std::condition_variable completed;     // one of them has been
    std::vector<HttpRequest> fresh;        // not taken yet
    std::map<Connection*, std::unique_ptr<Connection>> connections;
    bool stopping = false;

    mutable std::mutex count_mutex;
    HttpCounts counts;

    static MHD_Result on_request(void* self, MHD_Connection* connection, const char* url,
                                 const char* method, const char*, const char* upload, size_t* size,
                                 void** context) {
        // It is C that calls: nothing may be thrown through it. The connection is closed then.
        return guarded(
            [&] {
                return static_cast<State*>(self)->handle(connection, url, method, upload, size,
                                                         reinterpret_cast<Exchange**>(context));
            },
            [](const Error&) { return MHD_NO; });
    }
    static void on_completed(void* self, MHD_Connection* connection, void** context,
                             MHD_RequestTerminationCode) {
        static_cast<State*>(self)->complete(connection, static_cast<Exchange*>(*context));
        *context = nullptr;
    }
    static void on_connection(void* self, MHD_Connection* connection, void** context,
                              MHD_ConnectionNotificationCode code) {
        static_cast<State*>(self)->connect(connection, context,
                                           code == MHD_CONNECTION_NOTIFY_STARTED);
    }

    static Connection* known(MHD_Connection* connection) {
        const auto* info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
        return info ? static_cast<Connection*>(info->socket_context) : nullptr;
    }
    static void give(MHD_Connection* connection, unsigned for_seconds, bool asking = false) {
        if (Connection* one = known(connection)) {
            one->deadline = for_seconds ? steady_clock::now() + seconds(for_seconds)
                                        : steady_clock::time_point::max();
            one->asking = asking;
        }
    }

    // `events`: in place of the answer's text.
    MHD_Result respond_counted(MHD_Connection* connection, HttpAnswer answer,
                               MHD_Response* events = nullptr) {
        {
            const std::lock_guard lock(count_mutex);
            counts.answers[answer.status]++;
        }
        return respond(connection, answer, events ? events : body_of(answer));
    }
    // An answer for as long as both want it.
    MHD_Result respond_with_events(MHD_Connection* connection, HttpAnswer answer) {
        MHD_Response* events = streams.open(connection);
        {
            const std::lock_guard lock(mutex);
            give(connection, events ? 0 : limits.answer_seconds);
        }
        if (!events)
            answer = HttpAnswer{503, "too many event streams are open\n"};
        return respond_counted(connection, std::move(answer), events);
    }

    MHD_Result handle(MHD_Connection* connection, const char* url, const char* method,
                      const char* upload, size_t* size, Exchange** context) {
        if (!*context)
            return begin(connection, url, method, context);
        Exchange& one = **context;
        if (*size > 0) {
            one.too_large |= one.request.body.size() + *size > limits.body;
            if (!one.too_large)
                one.request.body.append(upload, *size);
            *size = 0;
            return MHD_YES;
        }
        if (one.answer)
            return respond_counted(connection, std::move(*one.answer));
        std::optional<HttpAnswer> refusal =
            one.too_large ? HttpAnswer{413, "the request is too large\n"} : check(one.request);
        if (refusal && refusal->events)
            return respond_with_events(connection, std::move(*refusal));
        const std::lock_guard lock(mutex);
        if (!refusal && (stopping || waiting.size() >= limits.waiting))
            refusal = HttpAnswer{503, "too many requests wait already: try again later\n"};
        if (refusal && refusal->status == 503)
            refusal->headers.emplace_back("Retry-After", "5");
        if (refusal) {
            give(connection, limits.answer_seconds);
            return respond_counted(connection, std::move(*refusal));
        }
        give(connection, 0);
        MHD_suspend_connection(connection);
        one.connection = connection;
        one.request.id = next_id++;
        waiting.emplace(one.request.id, &one);
        fresh.push_back(one.request);
        const uint64_t more = 1;
        (void)!::write(wake.get(), &more, sizeof(more));
        return MHD_YES;
    }

    MHD_Result begin(MHD_Connection* connection, const char* url, const char* method,
                     Exchange** context) {
        auto one = std::make_unique<Exchange>();
        one->request.method = method;
        one->request.path = url;
        one->request.host = header(connection, MHD_HTTP_HEADER_HOST);
        one->request.origin = header(connection, MHD_HTTP_HEADER_ORIGIN);
        one->request.authorization = header(connection, MHD_HTTP_HEADER_AUTHORIZATION);
        one->request.accept = header(connection, MHD_HTTP_HEADER_ACCEPT);
        MHD_get_connection_values(connection, MHD_GET_ARGUMENT_KIND, add_pair, &one->request);
        const auto* info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
        one->request.process = info ? peer_process(info->connect_fd) : std::nullopt;
        one->request.user = info ? peer_user(info->connect_fd) : std::nullopt;
        const std::string length = header(connection, MHD_HTTP_HEADER_CONTENT_LENGTH);
        uint64_t announced = 0;
        std::from_chars(length.data(), length.data() + length.size(), announced);
        *context = one.release();
        // Not even asked for, if the client waits to be.
        if (announced > limits.body)
            return respond_counted(connection, HttpAnswer{413, "the request is too large\n"});
        return MHD_YES;
    }

    void complete(MHD_Connection* connection, Exchange* one) {
        const std::lock_guard lock(mutex);
        give(connection, limits.request_seconds, true);
        if (one)
            waiting.erase(one->request.id);
        completed.notify_all();
        delete one;
    }

    void connect(MHD_Connection* connection, void** context, bool begins) {
        const std::lock_guard lock(mutex);
        if (!begins) {
            connections.erase(static_cast<Connection*>(*context));
            *context = nullptr;
            return;
        }
        const auto* info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
        const int fd = info ? info->connect_fd : -1;
        // Takes nobody's place.
        if (admit && !admit(fd)) {
            shutdown(fd, SHUT_RDWR);
            const std::lock_guard counting(count_mutex);
            counts.not_admitted++;
            return;
        }
        auto one = std::make_unique<Connection>();
        one->fd = fd;
        one->deadline = steady_clock::now() + seconds(limits.request_seconds);
        if (connections.size() >= limits.connections)
            make_room(*one);
        *context = one.get();
        connections.emplace(one.get(), std::move(one));
    }
    // Whoever has taken the longest to ask goes; where nobody is asking, the new one.
    void make_room(const Connection& fresh) {
        const Connection* slowest = &fresh;
        for (const auto& [key, one] : connections) {
            if (one->asking && one->fd >= 0 && one->deadline < slowest->deadline)
                slowest = key;
        }
        shutdown(slowest->fd, SHUT_RDWR);
        if (slowest != &fresh)
            connections.at(const_cast<Connection*>(slowest))->fd = -1;
    }
};

HttpServer::HttpServer(std::unique_ptr<State> state) : state_(std::move(state)) {}

Result<std::unique_ptr<HttpServer>> HttpServer::start(int listening, Check check,
                                                      const HttpLimits& limits, Admit admit) {
    auto state = std::make_unique<State>(limits);
    state->check = std::move(check);
    state->admit = std::move(admit);
    state->wake.reset(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    // libmicrohttpd closes its own.
    const int socket = fcntl(listening, F_DUPFD_CLOEXEC, 0);
    if (!state->wake || socket < 0)
        return system_error("start", "the HTTP server");
    const SignalsBlocked blocked;
    // The library's thread has the rights of whoever makes it: here nobody, who opens no files.
    int error_number = 0;
    const auto make = [&] {
        begin_thread("http", 0);
        give_up_file_names();
        state->daemon = MHD_start_daemon(
            MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME, 0, nullptr, nullptr,
            &State::on_request, state.get(), MHD_OPTION_LISTEN_SOCKET, socket,
            MHD_OPTION_CONNECTION_LIMIT, limits.connections + newcomers,
            MHD_OPTION_CONNECTION_MEMORY_LIMIT, limits.memory, MHD_OPTION_CONNECTION_TIMEOUT,
            limits.idle_seconds, MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_NOTIFY_COMPLETED,
            &State::on_completed, state.get(), MHD_OPTION_NOTIFY_CONNECTION, &State::on_connection,
            state.get(), MHD_OPTION_END);
        error_number = errno;
    };
    std::thread(make).join();
    if (!state->daemon) {
        ::close(socket);
        return system_error("start", "the HTTP server", "", error_number);
    }
    return std::unique_ptr<HttpServer>(new HttpServer(std::move(state)));
}

HttpServer::~HttpServer() {
    {
        const std::lock_guard lock(state_->mutex);
        state_->stopping = true;
        for (auto& [id, one] : state_->waiting) {
            if (!one->answer) {
                one->answer = HttpAnswer{503, "auger ends\n"};
                MHD_resume_connection(one->connection);
            }
        }
    }
    state_->streams.end(last_words);
    {
        // Those who read at once are told; the others find the connection closed.
        std::unique_lock lock(state_->mutex);
        state_->completed.wait_for(lock, last_words, [this] { return state_->waiting.empty(); });
    }
    MHD_stop_daemon(state_->daemon);
}

int HttpServer::wake_fd() const {
    return state_->wake.get();
}

std::vector<HttpRequest> HttpServer::take() {
    uint64_t count = 0;
    (void)!::read(state_->wake.get(), &count, sizeof(count));
    const std::lock_guard lock(state_->mutex);
    return std::exchange(state_->fresh, {});
}

void HttpServer::answer(uint64_t id, HttpAnswer answer) {
    const std::lock_guard lock(state_->mutex);
    const auto found = state_->waiting.find(id);
    if (found == state_->waiting.end() || found->second->answer)
        return;
    Exchange& one = *found->second;
    one.answer = std::move(answer);
    State::give(one.connection, state_->limits.answer_seconds);
    MHD_resume_connection(one.connection);
}

void HttpServer::publish(std::string text) {
    state_->streams.publish(std::move(text));
}

size_t HttpServer::streams() const {
    return state_->streams.count();
}

HttpCounts HttpServer::counts() const {
    const std::lock_guard lock(state_->count_mutex);
    return state_->counts;
}

void HttpServer::expire(steady_clock::time_point now) {
    const std::lock_guard lock(state_->mutex);
    for (const auto& [key, one] : state_->connections) {
        if (now > one->deadline && one->fd >= 0)
            shutdown(one->fd, SHUT_RDWR);
    }
}

} // namespace auger
