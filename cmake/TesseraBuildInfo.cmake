# SPDX-FileCopyrightText: 2026 Tessera authors
# SPDX-License-Identifier: Apache-2.0
#
# version() and build_info().
find_package(Git QUIET)
set(commit unknown)
if(GIT_FOUND AND EXISTS "${PROJECT_SOURCE_DIR}/.git")
  execute_process(COMMAND "${GIT_EXECUTABLE}" rev-parse --short HEAD WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}"
                  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(NOT commit)
    set(commit unknown)
  endif()
  execute_process(COMMAND "${GIT_EXECUTABLE}" rev-parse --git-path logs/HEAD WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}"
                  OUTPUT_VARIABLE log OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  get_filename_component(log "${log}" ABSOLUTE BASE_DIR "${PROJECT_SOURCE_DIR}")
  if(EXISTS "${log}" AND NOT IS_DIRECTORY "${log}")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${log}")
  endif()
endif()
set(type "${CMAKE_BUILD_TYPE}")
if(NOT type)
  set(type "no build type")
endif()
get_target_property(kind tessera TYPE)
string(REPLACE "_LIBRARY" "" kind "${kind}")
string(TOLOWER "${kind}" kind)
list(JOIN Kokkos_DEVICES ", " devices)
set(counts "MPI counts up to 2^31")
if(TESSERA_HAVE_MPI_LARGE_COUNT)
  set(counts "MPI-4 large counts")
endif()
set(TESSERA_BUILD_INFO
    "${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}, ${type}, ${kind}, commit ${commit}, Kokkos for ${devices}, ${counts}"
)
if(TESSERA_SANITIZE)
  string(APPEND TESSERA_BUILD_INFO ", sanitizers ${TESSERA_SANITIZE}")
endif()
# A file of its own, not a definition: flags that change with every commit would have all of the library built again.
configure_file(config/version.cpp.in config/version.cpp @ONLY)
target_sources(tessera PRIVATE "${CMAKE_CURRENT_BINARY_DIR}/config/version.cpp")
