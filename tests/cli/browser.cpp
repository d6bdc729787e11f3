// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/cli/browser.h"

#include "tests/support/wait.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <fstream>
#include <stdexcept>
#include <string_view>

namespace auger::test {
namespace {

using nlohmann::json;

constexpr const char* program = "/usr/bin/chromium";
constexpr int generous_ms = 60'000;
// Where it reads and writes messages under --remote-debugging-pipe.
constexpr int its_input = 3, its_output = 4;

std::string decoded(std::string_view base64) {
    std::string bytes;
    uint32_t bits = 0;
    int held = 0;
    for (const char c : base64) {
        constexpr std::string_view digits =
            "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        const size_t value = digits.find(c);
        if (value == std::string_view::npos)
            break; // '=', at the end
        bits = bits << 6 | static_cast<uint32_t>(value);
        held += 6;
        if (held >= 8)
            bytes += static_cast<char>(bits >> (held -= 8));
    }
    return bytes;
}

} // namespace

bool Browser::installed() {
    return access(program, X_OK) == 0;
}

Browser::Browser() {
    int in[2], out[2];
    if (pipe2(in, O_CLOEXEC) < 0 || pipe2(out, O_CLOEXEC) < 0)
        throw std::runtime_error("pipe");
    const std::string profile = "--user-data-dir=" + folder_.path("chromium");
    pid_ = fork();
    if (pid_ == 0) {
        setsid(); // so that all of it can be ended
        // Out of the way of the numbers that they are to have.
        const int read_end = fcntl(in[0], F_DUPFD, 10), write_end = fcntl(out[1], F_DUPFD, 10);
        const int nowhere = ::open("/dev/null", O_RDWR);
        dup2(nowhere, 0);
        dup2(nowhere, 1);
        dup2(nowhere, 2);
        dup2(read_end, its_input);
        dup2(write_end, its_output);
        close(read_end);
        close(write_end);
        execl(program, program, "--headless", "--no-sandbox", "--disable-gpu",
              "--disable-dev-shm-usage", "--no-first-run", "--remote-debugging-pipe",
              profile.c_str(), "about:blank", nullptr);
        _exit(127);
    }
    close(in[0]);
    close(out[1]);
    to_ = in[1];
    from_ = out[0];
    const json target = call("Target.createTarget", {{"url", "about:blank"}});
    session_ = call("Target.attachToTarget",
                    {{"targetId", target["targetId"]}, {"flatten", true}})["sessionId"];
    call("Runtime.enable");
    call("Log.enable");
    call("Page.enable");
}

Browser::~Browser() {
    close(to_);
    close(from_);
    kill(-pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
}

void Browser::open(const std::string& url) {
    call("Page.navigate", {{"url", url}});
}

json Browser::evaluate(const std::string& expression) {
    const json answer =
        call("Runtime.evaluate",
             {{"expression", expression}, {"returnByValue", true}, {"awaitPromise", true}});
    if (answer.contains("exceptionDetails"))
        throw std::runtime_error(expression + ": " + answer["exceptionDetails"].dump());
    return answer["result"].value("value", json());
}

bool Browser::wait_for(const std::string& expression) {
    return wait_until([&] { return evaluate("Boolean(" + expression + ")") == true; });
}

void Browser::prefer(const std::string& colours) {
    const json feature = {{"name", "prefers-color-scheme"}, {"value", colours}};
    call("Emulation.setEmulatedMedia", {{"features", json::array({feature})}});
}

void Browser::resize(int width, int height) {
    call("Emulation.setDeviceMetricsOverride",
         {{"width", width}, {"height", height}, {"deviceScaleFactor", 1}, {"mobile", false}});
}

void Browser::take_picture(const std::string& path) {
    const std::string picture = call("Page.captureScreenshot", {{"format", "png"}})["data"];
    std::ofstream(path, std::ios::binary) << decoded(picture);
}

json Browser::call(const std::string& method, json parameters) {
    json message = {{"id", ++last_id_}, {"method", method}};
    message["params"] = parameters.is_null() ? json::object() : std::move(parameters);
    if (!session_.empty())
        message["sessionId"] = session_;
    const std::string text = message.dump();
    // With its end, a zero byte.
    for (size_t at = 0; at <= text.size();) {
        const ssize_t written = write(to_, text.c_str() + at, text.size() + 1 - at);
        if (written <= 0)
            throw std::runtime_error("chromium does not listen");
        at += static_cast<size_t>(written);
    }
    for (;;) {
        const json answer = read_message();
        if (answer.value("id", 0) != last_id_) {
            take_note(answer);
            continue;
        }
        if (answer.contains("error"))
            throw std::runtime_error(method + ": " + answer["error"].dump());
        return answer["result"];
    }
}

json Browser::read_message() {
    for (;;) {
        if (const size_t end = buffer_.find('\0'); end != std::string::npos) {
            const json message = json::parse(buffer_.substr(0, end));
            buffer_.erase(0, end + 1);
            return message;
        }
        pollfd waiting = {from_, POLLIN, 0};
        if (poll(&waiting, 1, generous_ms) <= 0)
            throw std::runtime_error("chromium says nothing");
        char bytes[65536];
        const ssize_t count = read(from_, bytes, sizeof(bytes));
        if (count <= 0)
            throw std::runtime_error("chromium has ended");
        buffer_.append(bytes, static_cast<size_t>(count));
    }
}

void Browser::take_note(const json& event) {
    const std::string method = event.value("method", "");
    if (method == "Runtime.exceptionThrown")
        troubles_.push_back(event["params"]["exceptionDetails"].dump());
    else if (method == "Log.entryAdded" && event["params"]["entry"]["level"] == "error")
        troubles_.push_back(event["params"]["entry"].dump());
}

} // namespace auger::test
