# SPDX-FileCopyrightText: 2026 Tessera authors
# SPDX-License-Identifier: Apache-2.0
#
# Kokkos, and whether this compiler can build on top of it: by nvcc_wrapper, by Kokkos' launch compiler, or by the
# language that Kokkos was built as.
#
# scripts/install-deps puts a Kokkos into build/kokkos where the system has none.
find_package(Kokkos 4.5 REQUIRED HINTS "${CMAKE_CURRENT_LIST_DIR}/../build/kokkos")
set(fits FALSE)

include("${CMAKE_CURRENT_LIST_DIR}/TesseraLanguage.cmake")
tessera_kokkos_language(tessera_kokkos_language)
get_property(launcher GLOBAL PROPERTY RULE_LAUNCH_COMPILE)
if(Kokkos_DEVICES MATCHES "CUDA|HIP|SYCL")
  # What compiles kernels: the compiler or wrapper that built Kokkos, its launcher in front of ours, or a language.
  set(wrappers_CUDA "nvcc_wrapper")
  set(wrappers_HIP "hipcc|amdclang[+][+]")
  set(wrappers_SYCL "icpx")
  if(CMAKE_CXX_COMPILER STREQUAL Kokkos_CXX_COMPILER
     OR CMAKE_CXX_COMPILER MATCHES "(${wrappers_${CMAKE_MATCH_0}})$"
     OR tessera_kokkos_language
     OR "${launcher};${CMAKE_CXX_COMPILER_LAUNCHER}" MATCHES kokkos_launch_compiler
     OR (CMAKE_CXX_COMPILER_ID STREQUAL Clang AND Kokkos_CXX_COMPILER_ID STREQUAL Clang))
    set(fits TRUE)
  endif()
else()
  # Compilers whose objects link with one another.
  set(alike GNU Clang AppleClang IntelLLVM CrayClang XLClang IBMClang Fujitsu FujitsuClang)
  if(CMAKE_CXX_COMPILER_ID STREQUAL Kokkos_CXX_COMPILER_ID OR (CMAKE_CXX_COMPILER_ID IN_LIST alike
                                                             AND Kokkos_CXX_COMPILER_ID IN_LIST alike))
    set(fits TRUE)
  endif()
endif()
if(NOT fits)
  message(
    FATAL_ERROR
      "Kokkos for ${Kokkos_DEVICES} was built by ${Kokkos_CXX_COMPILER_ID} ${Kokkos_CXX_COMPILER_VERSION} (${Kokkos_CXX_COMPILER}), "
      "Tessera is being built by ${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION} (${CMAKE_CXX_COMPILER}). "
      "Set CMAKE_CXX_COMPILER to ${Kokkos_CXX_COMPILER}, or Kokkos_ROOT to a Kokkos that was built by this compiler.")
endif()
tessera_enable_language("${tessera_kokkos_language}")
