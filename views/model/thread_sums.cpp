// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/model/thread_sums.h"

#include "views/model/sample_pass.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>

namespace auger {

std::vector<ThreadSum> merge_threads(const Model& model, std::span<const SampleSum> by_thread) {
    std::vector<ThreadSum> threads;
    std::map<std::tuple<MachineId, uint32_t, uint32_t>, size_t> of_thread;
    for (size_t i = 0; i < by_thread.size(); i++) {
        if (by_thread[i].samples == 0)
            continue;
        const ThreadInfo& info = model.symbols().thread(ThreadId{static_cast<uint32_t>(i)});
        const auto [place, is_new] =
            of_thread.try_emplace({info.machine, info.pid, info.tid}, threads.size());
        if (is_new)
            threads.push_back({info.machine, info.pid, info.tid, {}, {}});
        threads[place->second].comm = info.comm;
        threads[place->second].sum += by_thread[i];
    }
    std::ranges::sort(threads, [](const ThreadSum& a, const ThreadSum& b) {
        const double x = a.sum.weight_ns, y = b.sum.weight_ns;
        return x != y ? x > y
                      : std::tie(a.machine, a.pid, a.tid) < std::tie(b.machine, b.pid, b.tid);
    });
    return threads;
}

std::vector<ThreadSum> sum_threads(const Model& model, const Window& window,
                                   const ClassFilter& filter) {
    SamplePass pass(model, window, filter);
    const SampleStore& samples = model.samples();
    std::vector<SampleSum> by_thread(model.symbols().threads() + 1); // the last: undefined ones
    const auto add = [&](size_t i, CallClass, double factor) {
        const size_t thread = std::min(samples.threads()[i].index(), by_thread.size() - 1);
        by_thread[thread] += sample_sum(samples, i, factor);
    };
    while (pass.work(std::numeric_limits<size_t>::max(), add)) {
    }
    return merge_threads(model, by_thread);
}

double covered_ns(const Model& model, const Window& window, uint64_t now_ns) {
    uint64_t first = model.first_ns();
    if (model.samples_evicted())
        first = std::max(first, model.samples().oldest().time_ns);
    const uint64_t from = window.since(first, now_ns), until = window.until(now_ns);
    const double all = until > from ? static_cast<double>(until - from) : 0;
    if (window.kind != Window::Kind::ewma)
        return all;
    const auto constant = static_cast<double>(window.span_ns);
    return constant > 0 ? constant * (1 - std::exp(-all / constant)) : 0;
}

} // namespace auger
