# SPDX-FileCopyrightText: 2026 Tessera authors
# SPDX-License-Identifier: Apache-2.0

# Warnings and sanitizers for one of Tessera's own targets; never exported.
function(tessera_own_target target)
  if(tessera_kokkos_language)
    get_target_property(sources ${target} SOURCES)
    set_source_files_properties(${sources} PROPERTIES LANGUAGE ${tessera_kokkos_language})
  endif()
  target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX,HIP>:-Wall;-Wextra;-Wno-unknown-pragmas>")
  if(CUDA IN_LIST Kokkos_DEVICES)
    # WORKAROUND(fmt 9.1): it takes nvcc for a compiler without constexpr.
    target_compile_definitions(${target} PRIVATE FMT_USE_CONSTEXPR=1)
    if(NOT Kokkos_CXX_COMPILER_ID STREQUAL Clang)
      # nvcc says that devices take long double for double; what computes with it runs on the host.
      target_compile_options(${target} PRIVATE "SHELL:-Xcudafe --diag_suppress=20208")
    endif()
  endif()
  if(TESSERA_WARNINGS_AS_ERRORS)
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX,HIP>:-Werror>)
  endif()
  if(TESSERA_SANITIZE)
    target_compile_options(${target} PRIVATE -fsanitize=${TESSERA_SANITIZE} -fno-sanitize-recover=all
                                             -fno-omit-frame-pointer)
    target_link_options(${target} PRIVATE -fsanitize=${TESSERA_SANITIZE})
    get_target_property(type ${target} TYPE)
    if(type STREQUAL EXECUTABLE AND TESSERA_SANITIZE MATCHES address)
      target_sources(${target} PRIVATE ${PROJECT_SOURCE_DIR}/unit_tests/support/leaks_of_mpi.cpp)
    endif()
  endif()
endfunction()

# tessera_without_contraction(<source> ...): contracted multiply-adds would make the bits of products depend on the
# compiler's choice.
function(tessera_without_contraction)
  if(CUDA IN_LIST Kokkos_DEVICES AND NOT Kokkos_CXX_COMPILER_ID STREQUAL Clang)
    set(flags $<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=off> $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-ffp-contract=off>
              --fmad=false)
  else()
    set(flags -ffp-contract=off)
  endif()
  set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS "${flags}")
endfunction()

# tessera_precompiled(<target> <header> ...): compiles the headers once for the target, and for those that reuse them.
# Precompiled headers are off for CUDA, HIP and SYCL, whose compilers read the same headers in more than one way.
function(tessera_precompiled target)
  if(TESSERA_PRECOMPILED_HEADERS)
    target_precompile_headers(${target} PRIVATE ${ARGN})
  endif()
endfunction()

# tessera_reuses_precompiled(<target> <other target>): compiles <target> with the precompiled headers of <other target>. Both
# must have the same compile options, except warnings.
function(tessera_reuses_precompiled target other)
  if(TESSERA_PRECOMPILED_HEADERS)
    target_precompile_headers(${target} REUSE_FROM ${other})
  endif()
endfunction()

# tessera_unity_by_folder(<target> <source> ...): where CMAKE_UNITY_BUILD is on, the sources of one folder are compiled
# together. Sources that have their own compile options are compiled separately.
function(tessera_unity_by_folder target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD_MODE GROUP)
  foreach(source IN LISTS ARGN)
    get_filename_component(folder "${source}" DIRECTORY)
    set_source_files_properties("${source}" PROPERTIES UNITY_GROUP "${folder}")
  endforeach()
endfunction()

# Tests run side by side, `ctest --parallel 8`, each with its share of these slots (the property PROCESSORS). A test that uses
# all cores, or that limits a time, takes all 8 slots; a test that computes on one core takes 4; and a test whose ranks mostly
# wait takes 1. With more than 8 jobs tests that limit a time are no longer alone.
set(tessera_all_slots 8)
set(tessera_one_core 4)
set(tessera_waits 1)

# tessera_program(<name> SOURCES ... [LIBRARIES ...]): an executable on top of the library. It reuses the precompiled headers
# of the target that the variable tessera_precompiled_in names, where the folder sets it.
function(tessera_program name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LIBRARIES")
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE tessera::tessera ${arg_LIBRARIES})
  tessera_own_target(${name})
  if(tessera_precompiled_in)
    tessera_reuses_precompiled(${name} ${tessera_precompiled_in})
  endif()
endfunction()

# tessera_mpi_labels(<variable> <ranks> [<label> ...]): of a test under MPI, with `slow` above 4 ranks. Other tests that
# take long have that label too.
function(tessera_mpi_labels result ranks)
  set(labels mpi ${ARGN})
  if(ranks GREATER 4)
    list(APPEND labels slow)
  endif()
  # With 8 ranks on few cores a test takes ten times as long as with 4.
  if(ranks GREATER_EQUAL 8)
    list(APPEND labels large)
  endif()
  set(${result} ${labels} PARENT_SCOPE)
endfunction()

# tessera_mpi_test(<test> <program> RANKS n ... [ARGS ...] [TIMEOUT seconds] [LABELS ...] [PATIENCE seconds] [WAITS]
# [BY_OUTPUT] [ENVIRONMENT variable=value ...]): one ctest entry per rank count. Ranks that wait ask one another after
# PATIENCE, here sooner than by default: most tests of mistakes are such waits. WAITS: its ranks mostly wait. BY_OUTPUT: ranks
# leave early, and how the launcher ends says nothing: see unit_tests/support/ends_with_its_ranks.sh.
function(tessera_mpi_test name program)
  cmake_parse_arguments(PARSE_ARGV 2 arg "WAITS;BY_OUTPUT" "TIMEOUT;PATIENCE" "RANKS;ARGS;LABELS;ENVIRONMENT")
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 120)
  endif()
  if(NOT arg_PATIENCE)
    set(arg_PATIENCE 0.02)
  endif()
  set(wrapper)
  if(arg_BY_OUTPUT AND tessera_MPI STREQUAL openmpi)
    set(wrapper "${PROJECT_SOURCE_DIR}/unit_tests/support/ends_with_its_ranks.sh")
  endif()
  foreach(ranks IN LISTS arg_RANKS)
    tessera_mpi_labels(labels ${ranks} ${arg_LABELS})
    set(slots ${tessera_all_slots})
    if(arg_WAITS)
      set(slots ${tessera_waits})
    endif()
    add_test(NAME ${name}.np${ranks} COMMAND ${wrapper} ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${ranks}
                                             ${MPIEXEC_PREFLAGS} $<TARGET_FILE:${program}> ${arg_ARGS})
    set_tests_properties(
      ${name}.np${ranks} PROPERTIES TIMEOUT ${arg_TIMEOUT} LABELS "${labels}" PROCESSORS ${slots}
                                    ENVIRONMENT
                                    "OMP_NUM_THREADS=1;OMP_PROC_BIND=false;TESSERA_PATIENCE=${arg_PATIENCE};${arg_ENVIRONMENT}")
  endforeach()
endfunction()
