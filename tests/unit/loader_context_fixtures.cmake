# Libraries with a thread-local variable that others look for: found in each way that there is, by a
# symbol that others may have, too, or as the library's own; `padded`: too large for the room that is
# left in threads' first block.
set(CONTEXT_FOLDER ${CMAKE_CURRENT_BINARY_DIR}/context)
file(MAKE_DIRECTORY ${CONTEXT_FOLDER})

function(auger_context_fixture name)
    add_library(context_${name} SHARED ${CMAKE_CURRENT_SOURCE_DIR}/fixtures/context/variable.c)
    set_target_properties(context_${name} PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CONTEXT_FOLDER}
        INTERPROCEDURAL_OPTIMIZATION OFF)
    target_compile_options(context_${name} PRIVATE -O2 -g -fno-sanitize=all ${ARGN})
    target_link_options(context_${name} PRIVATE -fno-sanitize=all)
    if(name MATCHES "hidden")
        target_compile_definitions(context_${name} PRIVATE HIDDEN)
    endif()
    set(CONTEXT_LIBRARIES ${CONTEXT_LIBRARIES} context_${name} PARENT_SCOPE)
endfunction()

foreach(kind "" hidden_)
    foreach(dialect gnu gnu2)
        auger_context_fixture(${kind}${dialect} -mtls-dialect=${dialect})
        auger_context_fixture(${kind}padded_${dialect} -mtls-dialect=${dialect} -DPADDING=65536)
    endforeach()
    auger_context_fixture(${kind}ie -ftls-model=initial-exec)
endforeach()

add_dependencies(unit_loader ${CONTEXT_LIBRARIES})
target_compile_definitions(unit_loader PRIVATE AUGER_CONTEXT_DIR="${CONTEXT_FOLDER}")
