# The headers that most files include are read once a target instead of once a file, which takes a
# quarter to a half off a cold build: CI's and the first one on a machine (`run`). Off for others:
# ccache cannot share what is compiled so, and a forgotten #include goes unnoticed.
option(AUGER_PRECOMPILED_HEADERS "Quicker cold builds" OFF)
if(NOT AUGER_PRECOMPILED_HEADERS)
    return()
endif()
set(STANDARD_HEADERS <algorithm> <array> <chrono> <cstdint> <deque> <functional> <map> <memory>
    <optional> <set> <span> <string> <string_view> <unordered_map> <utility> <variant> <vector>)
foreach(target auger_loader_core auger_reading auger_loader)
    target_precompile_headers(${target} PRIVATE ${STANDARD_HEADERS} <fmt/format.h>)
endforeach()
foreach(target auger_views auger_repl_core)
    target_precompile_headers(${target} PRIVATE ${STANDARD_HEADERS} <fmt/format.h> <fmt/ranges.h>
                              <nlohmann/json.hpp>)
endforeach()
foreach(target unit_loader unit_views unit_repl kernel_tests cli_tests)
    target_precompile_headers(${target} PRIVATE ${STANDARD_HEADERS} <gmock/gmock.h>)
endforeach()
