# SPDX-FileCopyrightText: 2026 Tessera authors
# SPDX-License-Identifier: Apache-2.0
#
# cmake -P same_bits.cmake -- <command>: runs a command that trains twice. Fails unless both runs print the same losses of
# 10 steps, and the same results of all epochs, both with all bits.
set(command "")
foreach(i RANGE ${CMAKE_ARGC})
  if(is_command AND i LESS CMAKE_ARGC)
    list(APPEND command "${CMAKE_ARGV${i}}")
  elseif("${CMAKE_ARGV${i}}" STREQUAL "--")
    set(is_command TRUE)
  endif()
endforeach()

foreach(run first second)
  execute_process(COMMAND ${command} OUTPUT_VARIABLE output RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "exit status ${status}:\n${output}")
  endif()
  string(REGEX MATCHALL "step [0-9]+: loss [^\n]*" steps_of_${run} "${output}")
  string(REGEX MATCHALL "epoch +[0-9]+: loss [^\n]* right" epochs_of_${run} "${output}")
endforeach()

list(LENGTH steps_of_first steps)
list(LENGTH epochs_of_first epochs)
if(NOT steps EQUAL 10 OR epochs EQUAL 0)
  message(FATAL_ERROR "expected losses of 10 steps and results of epochs, got ${steps} and ${epochs}:\n${output}")
endif()
foreach(what steps epochs)
  if(NOT ${what}_of_first STREQUAL ${what}_of_second)
    message(FATAL_ERROR "two runs differ:\n${${what}_of_first}\n${${what}_of_second}")
  endif()
endforeach()
message(STATUS "both runs: ${steps_of_first}; ${epochs_of_first}")
