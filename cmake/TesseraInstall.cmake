# SPDX-FileCopyrightText: 2026 Tessera authors
# SPDX-License-Identifier: Apache-2.0
#
# cmake --install: headers, the library, the program `tessera`, and what find_package(tessera) reads.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

set(package_folder "${CMAKE_INSTALL_LIBDIR}/cmake/tessera")
# INSTALL_RPATH_USE_LINK_PATH leaves out libraries within the project, as a Kokkos in build/kokkos is.
set(kokkos_folder "")
cmake_path(IS_PREFIX PROJECT_SOURCE_DIR "${Kokkos_DIR}" has_own_kokkos)
if(has_own_kokkos)
  get_target_property(kokkos_library Kokkos::kokkoscore LOCATION)
  cmake_path(GET kokkos_library PARENT_PATH kokkos_folder)
endif()
set_target_properties(tessera PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON INSTALL_RPATH "${kokkos_folder}")
install(TARGETS tessera EXPORT tesseraTargets INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(DIRECTORY include/tessera DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" FILES_MATCHING PATTERN "*.hpp")
if(TESSERA_BUILD_TOOLS)
  file(RELATIVE_PATH library_folder "${CMAKE_INSTALL_FULL_BINDIR}" "${CMAKE_INSTALL_FULL_LIBDIR}")
  set_property(TARGET tessera_tool APPEND PROPERTY INSTALL_RPATH "$ORIGIN/${library_folder}" ${kokkos_folder})
  set_target_properties(tessera_tool PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
  install(TARGETS tessera_tool)
endif()
install(FILES LICENSE CHANGELOG.md CITATION.cff DESTINATION "${CMAKE_INSTALL_DOCDIR}")
install(EXPORT tesseraTargets NAMESPACE tessera:: DESTINATION "${package_folder}")
configure_package_config_file(cmake/tesseraConfig.cmake.in tesseraConfig.cmake INSTALL_DESTINATION "${package_folder}"
                              NO_SET_AND_CHECK_MACRO)
# Before 1.0 minor versions are not compatible. CMake shows the text of PACKAGE_VERSION where it does not accept a package.
write_basic_package_version_file(tesseraVersion.cmake COMPATIBILITY SameMinorVersion)
file(
  CONFIGURE
  OUTPUT tesseraConfigVersion.cmake
  CONTENT [=[
include("${CMAKE_CURRENT_LIST_DIR}/tesseraVersion.cmake")
if(NOT PACKAGE_VERSION_COMPATIBLE)
  string(APPEND PACKAGE_VERSION " (find_package accepts @PROJECT_VERSION_MAJOR@.@PROJECT_VERSION_MINOR@ and its patches: before 1.0 minor versions are not compatible)")
endif()
]=]
  @ONLY)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/tesseraConfig.cmake" "${CMAKE_CURRENT_BINARY_DIR}/tesseraConfigVersion.cmake"
              "${CMAKE_CURRENT_BINARY_DIR}/tesseraVersion.cmake"
              cmake/TesseraLanguage.cmake cmake/TesseraMpi.cmake DESTINATION "${package_folder}")
