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

# Tests' files likewise, but those that give the same name to different things, as tests do: what
# stands at the left margin is a file's own. Names that this does not see are an error of the
# compiler's.
set(TEST_FILES_AT_ONCE 8)
function(names_of file names)
    file(READ ${file} text)
    string(REGEX REPLACE "[][;]" "=" text "${text}") # which lists of CMake's do not stand
    string(REGEX MATCHALL "\n[A-Za-z][^\n]*" lines "${text}")
    set(found "")
    foreach(line IN LISTS lines)
        if(NOT line MATCHES "^.(using|namespace|extern|public|private|protected|TEST|INSTANTIATE)" AND
           line MATCHES "([A-Za-z_0-9]+)( final)?( : .*)? *[({=]")
            list(APPEND found ${CMAKE_MATCH_1})
        endif()
    endforeach()
    list(REMOVE_DUPLICATES found)
    set(${names} ${found} PARENT_SCOPE)
endfunction()

foreach(target unit_loader unit_views unit_repl kernel_tests cli_tests hostile_tests real_tests
               importer_tests tui_tests)
    if(NOT TARGET ${target})
        continue()
    endif()
    get_target_property(files ${target} SOURCES)
    get_target_property(folder ${target} SOURCE_DIR)
    set(groups 0)
    foreach(file IN LISTS files)
        get_filename_component(path ${file} ABSOLUTE BASE_DIR ${folder})
        names_of(${path} names)
        # The first group that has room, and none of these names.
        set(group 0)
        while(TRUE)
            if(group EQUAL groups)
                math(EXPR groups "${groups} + 1")
                set(count_of_${group} 0)
                set(names_of_${group} "")
            endif()
            set(both ${names_of_${group}} ${names})
            list(LENGTH both all)
            list(REMOVE_DUPLICATES both)
            list(LENGTH both different)
            if(count_of_${group} LESS TEST_FILES_AT_ONCE AND all EQUAL different)
                break()
            endif()
            math(EXPR group "${group} + 1")
        endwhile()
        math(EXPR count_of_${group} "${count_of_${group}} + 1")
        set(names_of_${group} ${both})
        set_source_files_properties(${path} TARGET_DIRECTORY ${target} PROPERTIES UNITY_GROUP ${group})
    endforeach()
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endforeach()

# And their headers are read once a program, where it has many files.
foreach(target unit_loader unit_views unit_repl kernel_tests cli_tests)
    if(TARGET ${target})
        target_precompile_headers(${target} PRIVATE
            <algorithm> <array> <chrono> <cstdint> <deque> <functional> <map> <memory> <optional>
            <set> <span> <string> <string_view> <unordered_map> <utility> <variant> <vector>
            <fmt/format.h> <gmock/gmock.h> <nlohmann/json.hpp>)
    endif()
endforeach()
