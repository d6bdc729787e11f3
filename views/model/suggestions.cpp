// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/model/suggestions.h"

#include "views/model/flat_map.h"
#include "views/model/function_probe.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace auger {
namespace {

constexpr uint64_t least_returns = 3;
constexpr double least_share = 0.01;    // of the CPU time or of the waits of all samples
constexpr double loop_waits = 0.2;      // of a function's time: it is a turn of an event loop
constexpr double least_work = 0.01;     // of its time on the CPU: less is nothing but a wait
constexpr double recursive_share = 0.5; // of its time: it is an interpreter's, or a tree's

// System calls in which a thread waits for whatever comes next: the first ones for what others
// write, the rest for something else, or for time to go by.
constexpr std::array<std::string_view, 20> waits_for_work = {
    "epoll_wait",    "epoll_pwait",     "epoll_pwait2",    "poll",      "ppoll",
    "select",        "pselect6",        "accept",          "accept4",   "io_getevents",
    "io_pgetevents", "io_uring_enter",  "wait4",           "waitid",    "pause",
    "rt_sigsuspend", "rt_sigtimedwait", "mq_timedreceive", "nanosleep", "clock_nanosleep"};
constexpr size_t waits_for_input = 12; // of these

// The program's functions as called by each other, from the outermost on; direct recursion is one.
class CallTree {
  public:
    struct Node {
        uint32_t parent = 0;
        uint32_t depth = 0;
        FunctionId function{};
        bool inlined = false;
        double cpu_ns = 0, blocked_ns = 0;
        double waits_ns = 0, input_waits_ns = 0; // of the blocked time: for work, for input
        double recursive_ns = 0;                 // with the function below itself
        uint64_t returns = 0;

        double time_ns() const { return cpu_ns + blocked_ns; }
    };

    explicit CallTree(const Model& model) : model_(model), nodes_(1) {}

    void add(size_t sample);
    // Sums of callers hold those of what they call.
    void sum_up();

    const std::vector<Node>& nodes() const { return nodes_; } // callers first; [0] calls them all
    const std::vector<uint32_t>& children(uint32_t node) const { return children_[node]; }
    // It executes a language's functions: a native one directly below them.
    bool is_interpreter(FunctionId function) const { return interpreters_.contains(function); }

  private:
    struct Stack {
        uint32_t leaf = 0;
        bool usable = false;               // it is whole
        bool waits = false;                // for work
        bool waits_for_input = false;      // likewise
        std::vector<uint32_t> recursive{}; // outermost nodes of functions that are below themselves
    };

    const Stack& find(StackId);
    bool is_interpreted(FunctionId) const;
    void count_returns(uint32_t from, uint32_t to);

    const Model& model_;
    std::vector<Node> nodes_;
    std::vector<std::vector<uint32_t>> children_;
    FlatMap node_ids_; // by parent and function
    std::unordered_map<StackId, Stack> stacks_;
    std::unordered_set<FunctionId> interpreters_;
    std::unordered_map<ThreadId, uint32_t> last_; // leaf of each thread's last sample
};

bool CallTree::is_interpreted(FunctionId function) const {
    const SymbolTables& symbols = model_.symbols();
    const ModuleKind kind = symbols.module(symbols.function(function).module).kind;
    return kind == ModuleKind::python || kind == ModuleKind::php || kind == ModuleKind::ruby ||
           kind == ModuleKind::perl;
}

const CallTree::Stack& CallTree::find(StackId id) {
    const auto [at, added] = stacks_.try_emplace(id);
    Stack& stack = at->second;
    if (!added)
        return stack;
    const SymbolTables& symbols = model_.symbols();
    uint32_t node = 0;
    std::unordered_map<FunctionId, uint32_t> outermost;
    const std::span<const LocationId> locations = symbols.stack(id);
    for (auto location = locations.rbegin(); location != locations.rend(); ++location) {
        const ModuleKind kind = symbols.module(symbols.location(*location).module).kind;
        if (kind == ModuleKind::cut || kind == ModuleKind::unknown)
            return stack;
        if (kind == ModuleKind::task || kind == ModuleKind::go_label)
            continue;
        const std::span<const FrameEntry> frames = symbols.frames(*location);
        if (kind == ModuleKind::syscall) {
            if (frames.empty())
                break;
            const std::string_view shown = symbols.name(frames[0].function);
            const auto* waits = std::ranges::find_if(waits_for_work, [&](std::string_view name) {
                return shown == name ||
                       (shown.size() == name.size() + 2 && shown.substr(1).starts_with(name));
            });
            stack.waits = waits != waits_for_work.end();
            stack.waits_for_input = waits < waits_for_work.begin() + waits_for_input;
            break;
        }
        if (kind == ModuleKind::kernel || kind == ModuleKind::waker)
            break;
        for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame) {
            if (node && nodes_[node].function == frame->function)
                continue;
            const auto [known, is_new] = node_ids_.find_or_add(
                uint64_t{node} << 32 | frame->function.value, static_cast<uint32_t>(nodes_.size()));
            if (kind == ModuleKind::file && node && is_interpreted(nodes_[node].function))
                interpreters_.insert(frame->function);
            if (is_new)
                nodes_.push_back({.parent = node,
                                  .depth = nodes_[node].depth + 1,
                                  .function = frame->function,
                                  .inlined = frame->inlined});
            node = known;
            const auto [first, first_time] = outermost.try_emplace(frame->function, node);
            if (!first_time)
                stack.recursive.push_back(first->second);
        }
    }
    std::ranges::sort(stack.recursive);
    const auto repeated = std::ranges::unique(stack.recursive);
    stack.recursive.erase(repeated.begin(), repeated.end());
    stack.leaf = node;
    stack.usable = node != 0;
    return stack;
}

