// SPDX-License-Identifier: GPL-3.0-or-later
// Fields of OpenTelemetry's messages that auger writes, by number, as opentelemetry-proto 1.11.0
// has them: profiles/v1development/profiles.proto, common/v1/common.proto,
// resource/v1/resource.proto. That of profiles is not stable yet: another version may number them
// anew.
#pragma once

#include <cstdint>

namespace auger::otlp {

namespace profiles_data {
enum : uint32_t { resource_profiles = 1, dictionary = 2 };
}
namespace resource_profiles {
enum : uint32_t { resource = 1, scope_profiles = 2 };
}
namespace scope_profiles {
enum : uint32_t { scope = 1, profiles = 2 };
}
namespace profile {
enum : uint32_t {
    sample_type = 1,
    samples = 2,
    time_unix_nano = 3,
    duration_nano = 4,
    period_type = 5,
    period = 6,
    attribute_indices = 11,
};
}
namespace value_type {
enum : uint32_t { type_strindex = 1, unit_strindex = 2 };
}
namespace sample {
enum : uint32_t { stack_index = 1, attribute_indices = 2, link_index = 3, values = 4 };
}

namespace dictionary {
enum : uint32_t {
    mapping_table = 1,
    location_table = 2,
    function_table = 3,
    link_table = 4,
    string_table = 5,
    attribute_table = 6,
    stack_table = 7,
};
}
namespace link {
enum : uint32_t { trace_id = 1, span_id = 2 };
}
namespace mapping {
enum : uint32_t { filename_strindex = 4, attribute_indices = 5 };
}
namespace location {
enum : uint32_t { mapping_index = 1, address = 2, lines = 3, attribute_indices = 4 };
}
namespace line {
enum : uint32_t { function_index = 1, line = 2 };
}
namespace function {
enum : uint32_t { name_strindex = 1, filename_strindex = 3 };
}
namespace stack {
enum : uint32_t { location_indices = 1 };
}
namespace key_value_and_unit {
enum : uint32_t { key_strindex = 1, value = 2 };
}

// Of common.proto and resource.proto.
namespace resource {
enum : uint32_t { attributes = 1 };
}
namespace instrumentation_scope {
enum : uint32_t { name = 1 };
}
namespace key_value {
enum : uint32_t { key = 1, value = 2 };
}
namespace any_value {
enum : uint32_t { string_value = 1, array_value = 5 };
}
namespace array_value {
enum : uint32_t { values = 1 };
}

} // namespace auger::otlp
