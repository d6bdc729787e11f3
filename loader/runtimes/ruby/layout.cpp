// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/runtimes/ruby/layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

namespace auger {
namespace {

constexpr uint64_t code_limit = 16 << 20; // of rb_vm_exec(), which has some kilobytes

constexpr uint32_t singleton = 1 << 12, singleton_since_3_4 = 1 << 13; // FL_SINGLETON

// Members of rb_execution_context_t, rb_control_frame_t and rb_iseq_constant_body (vm_core.h), of
// iseq_insn_info_entry (iseq.h) and rb_classext_t (internal/class.h). Of 3.1 from the header of
// Debian's own build that its ruby3.1-dev has (rb_mjit_min_header-3.1.2.h); of 3.3 from the source
// of Debian's ruby3.3; of the others from the definitions that rbspy has made of each release's,
// which agree with these two. In 3.2 a class's name is among variables of another form.
struct Version {
    uint32_t minor; // 0x0301: 3.1
    uint32_t frame_bytes, machine;
    uint32_t lines, line_count, line_index, outermost, line_bytes;
    bool line_is_object, text_has_length;
    uint32_t array_mask;
    RubyClassNames class_names;
    uint32_t class_singleton;
};
constexpr std::array<Version, 5> versions = {{
    {0x0300, 56, 152, 120, 136, 144, 176, 8, true, false, 0x3, ruby_names_variables, singleton},
    {0x0301, 64, 144, 120, 136, 144, 176, 12, true, false, 0x3, ruby_names_variables, singleton},
    {0x0302, 64, 152, 112, 128, 136, 168, 12, false, true, 0x7f, ruby_names_unread, singleton},
    {0x0303, 56, 152, 112, 128, 136, 168, 12, false, true, 0x7f, ruby_names_extensions, singleton},
    {0x0304, 56, 144, 112, 128, 136, 168, 12, false, true, 0x7f, ruby_names_extensions,
     singleton_since_3_4},
}};

// In the class, which has 32 bytes before its extension, in both versions that have it.
constexpr uint32_t class_object = 128, class_has_name = 149, class_name = 152;

Error unknown_ruby(const RubyFile& file, std::string cause) {
    return {"show Ruby's functions",
            file.version ? fmt::format("of Ruby {}.{}.{}", file.version >> 16,
                                       file.version >> 8 & 255, file.version & 255)
                         : "of a Ruby that does not say its version",
            std::move(cause), "the interpreter's own functions are shown instead",
            Error::Kind::unsupported};
}

} // namespace

Result<RubyLayout> ruby_layout(const RubyFile& file) {
    const auto version = std::ranges::find(versions, file.version >> 8, &Version::minor);
    if (version == versions.end())
        return unknown_ruby(file, "auger knows the frames of 3.0 to 3.4");
    if (!file.context)
        return unknown_ruby(file,
                            "where its threads keep their context (ruby_current_ec) is not known");
    if (file.loop.body_size == 0 || file.loop.body_size > code_limit ||
        file.loop.cold_size > code_limit)
        return unknown_ruby(file, "where its loop begins and ends (rb_vm_exec) is not known");
    if (file.symbols == 0)
        return unknown_ruby(file, "where its names are (ruby_global_symbols) is not known");
    RubyLayout layout{};
    layout.frames.frame_bytes = version->frame_bytes;
    layout.frames.context_machine = version->machine;
    layout.frames.version = version->minor;
    layout.objects.body_lines = version->lines;
    layout.objects.body_line_count = version->line_count;
    layout.objects.body_line_index = version->line_index;
    layout.objects.body_outermost = version->outermost;
    layout.objects.line_bytes = version->line_bytes;
    layout.objects.line_is_object = version->line_is_object;
    layout.objects.text_has_length = version->text_has_length;
    layout.objects.array_mask = version->array_mask;
    layout.objects.class_names = version->class_names;
    layout.objects.class_singleton = version->class_singleton;
    layout.objects.class_object = class_object;
    layout.objects.class_name = class_name;
    layout.objects.class_has_name = class_has_name;
    return layout;
}

} // namespace auger
