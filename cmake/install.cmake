# Installs the library, its CMake package, its perhaps.pc and the documentation. Programs install themselves.
# Components: library, development, tools, module, documentation.

# Each library has its own file in the package, so that the static one can go into another package, or be left out.
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/perhaps)
foreach(name ${perhaps_libraries})
  install(TARGETS perhaps_${name} EXPORT perhaps-${name}
    LIBRARY COMPONENT library NAMELINK_COMPONENT development ARCHIVE COMPONENT development)
  install(EXPORT perhaps-${name} FILE perhaps-${name}-targets.cmake NAMESPACE perhaps:: DESTINATION ${package_folder}
    COMPONENT development)
endforeach()
include(CMakePackageConfigHelpers)
write_basic_package_version_file(perhaps-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES cmake/perhaps-config.cmake ${CMAKE_CURRENT_BINARY_DIR}/perhaps-config-version.cmake
  DESTINATION ${package_folder} COMPONENT development)
install(FILES include/perhaps.h include/perhaps_embed.h include/perhaps_trace.h include/perhaps_inline.h include/perhaps.hpp
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)

# The folders of perhaps.pc are relative to where it lies, so that an installation can be moved, or made with
# cmake --install --prefix. Folders outside the prefix stay where they are.
cmake_path(IS_PREFIX CMAKE_INSTALL_PREFIX "${CMAKE_INSTALL_FULL_LIBDIR}" NORMALIZE libraries_inside)
set(pc_prefix "${CMAKE_INSTALL_PREFIX}")
if(libraries_inside)
  cmake_path(RELATIVE_PATH pc_prefix BASE_DIRECTORY "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig")
  set(pc_prefix "\${pcfiledir}/${pc_prefix}")
endif()
cmake_path(APPEND pc_include "\${prefix}" "${CMAKE_INSTALL_INCLUDEDIR}") # an absolute folder replaces the prefix
set(pc_libs -lperhaps)
set(pc_libs_private "-lm -pthread")
if(perhaps_libraries STREQUAL static)
  set(pc_libs "${pc_libs} ${pc_libs_private}")
  set(pc_libs_private "")
endif()
configure_file(cmake/perhaps.pc.in perhaps.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/perhaps.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)

install(FILES LICENSE README.md CHANGELOG.md SECURITY.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT documentation)
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT documentation)
