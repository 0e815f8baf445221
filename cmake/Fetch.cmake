# SPDX-FileCopyrightText: 2026 Tessera authors
# SPDX-License-Identifier: Apache-2.0
#
# cmake -DURL=<address> -DSHA256=<checksum> -DFILE=<where> -P Fetch.cmake: downloads a file. Fails, and says why in its first
# line, if the file cannot be had or is another one.
file(DOWNLOAD "${URL}" "${FILE}" INACTIVITY_TIMEOUT 20 STATUS status)
list(POP_FRONT status code)
if(code EQUAL 0)
  file(SHA256 "${FILE}" sha256)
  set(status "expected SHA-256 ${SHA256}, got ${sha256}")
endif()
if(NOT sha256 STREQUAL SHA256)
  file(REMOVE "${FILE}")
  message("${URL}: ${status}")
  message(FATAL_ERROR)
endif()
