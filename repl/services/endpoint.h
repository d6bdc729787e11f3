// SPDX-License-Identifier: GPL-3.0-or-later
// The sampling endpoint: `serve ADDRESS`. Requests wait here until what they ask for has been
// sampled and has names; answers are written by a forked copy of the process, so that neither their
// size nor their number holds up the console.
#pragma once

#include "loader/process/forked_task.h"
#include "repl/services/endpoint_request.h"
#include "repl/services/served_places.h"
#include "repl/services/shared_sampling.h"
#include "views/model/model.h"
#include "views/text/views.h"

#include <chrono>
#include <functional>
#include <list>
#include <optional>
#include <string>
#include <vector>

namespace auger {

// What an answer shows beside the model.
struct EndpointSource {
    std::function<StatusContext()> status;
    std::function<Window()> window; // in force at the console
};

class Endpoint {
  public:
    Endpoint(Backend& backend, const Model& model, SharedSampling& sampling, EndpointSource source)
        : backend_(backend), model_(model), sampling_(sampling), source_(std::move(source)) {}
    ~Endpoint();

    // Listens at these addresses, and no others; whole or not at all. "{PID}" in one is the first
    // process of the target, else auger's own.
    Result<void> listen_at(const std::vector<ServedAddress>& addresses);
    // Where it listens, for one of the addresses, or for all: a socket as it was asked for, a port
    // as a URL, with the number that was chosen and with its token.
    std::vector<std::string> listening(const std::string& address = {}) const {
        return places_.urls(address);
    }
    bool active() const { return !places_.empty(); }

    // Does what is due. Not to be called from within a command.
    void work();
    // Descriptors that are readable when there is something to do before `due_ns`.
    void add_wake_fds(std::vector<int>& fds) const;
    // When something is to be done, in the backend's time; UINT64_MAX: when something comes.
    uint64_t due_ns() const;
    ClientsStatus clients() const;

  private:
    struct Job { // one request
        HttpServer* server;
        uint64_t id;
        EndpointRequest request;
        uint64_t begin_ns = 0, end_ns = 0;             // of what is to be sampled; 0: nothing
        SamplingSettings sampling{};                   // while it was
        std::map<std::string, uint64_t> lost_before{}; // as in ExportQuery
        std::optional<ForkedTask> task{};              // that writes the answer
    };

    pid_t first_process() const; // of the target, or this one
    void tell_of_news();
    void take_request(HttpServer& server, const HttpRequest& request, uint64_t now_ns);
    // What is wrong with having this sampled, if anything is.
    std::optional<HttpAnswer> objection(const EndpointRequest& request) const;
    // What is wrong with having this process sampled.
    std::optional<HttpAnswer> objection_to(uint32_t process) const;
    void share_sampling(uint64_t now_ns);
    // Whether all that belongs to the answer has come, with names, or has been waited for.
    bool complete(const Job& job, uint64_t now_ns) const;
    // Whether the job has been answered.
    bool finish(Job& job);
    Result<void> start_writing(Job& job);
    void refuse(const Job& job, unsigned status, const std::string& text);
    SamplingSettings demand_of(const Job& job) const;
    bool samples_now(const Job& job, uint64_t now_ns) const;

    Backend& backend_;
    const Model& model_;
    SharedSampling& sampling_;
    EndpointSource source_;
    ServedPlaces places_;
    std::list<Job> jobs_;
    uint64_t next_expiry_ns_ = 0;
    // Not before, a process that writes an answer; the time of a recording may stand still.
    std::chrono::steady_clock::time_point next_writing_;
    std::chrono::steady_clock::time_point next_event_; // of all streams
    uint64_t sampling_since_ns_ = 0;                   // for clients alone; 0: it is not
    uint64_t sampled_ns_ = 0;                          // for them alone, until then
    uint64_t cpu_ns_ = 0;                              // of processes that wrote answers
};

} // namespace auger
