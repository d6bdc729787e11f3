// SPDX-License-Identifier: GPL-3.0-or-later
// A program with much inlining. `symbols_... wait` prints the address of fixture_leaf() and waits
// for the end of its standard input.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <numeric>
#include <string>
#include <vector>

namespace shapes {

struct Box {
    double width, height;
    double area() const { return width * height; }
    bool larger(const Box& other) const { return area() > other.area(); }
};

template <typename T>
class Store {
  public:
    void add(T value) { values_.push_back(std::move(value)); }
    T largest() const {
        return *std::max_element(values_.begin(), values_.end(),
                                 [](const T& a, const T& b) { return b.larger(a); });
    }
    void sort() {
        std::sort(values_.begin(), values_.end(),
                  [](const T& a, const T& b) { return a.larger(b); });
    }
    double total() const {
        return std::accumulate(values_.begin(), values_.end(), 0.0,
                               [](double sum, const T& value) { return sum + value.area(); });
    }

  private:
    std::vector<T> values_;
};

} // namespace shapes

static inline __attribute__((always_inline)) int innermost(int value) {
    asm volatile("xchg %0, %0" : "+r"(value)); // the first instruction of fixture_leaf()
    return value * 3;
}
static inline __attribute__((always_inline)) int middle(int value) {
    return innermost(value) + 1;
}
extern "C" __attribute__((noinline)) int fixture_leaf(int value) {
    return middle(value) + 7;
}

__attribute__((noinline)) std::map<std::string, size_t> count_words(const std::string& text) {
    std::map<std::string, size_t> counts;
    size_t at = 0;
    while (at < text.size()) {
        const size_t end = std::min(text.find(' ', at), text.size());
        counts[text.substr(at, end - at)]++;
        at = end + 1;
    }
    return counts;
}

__attribute__((noinline)) double measure(int rounds) {
    shapes::Store<shapes::Box> store;
    for (int i = 1; i <= rounds; i++)
        store.add({i * 1.5, static_cast<double>(fixture_leaf(i) % 17)});
    store.sort();
    return store.largest().area() + store.total();
}

int main(int argc, char** argv) {
    if (argc > 1 && std::strcmp(argv[1], "wait") == 0) {
        std::printf("%p\n", reinterpret_cast<void*>(&fixture_leaf));
        std::fflush(stdout);
        char byte;
        while (read(0, &byte, 1) > 0)
            ;
        return 0;
    }
    std::printf("%f %zu\n", measure(argc * 100), count_words("a b c a").size());
}
