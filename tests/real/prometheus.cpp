// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/real/prometheus.h"

#include "tests/support/http_client.h"
#include "tests/support/wait.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <limits>
#include <stdexcept>

namespace auger::test {

namespace {

constexpr std::chrono::seconds scrape_limit{1}; // how often, and for how long at most

std::string configuration(const std::vector<int>& ports, const std::string& token_file) {
    std::vector<std::string> targets;
    for (const int port : ports)
        targets.push_back(fmt::format("'127.0.0.1:{}'", port));
    return fmt::format("global: {{scrape_interval: {0}s, scrape_timeout: {0}s}}\n"
                       "scrape_configs:\n"
                       "  - job_name: auger\n"
                       "    authorization: {{credentials_file: {1}}}\n"
                       "    static_configs: [{{targets: [{2}]}}]\n",
                       scrape_limit.count(), token_file, fmt::join(targets, ", "));
}

// Of a URL's query.
std::string encoded(std::string_view text) {
    std::string code;
    for (const char c : text)
        code += std::isalnum(static_cast<unsigned char>(c))
                    ? std::string(1, c)
                    : fmt::format("%{:02X}", static_cast<unsigned char>(c));
    return code;
}

} // namespace

Prometheus::Prometheus(const std::vector<int>& ports, const std::string& token_file, bool native)
    : port_(free_port()) {
    std::vector<std::string> arguments = {
        "--config.file=" + folder_.file("prometheus.yml", configuration(ports, token_file)),
        "--storage.tsdb.path=" + folder_.path("data"),
        fmt::format("--web.listen-address=127.0.0.1:{}", port_), "--log.level=error"};
    if (native)
        arguments.emplace_back("--enable-feature=native-histograms");
    start(programs[0], arguments);
}

std::string Prometheus::get(const std::string& path) const {
    HttpClient client(fmt::format("127.0.0.1:{}", port_));
    if (!client.connected())
        throw std::runtime_error("Prometheus is not there");
    client.get(path);
    if (!wait_until([&] { return client.closed(); }) || client.status() != 200)
        throw std::runtime_error("Prometheus answers " + client.answer());
    return client.body();
}

void Prometheus::expect_answer() {
    (void)get("/-/ready");
}

Prometheus::Time Prometheus::settled() {
    return std::chrono::system_clock::now() - 2 * scrape_limit;
}

double Prometheus::query(std::string_view expression, Time time) const {
    const std::chrono::duration<double> seconds = time.time_since_epoch();
    const auto answer = nlohmann::json::parse(get(
        fmt::format("/api/v1/query?query={}&time={:.3f}", encoded(expression), seconds.count())));
    const auto& series = answer.at("data").at("result");
    if (series.size() != 1)
        return std::numeric_limits<double>::quiet_NaN();
    return std::stod(series[0].at("value").at(1).get<std::string>());
}

} // namespace auger::test
