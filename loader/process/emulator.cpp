// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/process/emulator.h"

#include "loader/process/proc_info.h"

#include <fmt/format.h>

#include <sys/utsname.h>

namespace auger {
namespace {

std::string_view base_name(std::string_view path) {
    return path.substr(path.rfind('/') + 1);
}

} // namespace

std::string emulator_named(std::string_view executable) {
    const std::string_view name = base_name(executable);
    // Each of its tools is a program: memcheck-amd64-linux.
    for (std::string_view end : {"-amd64-linux", "-x86-linux"})
        if (name.ends_with(end))
            return fmt::format("Valgrind ({})", name.substr(0, name.size() - end.size()));
    // Not the emulators of whole machines, nor tools.
    if (name.starts_with("qemu-") && !name.starts_with("qemu-system") && name != "qemu-img" &&
        name != "qemu-nbd" && name != "qemu-io" && name != "qemu-ga")
        return std::string(name);
    if (name == "pinbin")
        return "Pin";
    return {};
}

std::string emulator_mapping(std::string_view path) {
    return base_name(path).starts_with("libdynamorio.so") ? "DynamoRIO" : "";
}

bool maps_code_as_data(std::string_view executable) {
    utsname machine{};
    uname(&machine);
    const std::string qemu = fmt::format("qemu-{}", machine.machine);
    const std::string_view name = base_name(executable);
    return name == qemu || name == qemu + "-static";
}

std::string emulator_of(pid_t pid, std::span<const Mapping> maps) {
    const auto executable = exe_path(pid);
    std::string name = executable ? emulator_named(*executable) : "";
    for (const Mapping& mapping : maps)
        if (name.empty())
            name = emulator_mapping(mapping.path);
    return name;
}

std::string emulator_of(pid_t pid) {
    const auto maps = read_maps(pid);
    return emulator_of(pid, maps ? *maps : std::vector<Mapping>());
}

} // namespace auger
