# What only holds where perhaps is built for its own sake, and is not part of another project.

get_property(multi_config GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
if(NOT CMAKE_BUILD_TYPE AND NOT multi_config)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug, Release, RelWithDebInfo or MinSizeRel" FORCE)
endif()
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

# Tests are built where they can be, unless someone has decided. Emulated machines have no cmocka: tests/cross stands in.
find_path(CMOCKA_INCLUDE_DIR cmocka.h)
find_library(CMOCKA_LIBRARY cmocka)
if(NOT DEFINED BUILD_TESTING)
  if((CMOCKA_INCLUDE_DIR AND CMOCKA_LIBRARY) OR CMAKE_CROSSCOMPILING)
    set(BUILD_TESTING ON CACHE BOOL "Build the tests")
  else()
    message(STATUS "Tests: left out, since cmocka is not installed. "
      "To have them, install libcmocka-dev and configure with -DBUILD_TESTING=ON.")
    set(BUILD_TESTING OFF CACHE BOOL "Build the tests")
  endif()
endif()
include(CTest)
