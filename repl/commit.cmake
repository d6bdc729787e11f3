# SPDX-License-Identifier: GPL-3.0-or-later
# cmake -DROOT=<source folder> -DOUT=<header> -P commit.cmake
# Writes the commit that is built into a header, when it is another one than is there; "" where the
# sources are no git checkout. "-modified": files differ from it.
execute_process(COMMAND git -C ${ROOT} describe --always --abbrev=12 --exclude=* --dirty=-modified
                OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
set(text "#define AUGER_COMMIT \"${commit}\"\n")
if(EXISTS ${OUT})
    file(READ ${OUT} before)
endif()
if(NOT text STREQUAL "${before}")
    file(WRITE ${OUT} "${text}")
endif()
