# Runs the program PERHAPS to write completions and, through SCDOC, manual pages below OUTPUT.

function(print_to file)
  execute_process(COMMAND ${PERHAPS} ${ARGN} OUTPUT_FILE ${file} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

file(MAKE_DIRECTORY ${OUTPUT}/completions ${OUTPUT}/man)
foreach(shell bash zsh fish)
  print_to(${OUTPUT}/completions/${shell} completions ${shell})
endforeach()

function(make_page page)
  print_to(${OUTPUT}/page.scd help --scdoc ${ARGN})
  execute_process(COMMAND ${SCDOC} INPUT_FILE ${OUTPUT}/page.scd OUTPUT_FILE ${OUTPUT}/man/${page}.1
    COMMAND_ERROR_IS_FATAL ANY)
endfunction()

if(SCDOC)
  execute_process(COMMAND ${PERHAPS} help --names OUTPUT_VARIABLE names COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "[a-z]+" names "${names}")
  make_page(perhaps)
  foreach(name ${names})
    make_page(perhaps-${name} ${name})
  endforeach()
endif()
file(TOUCH ${OUTPUT}/stamp)
