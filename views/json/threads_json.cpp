// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/json/json_parts.h"
#include "views/json/json_views.h"

#include "views/escape.h"
#include "views/model/thread_sums.h"

namespace auger {

std::string threads_json(const Model& model, const Window& window, const ClassFilter& filter,
                         std::optional<size_t> limit) {
    using namespace json_parts;
    std::vector<ThreadSum> threads = sum_threads(model, window, filter);
    if (limit && threads.size() > *limit)
        threads.resize(*limit);
    Line list = Line::array();
    for (const ThreadSum& thread : threads)
        list.push_back({{"machine", text_or_null(model.machine(thread.machine).name)},
                        {"pid", thread.pid},
                        {"tid", thread.tid},
                        {"comm", escape_untrusted(thread.comm)},
                        {"total", sums(thread.sum)}});
    Line line = start("threads");
    line["window"] = window_line(window);
    line["split"] = split_line(model);
    line["only"] = text_or_null(model.only().text);
    line["class"] = escape_untrusted(to_string(filter));
    line["covered"] = number(covered_ns(model, window, model.now_ns()));
    line["threads"] = std::move(list);
    return finish(line);
}

} // namespace auger
