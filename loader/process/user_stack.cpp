// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/process/user_stack.h"

#include "loader/process/proc_info.h"
#include "loader/process/proc_maps.h"

#include <elfutils/libdwfl.h>
#include <sys/uio.h>

namespace auger {

namespace {

// As DWARF numbers them on x86-64.
enum { register_bp = 6, register_ip = 16 };

struct DwflDeleter {
    void operator()(Dwfl* dwfl) const { dwfl_end(dwfl); }
};

} // namespace

struct UserStacks::State {
    pid_t pid = 0;
    pid_t memory_tid = 0;              // a thread that has the memory
    std::map<uint64_t, Mapping> files; // first mapping of each mapped file, by its start
    std::unique_ptr<Dwfl, DwflDeleter> dwfl;
    // Of the read that is going on.
    UserRegisters registers;
    const ReturnAddresses* replaced = nullptr;
    size_t most = 0;
    std::vector<uint64_t> addresses;

    void report_modules();
    bool attach();

    // What libdw asks back; `state` is its argument.
    static int find_file(Dwfl_Module* module, void** state, const char*, Dwarf_Addr start,
                         char** path, Elf**);
    static int find_no_debug_file(Dwfl_Module*, void**, const char*, Dwarf_Addr, const char*,
                                  const char*, GElf_Word, char**) {
        return -1; // call frame information stands in the file itself
    }
    // There is one thread: the one that is being read.
    static pid_t next_thread(Dwfl*, void* state, void** argument) {
        bool first = !*argument;
        *argument = state;
        return first ? static_cast<State*>(state)->pid : 0;
    }
    static bool get_thread(Dwfl*, pid_t, void* state, void** argument) {
        *argument = state;
        return true;
    }
    static bool read_memory(Dwfl*, Dwarf_Addr address, Dwarf_Word* value, void* state);
    static bool set_registers(Dwfl_Thread* thread, void* state);
    static int add_frame(Dwfl_Frame* frame, void* state);
};

int UserStacks::State::find_file(Dwfl_Module*, void** user_data, const char*, Dwarf_Addr start,
                                 char** path, Elf**) {
    const auto* state = static_cast<const State*>(*user_data);
    auto mapping = state->files.find(start);
    if (mapping == state->files.end())
        return -1;
    auto file = open_mapped_file(state->pid, mapping->second);
    if (!file)
        return -1;
    *path = nullptr;
    return file->release();
}

bool UserStacks::State::read_memory(Dwfl*, Dwarf_Addr address, Dwarf_Word* value, void* argument) {
    const auto& state = *static_cast<const State*>(argument);
    if (auto known = state.replaced->find(address); known != state.replaced->end()) {
        *value = known->second;
        return true;
    }
    iovec here{value, sizeof(*value)};
    iovec there{reinterpret_cast<void*>(address), sizeof(*value)};
    return process_vm_readv(state.memory_tid, &here, 1, &there, 1, 0) ==
           static_cast<ssize_t>(sizeof(*value));
}

bool UserStacks::State::set_registers(Dwfl_Thread* thread, void* argument) {
    const UserRegisters& registers = static_cast<const State*>(argument)->registers;
    const Dwarf_Word stack[] = {registers.bp, registers.sp}; // 6 and 7
    const Dwarf_Word ip = registers.ip;
    return dwfl_thread_state_registers(thread, register_bp, 2, stack) &&
           dwfl_thread_state_registers(thread, register_ip, 1, &ip);
}

int UserStacks::State::add_frame(Dwfl_Frame* frame, void* argument) {
    auto& state = *static_cast<State*>(argument);
    Dwarf_Addr address = 0;
    if (!dwfl_frame_pc(frame, &address, nullptr) || !address)
        return DWARF_CB_ABORT;
    state.addresses.push_back(address);
    return state.addresses.size() < state.most ? DWARF_CB_OK : DWARF_CB_ABORT;
}

// A file's mappings lie one behind the other; its first one tells where it is.
void UserStacks::State::report_modules() {
    auto mappings = read_maps(pid);
    if (!mappings)
        return;
    for (size_t i = 0; i < mappings->size();) {
        const Mapping& first = (*mappings)[i];
        uint64_t end = first.end;
        bool executable = first.executable;
        for (i++; i < mappings->size() && (*mappings)[i].inode == first.inode &&
                  (*mappings)[i].device == first.device && (*mappings)[i].offset;
             i++) {
            end = (*mappings)[i].end;
            executable |= (*mappings)[i].executable;
        }
        if (!first.inode || !executable || first.offset)
            continue;
        Dwfl_Module* module = dwfl_report_module(dwfl.get(), first.path.c_str(), first.start, end);
        void** user_data = nullptr;
        if (!module || !dwfl_module_info(module, &user_data, nullptr, nullptr, nullptr, nullptr,
                                         nullptr, nullptr))
            continue;
        *user_data = this;
        files.emplace(first.start, first);
    }
}

bool UserStacks::State::attach() {
    static const Dwfl_Callbacks files_callbacks = {.find_elf = find_file,
                                                   .find_debuginfo = find_no_debug_file,
                                                   .section_address = nullptr,
                                                   .debuginfo_path = nullptr};
    static const Dwfl_Thread_Callbacks thread_callbacks = {.next_thread = next_thread,
                                                           .get_thread = get_thread,
                                                           .memory_read = read_memory,
                                                           .set_initial_registers = set_registers,
                                                           .detach = nullptr,
                                                           .thread_detach = nullptr};
    dwfl.reset(dwfl_begin(&files_callbacks));
    if (!dwfl)
        return false;
    dwfl_report_begin(dwfl.get());
    report_modules();
    return dwfl_report_end(dwfl.get(), nullptr, nullptr) == 0 &&
           dwfl_attach_state(dwfl.get(), nullptr, pid, &thread_callbacks, this);
}

UserStacks::UserStacks(pid_t pid) : state_(std::make_unique<State>()) {
    state_->pid = pid;
    state_->memory_tid = living_thread(pid);
    if (!state_->attach())
        state_->dwfl.reset();
}
UserStacks::~UserStacks() = default;
UserStacks::UserStacks(UserStacks&&) noexcept = default;
UserStacks& UserStacks::operator=(UserStacks&&) noexcept = default;

std::vector<uint64_t> UserStacks::read(const UserRegisters& registers,
                                       const ReturnAddresses& replaced, size_t most) {
    State& state = *state_;
    state.registers = registers;
    state.replaced = &replaced;
    state.most = most;
    state.addresses.clear();
    // It ends in an error at the outermost frame of most programs: what was found counts.
    if (state.dwfl && most)
        (void)dwfl_getthread_frames(state.dwfl.get(), state.pid, State::add_frame, &state);
    if (state.addresses.empty() && most)
        state.addresses.push_back(registers.ip);
    return state.addresses;
}

} // namespace auger
