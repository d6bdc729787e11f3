# SPDX-License-Identifier: GPL-3.0-or-later
# cmake -DROOT=<source folder> -P check_includes.cmake
# Fails when an include goes against the direction bpf <- loader <- views <- repl, or brings a
# library into a part that must do without it.
cmake_minimum_required(VERSION 3.25)

set(violations 0)

# Sources whose path begins with `where`, but not with `except`, must not include what begins with
# `forbidden` (regular expressions; of an include the text between the quotes or brackets).
function(forbid where except forbidden reason)
    foreach(file IN LISTS SOURCES)
        if(NOT file MATCHES "^(${where})" OR (except AND file MATCHES "^(${except})"))
            continue()
        endif()
        file(STRINGS ${ROOT}/${file} includes REGEX "^[ \t]*#[ \t]*include[ \t]*[<\"]")
        foreach(line IN LISTS includes)
            string(REGEX REPLACE "^[^<\"]*[<\"]([^>\"]*).*" "\\1" included "${line}")
            if(included MATCHES "^(${forbidden})")
                message("${file}: includes ${included}: ${reason}")
                math(EXPR violations "${violations} + 1")
            endif()
        endforeach()
    endforeach()
    set(violations ${violations} PARENT_SCOPE)
endfunction()

file(GLOB_RECURSE SOURCES RELATIVE ${ROOT}
     ${ROOT}/bpf/*.[ch] ${ROOT}/loader/*.[ch] ${ROOT}/views/*.[ch] ${ROOT}/repl/*.[ch]
     ${ROOT}/loader/*.cpp ${ROOT}/views/*.cpp ${ROOT}/repl/*.cpp)
list(LENGTH SOURCES count)
if(count EQUAL 0)
    message(FATAL_ERROR "no sources below '${ROOT}'")
endif()

forbid("bpf/" "" "loader/|views/|repl/" "bpf knows no other room")
forbid("loader/" "" "views/|repl/" "loader knows only bpf")
forbid("views/" "" "repl/" "views knows only loader")
forbid("repl/language/" "" "repl/(services|session|commands|terminal)/" "the language knows no command")
forbid("repl/services/" "" "repl/(session|commands|terminal)/" "services know no session")
forbid("repl/session/" "" "repl/(commands|terminal)/" "a session is given its commands")
forbid("repl/commands/" "" "repl/terminal/" "commands know no terminal")
forbid("" "" "\\.\\./|tests/|bench/" "includes are written from the root, and bring no tests")

forbid("loader/|views/|repl/" "loader/kernel/|loader/arch/[^/]+/kernel/|repl/terminal/|repl/main\\.cpp"
       "bpf/(lib)?bpf|bpf/btf|linux/bpf\\.h|auger\\.skel\\.h|loader/kernel/"
       "this part works without a kernel")
forbid("loader/|views/|repl/" "" "bpf/.*\\.bpf\\.|bpf/arch/|bpf/(events|maps|filter|kernel_types|open_calls|stack)\\.h"
       "bpf/wire.h is the whole contract")
forbid("views/|repl/" "" "bpf/|loader/stream/wire_decoder|loader/values/call_program"
       "the kernel's records and constants end in loader, which has names of its own for them")
forbid("loader/|views/|repl/" "views/terminal/|repl/terminal/|repl/main\\.cpp"
       "readline/|n?cursesw?/|n?curses\\.h|term\\.h" "this part works without a terminal")
forbid("" "loader/arch/[^/]+/reader/" "Zydis|Zycore" "only loader/arch/ARCH/reader decodes instructions")
# The rule of the linker (check_linked), where a file breaks it.
forbid("loader/|views/|repl/" "loader/reader/|loader/arch/[^/]+/reader/"
       "loader/reader/|elfutils/|libelf|gelf|dwarf\\.h|lzma|libiberty|seccomp|dlfcn"
       "auger-reader reads what a target wrote")
forbid("loader/reader/|loader/arch/[^/]+/reader/" "" "loader/(kernel|recording|stats)/|microhttpd|readline"
       "auger-reader reads, and nothing else")

if(violations GREATER 0)
    message(FATAL_ERROR "${violations} includes against the rules")
endif()
message("${count} files, no include against the rules")
