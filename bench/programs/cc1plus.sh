#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# A heavy C++ file, compiled over and over. In an empty folder; says when it is ready, and ends
# with its input.
cat >heavy.cpp <<'END'
#include <algorithm>
#include <functional>
#include <iostream>
#include <map>
#include <random>
#include <regex>
int main(int, char** argv) {
    std::map<std::string, std::function<int(int)>> functions;
    std::regex pattern(argv[1]);
    std::mt19937 random;
    std::vector<std::string> words(10, argv[2]);
    std::shuffle(words.begin(), words.end(), random);
    std::sort(words.begin(), words.end(), std::greater<>());
    for (const std::string& word : words)
        functions[std::regex_replace(word, pattern, "x")] = [](int a) { return a * a; };
    for (auto& [name, function] : functions)
        std::cout << name << function(3) << std::endl;
}
END
echo ready
while :; do g++ -O2 -g -c heavy.cpp; done &
load=$!
read -r _
kill $load
wait