void CallTree::add(size_t i) {
    const SampleStore& samples = model_.samples();
    const Stack& stack = find(samples.stacks()[i]);
    if (!stack.usable)
        return;
    const auto weight = static_cast<double>(samples.weights()[i]);
    Node& leaf = nodes_[stack.leaf];
    const bool blocked = samples.kinds()[i] == SampleKind::blocked;
    (blocked ? leaf.blocked_ns : leaf.cpu_ns) += weight;
    if (blocked && stack.waits)
        leaf.waits_ns += weight;
    if (blocked && stack.waits_for_input)
        leaf.input_waits_ns += weight;
    for (const uint32_t node : stack.recursive)
        nodes_[node].recursive_ns += weight;
    const auto [last, first] = last_.try_emplace(samples.threads()[i], stack.leaf);
    if (!first)
        count_returns(std::exchange(last->second, stack.leaf), stack.leaf);
}

// Whatever was on the stack and is not in the same callers now has returned.
void CallTree::count_returns(uint32_t from, uint32_t to) {
    while (from != to) {
        if (nodes_[from].depth < nodes_[to].depth) {
            to = nodes_[to].parent;
            continue;
        }
        if (nodes_[from].depth == nodes_[to].depth)
            to = nodes_[to].parent;
        nodes_[from].returns++;
        from = nodes_[from].parent;
    }
}

void CallTree::sum_up() {
    children_.resize(nodes_.size());
    for (auto i = static_cast<uint32_t>(nodes_.size()); --i > 0;) { // callees come behind callers
        const Node& node = nodes_[i];
        Node& parent = nodes_[node.parent];
        parent.cpu_ns += node.cpu_ns;
        parent.blocked_ns += node.blocked_ns;
        parent.waits_ns += node.waits_ns;
        parent.input_waits_ns += node.input_waits_ns;
        children_[node.parent].push_back(i);
    }
}

class Chooser {
  public:
    Chooser(const Model& model, const CallTree& tree) : model_(model), tree_(tree) {}

    void choose(Suggestions& all) {
        descend();
        std::ranges::sort(found_, [](const Suggestion& a, const Suggestion& b) {
            return a.cpu_ns != b.cpu_ns ? a.cpu_ns > b.cpu_ns : a.function < b.function;
        });
        all.functions = std::move(found_);
        all.loops.assign(loops_.begin(), loops_.end());
    }

  private:
    using Node = CallTree::Node;

    // Whether `time` can take it.
    bool can_be_timed(const Node& node) const {
        const SymbolTables& symbols = model_.symbols();
        const Function& function = symbols.function(node.function);
        const ModuleInfo& module = symbols.module(function.module);
        return !node.inlined && module.kind == ModuleKind::file &&
               !tree_.is_interpreter(node.function) && !is_of_runtime(symbols, node.function) &&
               !is_an_address(symbols, node.function) &&
               symbols.found_as(node.function).size() == 1;
    }
    // Goroutines come and go on a thread: that one is gone does not say that it has ended.
    bool begins_goroutine(const Node& node) const {
        return node.parent != 0 &&
               model_.symbols().name(tree_.nodes()[node.parent].function) == "runtime.goexit";
    }
    bool returns(const Node& node) const {
        return node.returns >= least_returns && node.depth > 1 && !begins_goroutine(node);
    }
    void descend() {
        const Node& all = tree_.nodes()[0];
        std::vector<uint32_t> open = tree_.children(0);
        while (!open.empty()) {
            const uint32_t number = open.back();
            open.pop_back();
            const Node& node = tree_.nodes()[number];
            if (node.cpu_ns < least_share * all.cpu_ns &&
                node.blocked_ns < least_share * all.blocked_ns)
                continue;
            const bool is_turn = node.waits_ns >= loop_waits * node.time_ns();
            if (node.input_waits_ns > 0 && node.input_waits_ns >= loop_waits * node.time_ns())
                add_loop(number);
            if (!returns(node) || !can_be_timed(node) || is_turn) {
                const std::vector<uint32_t>& below = tree_.children(number);
                open.insert(open.end(), below.begin(), below.end());
            } else if (node.cpu_ns >= least_work * node.time_ns() &&
                       node.recursive_ns < recursive_share * node.time_ns()) {
                add(node);
            }
        }
    }
    void add_loop(uint32_t number) {
        for (; number != 0; number = tree_.nodes()[number].parent)
            loops_.insert(tree_.nodes()[number].function);
    }
    void add(const Node& node) {
        auto at = std::ranges::find(found_, node.function, &Suggestion::function);
        if (at == found_.end())
            at = found_.insert(at, Suggestion{node.function});
        at->cpu_ns += node.cpu_ns;
        at->blocked_ns += node.blocked_ns;
        at->returns += node.returns;
    }

    const Model& model_;
    const CallTree& tree_;
    std::vector<Suggestion> found_;
    std::set<FunctionId> loops_;
};

} // namespace

Suggestions suggest_functions(const Model& model, size_t most_samples) {
    const SampleStore& samples = model.samples();
    Suggestions all;
    all.samples = std::min(samples.size(), most_samples);
    if (all.samples < least_samples_to_suggest)
        return all;
    CallTree tree(model);
    // The n-th that came lies at n % capacity.
    for (uint64_t n = model.samples_received() - all.samples; n < model.samples_received(); n++)
        tree.add(n % samples.capacity());
    tree.sum_up();
    all.cpu_ns = tree.nodes()[0].cpu_ns;
    Chooser(model, tree).choose(all);
    return all;
}

} // namespace auger
