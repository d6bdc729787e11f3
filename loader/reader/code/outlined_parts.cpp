// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/reader/code/outlined_parts.h"

#include <map>
#include <set>

namespace auger {
namespace {

constexpr size_t instruction_limit = 512; // of one part; bounds what a hostile file can cost
constexpr size_t window_size = 4096;      // bytes read at once

using Flow = Instruction::Flow;

class Explorer {
  public:
    Explorer(const CodePart& body, const std::function<bool(uint64_t)>& named,
             const DataReader& read_code)
        : body_(body), named_(named), read_code_(read_code) {}

    // Follows the code from `start`; whether it leads back into the function.
    bool leads_back(uint64_t start) {
        visited_.clear();
        std::set<uint64_t> open{start};
        bool back = false;
        while (!open.empty() && visited_.size() < instruction_limit) {
            uint64_t at = *open.begin();
            open.erase(open.begin());
            if (in_body(at)) {
                back |= at != body_.address;
                continue;
            }
            if (visited_.contains(at) || named_(at))
                continue;
            std::optional<Instruction> instruction = decode_at(at);
            if (!instruction)
                continue;
            visited_[at] = instruction->length;
            bool branches =
                instruction->flow == Flow::jump || instruction->flow == Flow::conditional;
            if (branches && !instruction->indirect)
                open.insert(instruction->target);
            if (instruction->flow != Flow::jump && instruction->flow != Flow::ret &&
                instruction->flow != Flow::stop)
                open.insert(at + instruction->length);
        }
        return back;
    }

    const std::map<uint64_t, uint8_t>& visited() const { return visited_; }

  private:
    bool in_body(uint64_t address) const {
        return address >= body_.address && address - body_.address < body_.bytes.size();
    }

    std::optional<Instruction> decode_at(uint64_t address) {
        constexpr size_t longest = 15;
        if (address < window_address_ || address - window_address_ + longest > window_.size()) {
            window_ = read_code_(address, window_size);
            window_address_ = address;
        }
        if (window_.empty())
            return std::nullopt;
        return decode(std::span(window_).subspan(address - window_address_), address);
    }

    const CodePart& body_;
    const std::function<bool(uint64_t)>& named_;
    const DataReader& read_code_;
    std::map<uint64_t, uint8_t> visited_; // address -> length
    std::vector<std::byte> window_;
    uint64_t window_address_ = 0;
};

} // namespace

std::vector<CodeRange> find_outlined_parts(const CodePart& body,
                                           const std::function<bool(uint64_t address)>& named,
                                           const DataReader& read_code) {
    Explorer explorer(body, named, read_code);
    std::map<uint64_t, uint8_t> code;
    for (uint64_t target : leaving_jumps(body))
        if (!named(target) && !code.contains(target) && explorer.leads_back(target))
            code.insert(explorer.visited().begin(), explorer.visited().end());
    std::vector<CodeRange> parts;
    for (auto [address, length] : code) {
        if (!parts.empty() && parts.back().address + parts.back().size == address)
            parts.back().size += length;
        else
            parts.push_back({address, length});
    }
    return parts;
}

} // namespace auger
