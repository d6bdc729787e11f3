# Programs that say themselves what their functions were given, as compilers and distributions leave
# them: optimised, not optimised, with old DWARF, stripped with a separate debug file, without any.
set(VALUES_FOLDER ${CMAKE_CURRENT_BINARY_DIR}/values)
set(VALUES_SOURCE ${CMAKE_CURRENT_SOURCE_DIR}/fixtures/values)
file(MAKE_DIRECTORY ${VALUES_FOLDER})

function(auger_values_program name source)
    add_executable(${name} ${VALUES_SOURCE}/${source} ${VALUES_SOURCE}/opaque.c
        ${VALUES_SOURCE}/other.c)
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${VALUES_FOLDER}
        INTERPROCEDURAL_OPTIMIZATION OFF)
    target_compile_options(${name} PRIVATE -fno-pie -fno-sanitize=all -w ${ARGN})
    target_link_options(${name} PRIVATE -no-pie -fno-sanitize=all -Wl,--build-id ${ARGN})
    set(VALUES_PROGRAMS ${VALUES_PROGRAMS} ${name} PARENT_SCOPE)
endfunction()

foreach(language c cc)
    auger_values_program(values_${language}_optimised values.${language} -O2 -g)
    auger_values_program(values_${language}_plain values.${language} -O0 -g)
    auger_values_program(values_${language}_dwarf4 values.${language} -O2 -gdwarf-4)
    auger_values_program(values_${language}_dwarf3 values.${language} -O0 -gdwarf-3)
    auger_values_program(values_${language}_stripped values.${language} -O2 -g)
    add_custom_command(TARGET values_${language}_stripped POST_BUILD
        WORKING_DIRECTORY ${VALUES_FOLDER}
        COMMAND ${CMAKE_OBJCOPY} --only-keep-debug values_${language}_stripped
            values_${language}_stripped.debug
        COMMAND ${CMAKE_STRIP} values_${language}_stripped
        COMMAND ${CMAKE_OBJCOPY} --add-gnu-debuglink=values_${language}_stripped.debug
            values_${language}_stripped
        VERBATIM)
endforeach()
# Clang describes places by the frame pointer, and has no .debug_aranges.
find_program(CLANG clang REQUIRED)
foreach(level 0 2)
    set(program ${VALUES_FOLDER}/values_c_clang${level})
    add_custom_command(OUTPUT ${program}
        COMMAND ${CLANG} -O${level} -g -w -no-pie -o ${program} ${VALUES_SOURCE}/values.c
            ${VALUES_SOURCE}/opaque.c ${VALUES_SOURCE}/other.c
        DEPENDS ${VALUES_SOURCE}/values.c ${VALUES_SOURCE}/note.h ${VALUES_SOURCE}/opaque.c
            ${VALUES_SOURCE}/opaque.h ${VALUES_SOURCE}/other.c VERBATIM)
    list(APPEND VALUES_OTHERS ${program})
endforeach()
add_custom_target(values_clang DEPENDS ${VALUES_OTHERS})
auger_values_program(values_c_static values.c -O2 -g -static)
auger_values_program(values_c_bare values.c -O2 -g0)

add_dependencies(unit_loader ${VALUES_PROGRAMS} values_clang)
target_compile_definitions(unit_loader PRIVATE AUGER_VALUES_DIR="${VALUES_FOLDER}")
