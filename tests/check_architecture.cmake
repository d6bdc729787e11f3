# SPDX-License-Identifier: GPL-3.0-or-later
# cmake -DROOT=<source folder> -P check_architecture.cmake
# Fails when what is x86-64's is named outside of bpf/arch/x86_64 and loader/arch/x86_64, so that
# another architecture stays an addition. Comments count: what they name is most often assumed.
cmake_minimum_required(VERSION 3.25)

# Registers, relocations, machines, the decoder.
set(NAMES "([er](ip|sp|bp|bx|ax|cx|dx|si|di|flags)|r(8|9|1[0-5])|fs_?base|orig_ax|int3|unistd_64|"
          "x86|x86[-_]64|amd64|AMD64|R_X86_64_[A-Z0-9_]*|EM_X86_64|Zydis[A-Za-z]*|ZYDIS_[A-Z0-9_]*)")
list(JOIN NAMES "" NAMES)

# Who may, and why.
set(ALLOWED
    "bpf/arch/arch\\.h|loader/arch/arch\\.h"     # choose the folder
    "bpf/unwind_table\\.h"                      # members are named after rbp and rbx, which tables follow
    "loader/reader/tables/[a-z_]*\\.(cpp|h)"    # likewise, and code that is followed without tables
    "loader/unwind/stack_walk\\.cpp" # likewise: the walk of user space
    "loader/reader/code/[a-z_]*\\.(cpp|h)"      # what decoders answer, in the words of x86
    "loader/reader/matching/unwind_facts\\.cpp" # names of libunwind's functions
    "loader/probes/module_name\\.h"             # a path, as an example
    "loader/process/emulator\\.cpp"             # names of Valgrind's tools
    "loader/values/error_name\\.h"              # the last number, the same on most
    "views/model/symbol_tables\\.cpp"           # the kernel's names for its entries
)
list(JOIN ALLOWED "|" ALLOWED)

file(GLOB_RECURSE SOURCES RELATIVE ${ROOT}
     ${ROOT}/bpf/*.[ch] ${ROOT}/loader/*.[ch] ${ROOT}/views/*.[ch] ${ROOT}/repl/*.[ch]
     ${ROOT}/loader/*.cpp ${ROOT}/views/*.cpp ${ROOT}/repl/*.cpp)
list(FILTER SOURCES EXCLUDE REGEX "^(bpf|loader)/arch/x86_64/")
set(count 0)
set(violations 0)
foreach(file IN LISTS SOURCES)
    math(EXPR count "${count} + 1")
    if(file MATCHES "^(${ALLOWED})$")
        continue()
    endif()
    file(STRINGS ${ROOT}/${file} lines REGEX "(^|[^A-Za-z0-9_])${NAMES}($|[^A-Za-z0-9_])")
    foreach(line IN LISTS lines)
        message("${file}: ${line}")
        math(EXPR violations "${violations} + 1")
    endforeach()
endforeach()
if(count EQUAL 0)
    message(FATAL_ERROR "no sources below '${ROOT}'")
endif()
if(violations GREATER 0)
    message(FATAL_ERROR "${violations} lines name what is x86-64's: it belongs into bpf/arch or loader/arch")
endif()
message("${count} files, x86-64 is named where it may be")
