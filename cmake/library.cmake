# The two libraries made of perhaps_objects, and what installs them.
# Only perhaps_* symbols leave either: the shared library hides the rest by visibility, the static one is linked into a
# single object whose hidden symbols are made local.

add_library(perhaps_shared SHARED $<TARGET_OBJECTS:perhaps_objects>)
set_target_properties(perhaps_shared PROPERTIES OUTPUT_NAME perhaps EXPORT_NAME shared LINKER_LANGUAGE C
  VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})

if(CMAKE_OBJCOPY AND NOT APPLE)
  add_custom_command(OUTPUT perhaps_one.o
    COMMAND ${CMAKE_C_COMPILER} -r -nostdlib -o perhaps_one.o $<TARGET_OBJECTS:perhaps_objects>
    COMMAND ${CMAKE_OBJCOPY} --localize-hidden perhaps_one.o
    DEPENDS $<TARGET_OBJECTS:perhaps_objects> COMMAND_EXPAND_LISTS VERBATIM
    COMMENT "Linking the static library's objects into one")
  add_library(perhaps_static STATIC ${CMAKE_CURRENT_BINARY_DIR}/perhaps_one.o)
else()
  add_library(perhaps_static STATIC $<TARGET_OBJECTS:perhaps_objects>)
endif()
set_target_properties(perhaps_static PROPERTIES OUTPUT_NAME perhaps EXPORT_NAME static LINKER_LANGUAGE C)

foreach(library perhaps_shared perhaps_static)
  target_include_directories(${library} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
endforeach()
target_link_libraries(perhaps_shared PRIVATE Threads::Threads m)
target_link_libraries(perhaps_static PUBLIC Threads::Threads m)
if(PERHAPS_SANITIZE)
  target_link_options(perhaps_shared PRIVATE -fsanitize=${PERHAPS_SANITIZE})
  target_link_options(perhaps_static INTERFACE -fsanitize=${PERHAPS_SANITIZE})
endif()
if(PERHAPS_COVERAGE)
  target_link_options(perhaps_shared PRIVATE --coverage)
  target_link_options(perhaps_static INTERFACE --coverage)
endif()

install(TARGETS perhaps_shared perhaps_static EXPORT perhaps-targets)
install(FILES include/perhaps.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT perhaps-targets NAMESPACE perhaps:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/perhaps)

include(CMakePackageConfigHelpers)
configure_package_config_file(cmake/perhaps-config.cmake.in perhaps-config.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/perhaps)
write_basic_package_version_file(perhaps-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/perhaps-config.cmake ${CMAKE_CURRENT_BINARY_DIR}/perhaps-config-version.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/perhaps)

# Relative to where the file lies, so that an installation can be moved, or made with cmake --install --prefix.
file(RELATIVE_PATH PERHAPS_PC_UP /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
configure_file(cmake/perhaps.pc.in perhaps.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/perhaps.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
