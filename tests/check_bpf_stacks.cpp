// SPDX-License-Identifier: GPL-3.0-or-later
// check_bpf_stacks OBJECT: fails when a chain of calls in the linked BPF object needs more stack
// than kernels allow that have none for each program, which is before Linux 6.13:
// check_max_stack_depth() of kernel/bpf/verifier.c. The kernels in tests/qemu say so as well, later
// and of one chain at a time.
#include <fcntl.h>
#include <fmt/format.h>
#include <gelf.h>
#include <libelf.h>
#include <linux/bpf.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace auger::test {
namespace {

constexpr uint32_t most_bytes = 512, most_calls = 8; // MAX_BPF_STACK, MAX_CALL_FRAMES
constexpr uint32_t rounded_to = 32;                  // of each function, at least one such step

// A place of code: the section, and the instruction's number in it.
using Place = std::pair<size_t, size_t>;

struct Function {
    std::string name;
    size_t instructions = 0;
    bool is_program = false;
    uint32_t bytes = 0;
    std::set<Place> calls;
};

struct Chain {
    uint32_t bytes = 0;
    std::vector<std::string> functions;
};

class Object {
  public:
    explicit Object(Elf* elf) : elf_(elf) {
        read_sections();
        read_functions();
        read_relocations();
        for (auto& [place, function] : functions_)
            read_code(place, function);
    }

    const std::map<Place, Function>& functions() const { return functions_; }

    // The one of all chains that begin there that takes the most, and the one that is the longest.
    Chain deepest(const Place& from) const {
        return best(from, [](const Chain& chain) { return chain.bytes; });
    }
    Chain longest(const Place& from) const {
        return best(from, [](const Chain& chain) { return chain.functions.size(); });
    }

  private:
    template <typename Measure>
    Chain best(const Place& from, Measure measure) const {
        const Function& function = functions_.at(from);
        Chain rest; // BPF has no recursion
        for (const Place& called : function.calls)
            if (Chain chain = best(called, measure); measure(chain) > measure(rest))
                rest = std::move(chain);
        const uint32_t bytes =
            (std::max(function.bytes, 1u) + rounded_to - 1) / rounded_to * rounded_to;
        rest.bytes += bytes;
        rest.functions.insert(rest.functions.begin(), fmt::format("{} {}", bytes, function.name));
        return rest;
    }

