# Parts that take a package which may be missing. Each has an option: AUTO (the default: there if the package is), ON or OFF.

# perhaps_optional(OPTION PART)
macro(perhaps_optional option part)
  set(${option} AUTO CACHE STRING "${part}: AUTO, ON or OFF")
  set_property(CACHE ${option} PROPERTY STRINGS AUTO ON OFF)
endmacro()

# perhaps_decide(RESULT OPTION PART PACKAGE PATH-VARIABLE...): sets RESULT to whether the part is built. PACKAGE is Debian's
# name of what has the paths.
function(perhaps_decide result option part package)
  set(${result} OFF PARENT_SCOPE)
  if(NOT ${option})
    message(STATUS "${part}: no, since ${option} is off")
    return()
  endif()
  foreach(path ${ARGN})
    if(NOT ${path})
      if(NOT ${option} STREQUAL AUTO)
        message(FATAL_ERROR "${option} is on, but ${path} was not found. "
          "Install ${package}, or configure with -D${option}=OFF.")
      endif()
      message(STATUS "${part}: no, since ${package} is not installed")
      return()
    endif()
  endforeach()
  message(STATUS "${part}: yes")
  set(${result} ON PARENT_SCOPE)
endfunction()
