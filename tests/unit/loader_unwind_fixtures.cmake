# One source, compiled and linked in every way that lays out frames or call frame information
# differently. A way whose tool is not installed (lld, musl) is left out.
set(UNWIND_FOLDER ${CMAKE_CURRENT_BINARY_DIR}/unwind)
set(UNWIND_SOURCES ${CMAKE_CURRENT_SOURCE_DIR}/fixtures/unwind/shapes.c
    ${CMAKE_CURRENT_SOURCE_DIR}/fixtures/unwind/instructions.S)
file(MAKE_DIRECTORY ${UNWIND_FOLDER})
find_program(CLANG clang REQUIRED)
find_program(LLD ld.lld)
find_program(MUSL_GCC musl-gcc)

function(auger_unwind_program name compiler)
    set(program ${UNWIND_FOLDER}/${name})
    add_custom_command(OUTPUT ${program}
        COMMAND ${compiler} -w -o ${program} ${UNWIND_SOURCES} -Wl,--build-id ${ARGN}
        DEPENDS ${UNWIND_SOURCES} VERBATIM)
    set(UNWIND_PROGRAMS ${UNWIND_PROGRAMS} ${program} PARENT_SCOPE)
endfunction()

foreach(level 0 2 3)
    auger_unwind_program(gcc_${level} ${CMAKE_C_COMPILER} -O${level} -fomit-frame-pointer)
    auger_unwind_program(clang_${level} ${CLANG} -O${level} -fomit-frame-pointer)
endforeach()
auger_unwind_program(frame_pointers ${CMAKE_C_COMPILER} -O2 -fno-omit-frame-pointer)
auger_unwind_program(lazy ${CMAKE_C_COMPILER} -O2 -fcf-protection=none -Wl,-z,lazy)
auger_unwind_program(lazy_ibt ${CMAKE_C_COMPILER} -O2 -fcf-protection=full -Wl,-z,lazy,-z,ibtplt)
auger_unwind_program(one_segment ${CMAKE_C_COMPILER} -O2 -Wl,-z,noseparate-code)
auger_unwind_program(no_pie ${CMAKE_C_COMPILER} -O2 -no-pie -fno-pie)
auger_unwind_program(static ${CMAKE_C_COMPILER} -O2 -static)
auger_unwind_program(static_pie ${CMAKE_C_COMPILER} -O2 -static-pie)
auger_unwind_program(debug_frame ${CMAKE_C_COMPILER} -O2 -g -fno-asynchronous-unwind-tables
    -fno-unwind-tables -Wa,--gdwarf-4)
auger_unwind_program(debug_frame_compressed ${CMAKE_C_COMPILER} -O2 -g -gz
    -fno-asynchronous-unwind-tables -fno-unwind-tables)
if(LLD)
    auger_unwind_program(lld ${CLANG} -O2 -fuse-ld=lld)
    auger_unwind_program(lld_lazy ${CLANG} -O2 -fuse-ld=lld -Wl,-z,lazy -no-pie)
endif()
if(MUSL_GCC)
    # Its C library has no call frame information.
    auger_unwind_program(musl ${MUSL_GCC} -O2 -static)
    auger_unwind_program(musl_stripped ${MUSL_GCC} -O2 -static -s)
endif()
set(UNCOVERED_SOURCE ${CMAKE_CURRENT_SOURCE_DIR}/fixtures/unwind/uncovered.S)
set(UNCOVERED_LIBRARY ${UNWIND_FOLDER}/../uncovered.so)
add_custom_command(OUTPUT ${UNCOVERED_LIBRARY}
    COMMAND ${CMAKE_C_COMPILER} -shared -nostdlib -o ${UNCOVERED_LIBRARY} ${UNCOVERED_SOURCE}
    DEPENDS ${UNCOVERED_SOURCE} VERBATIM)
# Of greenlet's, and the same by another name.
set(GREENLET_SOURCE ${CMAKE_CURRENT_SOURCE_DIR}/fixtures/unwind/greenlets.cpp)
foreach(name _greenlet.cpython-311-x86_64-linux-gnu.so others.so)
    add_custom_command(OUTPUT ${UNWIND_FOLDER}/../${name}
        COMMAND ${CMAKE_CXX_COMPILER} -O2 -fPIC -shared -s -o ${UNWIND_FOLDER}/../${name}
                ${GREENLET_SOURCE}
        DEPENDS ${GREENLET_SOURCE} VERBATIM)
    list(APPEND GREENLET_LIBRARIES ${UNWIND_FOLDER}/../${name})
endforeach()
# A stripped program with Go's table of functions.
set(GO_SOURCES ${CMAKE_CURRENT_SOURCE_DIR}/fixtures/unwind/go_program.c
    ${CMAKE_SOURCE_DIR}/tests/programs/goroutine_asm.S)
foreach(kind "" _pie)
    set(GO_PROGRAM ${UNWIND_FOLDER}/../go_program${kind})
    if(kind STREQUAL "")
        set(GO_FLAGS -fno-pie -static -no-pie)
    else()
        set(GO_FLAGS -fpie -static-pie)
    endif()
    add_custom_command(OUTPUT ${GO_PROGRAM}
        COMMAND ${CMAKE_C_COMPILER} ${GO_FLAGS} -nostdlib -s -o ${GO_PROGRAM} ${GO_SOURCES}
        DEPENDS ${GO_SOURCES} VERBATIM)
    list(APPEND GO_PROGRAMS ${GO_PROGRAM})
endforeach()
add_custom_target(unwind_programs
    DEPENDS ${UNWIND_PROGRAMS} ${UNCOVERED_LIBRARY} ${GREENLET_LIBRARIES} ${GO_PROGRAMS})
add_dependencies(unit_loader unwind_programs)
target_compile_definitions(unit_loader PRIVATE AUGER_UNWIND_DIR="${UNWIND_FOLDER}"
    AUGER_UNCOVERED_LIBRARY="${UNCOVERED_LIBRARY}"
    AUGER_GREENLET_FOLDER="${UNWIND_FOLDER}/.."
    AUGER_GO_PROGRAM="${UNWIND_FOLDER}/../go_program")
