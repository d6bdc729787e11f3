# What CMake has to know of x86-64.
set(AUGER_BPF_ARCH x86) # as libbpf's headers name it: __TARGET_ARCH_x86
set(AUGER_SYSCALL_HEADER asm/unistd_64.h) # with the numbers of system calls as plain #defines
# Decodes instructions, for loader/arch/x86_64/reader alone.
find_library(ZYDIS_LIBRARY Zydis REQUIRED)
set(AUGER_DECODER_LIBRARIES ${ZYDIS_LIBRARY})
