# A program of which the tests know every line with a call, in the forms that compilers, linkers and
# distributions give it.
set(SITES_FOLDER ${CMAKE_CURRENT_BINARY_DIR}/sites)
set(SITES_SOURCE ${CMAKE_CURRENT_SOURCE_DIR}/fixtures/sites)
file(MAKE_DIRECTORY ${SITES_FOLDER})

function(auger_sites_program name)
    add_executable(${name} ${SITES_SOURCE}/main.cc ${SITES_SOURCE}/first/same.cc
        ${SITES_SOURCE}/second/same.cc)
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${SITES_FOLDER}
        INTERPROCEDURAL_OPTIMIZATION OFF)
    target_compile_options(${name} PRIVATE -O2 -g -fno-builtin ${ARGN})
    target_link_options(${name} PRIVATE ${ARGN} -Wl,--build-id)
    set(SITES_PROGRAMS ${SITES_PROGRAMS} ${name} PARENT_SCOPE)
endfunction()

auger_sites_program(sites_pie -fPIE -pie)
auger_sites_program(sites_plain -no-pie -fno-pie -fcf-protection=none)
auger_sites_program(sites_no_plt -fPIE -pie -fno-plt)
auger_sites_program(sites_protected -fPIE -pie -fcf-protection=full -Wl,-z,ibtplt)
auger_sites_program(sites_now -fPIE -pie -Wl,-z,now)
auger_sites_program(sites_static -static)
auger_sites_program(sites_dwarf4 -gdwarf-4)
auger_sites_program(sites_compressed -gz)
auger_sites_program(sites_stripped -fPIE -pie)
add_custom_command(TARGET sites_stripped POST_BUILD WORKING_DIRECTORY ${SITES_FOLDER}
    COMMAND ${CMAKE_OBJCOPY} --only-keep-debug sites_stripped sites_stripped.debug
    COMMAND ${CMAKE_STRIP} sites_stripped
    COMMAND ${CMAKE_OBJCOPY} --add-gnu-debuglink=sites_stripped.debug sites_stripped
    VERBATIM)
auger_sites_program(sites_bare -fPIE -pie)
add_custom_command(TARGET sites_bare POST_BUILD WORKING_DIRECTORY ${SITES_FOLDER}
    COMMAND ${CMAKE_STRIP} --strip-debug sites_bare VERBATIM)

add_dependencies(unit_loader ${SITES_PROGRAMS})
target_compile_definitions(unit_loader PRIVATE AUGER_SITES_DIR="${SITES_FOLDER}"
    AUGER_SITES_SOURCE="${SITES_SOURCE}")