    void read_sections() {
        for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf_, section));) {
            GElf_Shdr header;
            if (!gelf_getshdr(section, &header))
                continue;
            const Elf_Data* data = elf_getdata(section, nullptr);
            if (!data || !data->d_buf)
                continue;
            if (header.sh_type == SHT_PROGBITS && header.sh_flags & SHF_EXECINSTR) {
                std::vector<bpf_insn>& code = code_[elf_ndxscn(section)];
                code.resize(data->d_size / sizeof(bpf_insn));
                std::memcpy(code.data(), data->d_buf, code.size() * sizeof(bpf_insn));
            } else if (header.sh_type == SHT_SYMTAB) {
                names_ = header.sh_link;
                for (size_t i = 0; i < header.sh_size / header.sh_entsize; ++i) {
                    GElf_Sym symbol;
                    gelf_getsym(const_cast<Elf_Data*>(data), static_cast<int>(i), &symbol);
                    symbols_.push_back(symbol);
                }
            }
        }
    }

    void read_functions() {
        size_t section_names = 0;
        elf_getshdrstrndx(elf_, &section_names);
        for (const GElf_Sym& symbol : symbols_) {
            if (GELF_ST_TYPE(symbol.st_info) != STT_FUNC || !code_.contains(symbol.st_shndx))
                continue;
            GElf_Shdr header;
            gelf_getshdr(elf_getscn(elf_, symbol.st_shndx), &header);
            const std::string section = elf_strptr(elf_, section_names, header.sh_name);
            Function& function = functions_[{symbol.st_shndx, symbol.st_value / sizeof(bpf_insn)}];
            function.name = elf_strptr(elf_, names_, symbol.st_name);
            function.instructions = symbol.st_size / sizeof(bpf_insn);
            function.is_program = section != ".text";
        }
    }

    void read_relocations() {
        for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf_, section));) {
            GElf_Shdr header;
            if (!gelf_getshdr(section, &header) || header.sh_type != SHT_REL ||
                !code_.contains(header.sh_info))
                continue;
            Elf_Data* data = elf_getdata(section, nullptr);
            for (size_t i = 0; i < header.sh_size / header.sh_entsize; ++i) {
                GElf_Rel relocation;
                gelf_getrel(data, static_cast<int>(i), &relocation);
                symbol_at_[{header.sh_info, relocation.r_offset / sizeof(bpf_insn)}] =
                    symbols_.at(GELF_R_SYM(relocation.r_info));
            }
        }
    }

    // What is called there, or whose address is taken, to be called by a helper.
    std::optional<Place> called_at(const Place& place, const bpf_insn& instruction) const {
        const bool call =
            instruction.code == (BPF_JMP | BPF_CALL) && instruction.src_reg == BPF_PSEUDO_CALL;
        const bool address = instruction.code == (BPF_LD | BPF_IMM | BPF_DW);
        if (!call && !address)
            return std::nullopt;
        const auto relocation = symbol_at_.find(place);
        if (relocation == symbol_at_.end()) {
            if (!call)
                return std::nullopt;
            // Calls are relative to the next instruction.
            return Place{place.first, place.second + 1 + static_cast<size_t>(instruction.imm)};
        }
        const GElf_Sym& symbol = relocation->second;
        if (!code_.contains(symbol.st_shndx))
            return std::nullopt;
        size_t target = symbol.st_value / sizeof(bpf_insn);
        // By its section, the rest is in the instruction.
        if (GELF_ST_TYPE(symbol.st_info) == STT_SECTION)
            target += call ? static_cast<size_t>(instruction.imm + 1)
                           : static_cast<size_t>(instruction.imm) / sizeof(bpf_insn);
        return Place{symbol.st_shndx, target};
    }

    // How deep r10 is followed, by itself and by what was made of it. Registers are looked at in
    // the order of the code, which is how clang makes such pointers: a copy of r10, then what is
    // added.
    void read_code(const Place& begin, Function& function) {
        std::array<std::optional<int64_t>, 16> below{}; // of each register: r10 and this
        below[BPF_REG_10] = 0;
        const auto use = [&](int64_t offset) {
            if (offset < 0)
                function.bytes = std::max(function.bytes, static_cast<uint32_t>(-offset));
        };
        const std::vector<bpf_insn>& code = code_.at(begin.first);
        const size_t end = std::min(code.size(), begin.second + function.instructions);
        for (size_t at = begin.second; at < end; ++at) {
            const bpf_insn& instruction = code[at];
            if (const auto called = called_at({begin.first, at}, instruction);
                called && functions_.contains(*called))
                function.calls.insert(*called);
            const auto kind = BPF_CLASS(instruction.code);
            auto& target = below.at(instruction.dst_reg);
            const auto& source = below.at(instruction.src_reg);
            if (kind == BPF_STX || kind == BPF_ST) {
                if (target)
                    use(*target + instruction.off);
            } else if (kind == BPF_LDX) {
                if (source)
                    use(*source + instruction.off);
                target.reset();
            } else if (instruction.code == (BPF_ALU64 | BPF_MOV | BPF_X)) {
                target = source;
            } else if (instruction.code == (BPF_ALU64 | BPF_ADD | BPF_K)) {
                if (target) {
                    *target += instruction.imm;
                    use(*target);
                }
            } else if (kind == BPF_ALU64 || kind == BPF_ALU || kind == BPF_LD) {
                target.reset();
            } else if (instruction.code == (BPF_JMP | BPF_CALL)) {
                for (size_t i = BPF_REG_0; i <= BPF_REG_5; ++i)
                    below[i].reset();
            }
            if (instruction.code == (BPF_LD | BPF_IMM | BPF_DW))
                ++at; // it takes the place of two
        }
    }

    Elf* const elf_;
    size_t names_ = 0;
    std::vector<GElf_Sym> symbols_;
    std::map<size_t, std::vector<bpf_insn>> code_; // by section
    std::map<Place, GElf_Sym> symbol_at_;
    std::map<Place, Function> functions_;
};

int check(const char* path) {
    elf_version(EV_CURRENT);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    Elf* const elf = fd < 0 ? nullptr : elf_begin(fd, ELF_C_READ, nullptr);
    if (!elf) {
        fmt::print("{} cannot be read\n", path);
        return 1;
    }
    const Object object(elf);
    size_t programs = 0;
    Chain deepest;
    int result = 0;
    const auto refuse = [&](const char* what, const Chain& chain) {
        fmt::print("{} in {} bytes of stack:\n", what, chain.bytes);
        for (const std::string& function : chain.functions)
            fmt::print("    {}\n", function);
        result = 1;
    };
    for (const auto& [place, function] : object.functions()) {
        if (!function.is_program)
            continue;
        programs++;
        Chain chain = object.deepest(place);
        if (chain.bytes > most_bytes)
            refuse("too deep", chain);
        if (const Chain longest = object.longest(place); longest.functions.size() > most_calls)
            refuse("too many calls", longest);
        if (chain.bytes > deepest.bytes)
            deepest = std::move(chain);
    }
    // Of all of them some call others.
    if (programs < 10 || deepest.functions.size() < 3) {
        fmt::print("{} programs with calls {} deep: look here\n", programs,
                   deepest.functions.size());
        return 1;
    }
    fmt::print("{} programs, of which the deepest takes {} bytes of {}: {}\n", programs,
               deepest.bytes, most_bytes, fmt::join(deepest.functions, ", "));
    elf_end(elf);
    close(fd);
    return result;
}

} // namespace
} // namespace auger::test

int main(int argc, char** argv) {
    if (argc != 2) {
        fmt::print("usage: check_bpf_stacks OBJECT\n");
        return 2;
    }
    return auger::test::check(argv[1]);
}
