// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/symbols/confined_questions.h"

#include "loader/symbols/name_process.h"

namespace auger {

Result<std::string> ConfinedQuestions::ask(name_messages::Kind kind, int fd) {
    auto made = readers_->make(name_service);
    if (!made)
        return made.error();
    NameProcess process(*std::move(made), {});
    name_messages::Request request;
    request.kind = kind;
    const int descriptors[] = {fd};
    return process.ask(name_messages::request(request), descriptors, {});
}

std::optional<std::string> ConfinedQuestions::build_id_of(int fd) {
    const auto answer = ask(name_messages::Kind::build_id, fd);
    const auto id = answer ? elf_messages::build_id(std::string_view(*answer)) : std::nullopt;
    return id && !id->text.empty() ? std::optional(id->text) : std::nullopt;
}

std::optional<uint32_t> ConfinedQuestions::checksum_of(int fd) {
    const auto answer = ask(name_messages::Kind::checksum, fd);
    const auto checksum = answer ? elf_messages::checksum(std::string_view(*answer)) : std::nullopt;
    return checksum ? checksum->crc : std::nullopt;
}

} // namespace auger
