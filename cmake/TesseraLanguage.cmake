# SPDX-FileCopyrightText: 2026 Tessera authors
# SPDX-License-Identifier: Apache-2.0
#
# Where Kokkos was built as a language of CMake, CUDA or HIP, its kernels are compiled as that language. Installed too.

# The language that Kokkos' kernels are compiled as; empty for C++.
macro(tessera_kokkos_language result)
  set(${result} "${Kokkos_COMPILE_LANGUAGE}")
  if(${result} STREQUAL CXX)
    set(${result} "")
  endif()
endmacro()

# For the architectures that Kokkos was built for, where none are named: not those that CMake would take. A macro, since
# languages are enabled where targets are.
macro(tessera_enable_language language)
  if(NOT "${language}" STREQUAL "")
    if(NOT DEFINED CMAKE_${language}_ARCHITECTURES AND Kokkos_${language}_ARCHITECTURES)
      set(CMAKE_${language}_ARCHITECTURES "${Kokkos_${language}_ARCHITECTURES}")
    endif()
    enable_language(${language})
  endif()
endmacro()
