// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/runtimes/perl/layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace auger {
namespace {

constexpr uint64_t code_limit = 1 << 20; // of one function; they have some hundred bytes

// Icurcop and Icurstackinfo of struct interpreter (intrpvar.h); the size of struct context, and cv
// in its block_sub; si_type and si_cxsubix of struct stackinfo (cop.h); whether struct xpvhv_aux is
// part of a hash's body (hv.h); OP_NEXTSTATE and OP_SCOPE (opnames.h). As a compiler has them with
// the headers of Perl 5.28.3, 5.30.3, 5.32.1, 5.34.1, 5.36.0, 5.38.2 and 5.40.0, and of Debian's
// libperl5.36, libperl5.40 and libperl5.42, whose programs were asked, too.
struct Version {
    uint32_t minor; // 36: 5.36
    uint32_t cop, stack, context_bytes, context_sub, stack_type, stack_sub, aux_in_body;
    PerlOps ops;
};
constexpr std::array<Version, 8> versions = {{
    {28, 224, 240, 96, 64, 40, 0, 0, {195, 200}},
    {30, 224, 240, 96, 64, 40, 0, 0, {195, 200}},
    {32, 224, 240, 104, 72, 44, 40, 0, {195, 200}},
    {34, 208, 224, 104, 72, 44, 40, 0, {195, 200}},
    {36, 208, 224, 104, 72, 44, 40, 1, {195, 200}},
    {38, 208, 224, 104, 72, 44, 40, 1, {198, 203}},
    {40, 208, 224, 104, 72, 44, 40, 1, {198, 203}},
    {42, 208, 224, 104, 72, 44, 40, 1, {202, 207}},
}};

Error unknown_perl(const PerlFile& file, std::string cause) {
    return {"show Perl's subs",
            file.version ? fmt::format("of Perl {}.{}.{}", file.version >> 16,
                                       file.version >> 8 & 255, file.version & 255)
                         : "of a Perl that does not say its version",
            std::move(cause), "the interpreter's own functions are shown instead",
            Error::Kind::unsupported};
}

} // namespace

Result<PerlLayout> perl_layout(const PerlFile& file) {
    const auto version = std::ranges::find(versions, file.version >> 8 & 255, &Version::minor);
    if (file.version >> 16 != 5 || version == versions.end())
        return unknown_perl(file, "auger knows the frames of 5.28 to 5.42, of stable releases");
    if (!file.has_threads)
        return unknown_perl(file,
                            "it is built without ithreads, and has its interpreter elsewhere");
    if (file.loop.body_size == 0 || file.loop.body_size > code_limit)
        return unknown_perl(file,
                            "where its loop begins and ends (Perl_runops_standard) is not known");
    PerlLayout layout{};
    layout.walk.interpreter_cop = version->cop;
    layout.walk.interpreter_stack = version->stack;
    layout.walk.context_bytes = version->context_bytes;
    layout.walk.context_sub = version->context_sub;
    layout.walk.stack_type = version->stack_type;
    layout.walk.stack_sub = version->stack_sub;
    layout.walk.aux_in_body = version->aux_in_body;
    layout.walk.version = file.version >> 8;
    layout.ops = version->ops;
    return layout;
}

} // namespace auger
