// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/importers/exported_model.h"

#include <unistd.h>

#include <fstream>
#include <iterator>
#include <regex>

namespace auger::test {

std::string find_tool(const std::string& name) {
    for (const char* folder : {"/usr/bin/", "/usr/local/bin/", "/usr/local/go/bin/"})
        if (access((folder + name).c_str(), X_OK) == 0)
            return folder + name;
    return {};
}

std::string text_of(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

Importers::Importers() {
    const SpecId handle = stream.probe(1, "handle");
    stream.split(1, stream.fixed(5 * ms));
    uint64_t now = 10 * ms;
    for (int i = 0; i < 40; i++) {
        const bool slow = i % 4 == 0;
        const uint64_t duration = slow ? 9 * ms : 2 * ms;
        const CallKey call = stream.call(handle, now);
        for (uint64_t at = 0; at < duration; at += ms)
            stream.sample(now + at, 101,
                          stream.stack({"_start", "handle",
                                        slow && at > ms ? "scan(std::vector<int>&)"
                                                        : "(anonymous namespace)::parse"}),
                          {call}, ms);
        if (i == 0) {
            SlowCallEvent event;
            event.end.call = call;
            event.end.thread = stream.thread(101);
            event.end.time_ns = now + duration;
            event.end.duration_ns = duration;
            event.end.waits = {3 * ms, ms};
            event.threshold_ns = 5 * ms;
            event.stack = stream.stack({"_start", "handle"});
            event.longest_wait = {3 * ms, "recvfrom(9) \"a,b\""};
            event.values = {{"path", "=cmd()|</script>", true}, {"len", "not mapped", false}};
            model.on_slow_call(event);
        }
        stream.end(101, call, duration);
        stream.stats(now + duration, handle, {duration});
        now += 20 * ms;
    }
    for (size_t i = 0; i < 25; i++) {
        std::vector<std::string> stack = {"_start", "idle"};
        if (i < nasty_names.size())
            stack.push_back(nasty_names[i]);
        stream.sample(now + i * ms, 102, stream.stack(stack), {}, ms);
    }
    now += 25 * ms;
    stream.ledger(now, 0, 3);
}

std::string Importers::write(std::string_view format, const std::string& name,
                             const ExportQuery& query) {
    StringSink sink;
    EXPECT_TRUE(find_export_format(format)->write(model, query, sink));
    return folder.file(name, sink.text);
}

// Virtual time goes on while the page does what it does not count, such as reading files; a page
// that waits for that asks again every 10 ms of it, which takes longer than the page does only if
// there are many of them. One that is done waits for nothing, and all that is left goes by at once.
nlohmann::json Importers::report_of(const std::string& url) {
    const Outcome outcome =
        run({"/usr/bin/env", chromium, "--headless", "--no-sandbox", "--disable-gpu",
             "--disable-dev-shm-usage", "--allow-file-access-from-files",
             "--user-data-dir=" + folder.path("chromium"), "--window-size=1200,800",
             "--virtual-time-budget=5000000", "--dump-dom", url});
    const std::string mark = "<pre id=\"report\">";
    const size_t begin = outcome.out.find(mark), end = outcome.out.find("</pre>");
    if (begin == std::string::npos || end == std::string::npos) {
        ADD_FAILURE() << outcome.out.substr(0, 2000) << outcome.err.substr(0, 2000);
        return nullptr;
    }
    std::string text = outcome.out.substr(begin + mark.size(), end - begin - mark.size());
    for (const auto& [escaped, meant] : {std::pair{"&lt;", "<"}, {"&gt;", ">"}, {"&amp;", "&"}})
        text = std::regex_replace(text, std::regex(escaped), meant);
    return nlohmann::json::parse(text);
}

} // namespace auger::test
