# How a first build is made in half the time: a machine's (`run`) and CI's. Off for others: what is
# compiled together is compiled again together, and a forgotten #include goes unnoticed.
option(AUGER_QUICK_BUILD "Quicker builds from nothing, slower ones after a change" OFF)
if(NOT AUGER_QUICK_BUILD)
    return()
endif()

# The files of a folder are compiled together, so what stands in their unnamed namespaces must not
# have the same names; so many at once that several compilers have something to do.
set(FILES_AT_ONCE 20)
foreach(target auger_loader_core auger_reading auger_loader auger_views auger_repl_core auger)
    get_target_property(files ${target} SOURCES)
    get_target_property(folder ${target} SOURCE_DIR)
    set(last "")
    foreach(file IN LISTS files)
        get_filename_component(name ${file} DIRECTORY)
        if(NOT name STREQUAL last)
            set(last ${name})
            set(count 0)
        endif()
        math(EXPR number "${count} / ${FILES_AT_ONCE}")
        math(EXPR count "${count} + 1")
        string(REGEX REPLACE "^${CMAKE_SOURCE_DIR}/" "" group "${name}")
        string(MAKE_C_IDENTIFIER "${group}_${number}" group)
        set_source_files_properties(${file} TARGET_DIRECTORY ${target} PROPERTIES UNITY_GROUP ${group})
    endforeach()
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
    # GCC takes such a file for a header, whose classes must not hold what is local to a file; and
    # where more is inlined, it takes a variant's other alternative for one that was not set.
    target_compile_options(${target} PRIVATE
        $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage -Wno-maybe-uninitialized>)
endforeach()

# The tests' headers are read once a program instead of once a file.
foreach(target unit_loader unit_views unit_repl kernel_tests cli_tests)
    target_precompile_headers(${target} PRIVATE
        <algorithm> <array> <chrono> <cstdint> <deque> <functional> <map> <memory> <optional> <set>
        <span> <string> <string_view> <unordered_map> <utility> <variant> <vector> <gmock/gmock.h>)
endforeach()
