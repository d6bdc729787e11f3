# Programs whose symbols the tests read, in each form that compilers and distributions give them.
# Like the observed programs they have none of auger's flags.
set(SYMBOLS_FOLDER ${CMAKE_CURRENT_BINARY_DIR}/symbols)
file(MAKE_DIRECTORY ${SYMBOLS_FOLDER})

function(auger_symbols_program name)
    add_executable(${name} loader_symbols_program.cc)
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${SYMBOLS_FOLDER}
        INTERPROCEDURAL_OPTIMIZATION OFF)
    target_compile_options(${name} PRIVATE -O2 ${ARGN})
    target_link_options(${name} PRIVATE ${ARGN} -Wl,--build-id)
    list(APPEND SYMBOLS_PROGRAMS ${name})
    set(SYMBOLS_PROGRAMS ${SYMBOLS_PROGRAMS} PARENT_SCOPE)
endfunction()

auger_symbols_program(symbols_dwarf5 -gdwarf-5)
auger_symbols_program(symbols_dwarf4 -gdwarf-4)
auger_symbols_program(symbols_compressed -gdwarf-5 -gz)
auger_symbols_program(symbols_stripped -gdwarf-5)
# What distributions do: the debug information goes to a file of its own.
add_custom_command(TARGET symbols_stripped POST_BUILD WORKING_DIRECTORY ${SYMBOLS_FOLDER}
    COMMAND ${CMAKE_OBJCOPY} --only-keep-debug symbols_stripped symbols_stripped.debug
    COMMAND ${CMAKE_STRIP} symbols_stripped
    COMMAND ${CMAKE_OBJCOPY} --add-gnu-debuglink=symbols_stripped.debug symbols_stripped
    VERBATIM)

add_dependencies(unit_loader ${SYMBOLS_PROGRAMS})
target_compile_definitions(unit_loader PRIVATE AUGER_SYMBOLS_DIR="${SYMBOLS_FOLDER}")
