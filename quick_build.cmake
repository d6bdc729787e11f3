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
# stands at the left margin of a file, or of a header of the tests that only the other one includes.
# Names that this does not see are an error of the compiler's.
set(TEST_FILES_AT_ONCE 8)

# read_names(FILE): sets OWN_NAMES_OF_FILE, and OTHER_NAMES_OF_FILE to NAME|HEADER of what it includes.
macro(read_names file)
    if(NOT DEFINED OWN_NAMES_OF_${file})
        set(OWN_NAMES_OF_${file} "") # of one that includes itself
        set(OTHER_NAMES_OF_${file} "")
        file(READ ${file} text)
        string(REGEX REPLACE "[][;]" "=" text "${text}") # which lists of CMake's do not stand
        string(REGEX MATCHALL "\n[A-Za-z][^\n]*" lines "${text}")
        string(REGEX MATCHALL "\n#include \"tests/[^\"]*" headers_of_${file} "${text}")
        foreach(line IN LISTS lines)
            if(line MATCHES "^.using ([A-Za-z_0-9]+) =")
                list(APPEND OWN_NAMES_OF_${file} ${CMAKE_MATCH_1})
            elseif(NOT line MATCHES
                   "^.(using|namespace|extern|public|private|protected|TEST|INSTANTIATE)" AND
                   line MATCHES "([A-Za-z_0-9]+)( final)?( : .*)? *[({=]")
                list(APPEND OWN_NAMES_OF_${file} ${CMAKE_MATCH_1})
            endif()
        endforeach()
        list(REMOVE_DUPLICATES OWN_NAMES_OF_${file})
        list(TRANSFORM headers_of_${file} REPLACE ".*\"" "${CMAKE_SOURCE_DIR}/")
        foreach(header_of_${file} IN LISTS headers_of_${file})
            read_names(${header_of_${file}})
            set(names ${OWN_NAMES_OF_${header_of_${file}}})
            list(TRANSFORM names APPEND "|${header_of_${file}}")
            list(APPEND OTHER_NAMES_OF_${file} ${names} ${OTHER_NAMES_OF_${header_of_${file}}})
        endforeach()
        list(REMOVE_DUPLICATES OTHER_NAMES_OF_${file})
    endif()
endmacro()

# Whether a name of one list is in the other one; both without duplicates.
function(have_common one other result)
    list(LENGTH one length)
    list(LENGTH other other_length)
    set(all ${one} ${other})
    list(REMOVE_DUPLICATES all)
    list(LENGTH all together)
    math(EXPR sum "${length} + ${other_length}")
    if(together EQUAL sum)
        set(${result} FALSE PARENT_SCOPE)
    else()
        set(${result} TRUE PARENT_SCOPE)
    endif()
endfunction()

# Of what one file's headers declare and the other's do not.
function(names_of_headers file without result)
    set(names ${OTHER_NAMES_OF_${file}})
    list(REMOVE_ITEM names "" ${OTHER_NAMES_OF_${without}})
    list(TRANSFORM names REPLACE "[|].*" "")
    list(REMOVE_DUPLICATES names)
    set(${result} ${names} PARENT_SCOPE)
endfunction()

function(are_at_odds file other result)
    have_common("${OWN_NAMES_OF_${file}}" "${OWN_NAMES_OF_${other}}" at_odds)
    foreach(pair "${file}|${other}" "${other}|${file}")
        if(NOT at_odds)
            string(REPLACE "|" ";" pair "${pair}")
            list(GET pair 0 one)
            list(GET pair 1 another)
            names_of_headers(${one} ${another} names)
            have_common("${OWN_NAMES_OF_${another}}" "${names}" at_odds)
        endif()
    endforeach()
    set(${result} ${at_odds} PARENT_SCOPE)
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
        get_filename_component(file ${file} ABSOLUTE BASE_DIR ${folder})
        read_names(${file})
        # The first group that has room, and nobody who is at odds with it.
        set(group 0)
        while(group LESS groups)
            list(LENGTH GROUP_${group} count)
            set(refused FALSE)
            if(count EQUAL TEST_FILES_AT_ONCE)
                set(refused TRUE)
            endif()
            foreach(other IN LISTS GROUP_${group})
                if(NOT refused)
                    are_at_odds(${file} ${other} refused)
                endif()
            endforeach()
            if(NOT refused)
                break()
            endif()
            math(EXPR group "${group} + 1")
        endwhile()
        if(group EQUAL groups)
            math(EXPR groups "${groups} + 1")
            set(GROUP_${group} "")
        endif()
        list(APPEND GROUP_${group} ${file})
        set_source_files_properties(${file} TARGET_DIRECTORY ${target} PROPERTIES UNITY_GROUP ${group})
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
