# Runs PROGRAM and compares what it prints with the file EXPECTED, except times, which are never the
# same.
execute_process(COMMAND ${PROGRAM} OUTPUT_VARIABLE printed RESULT_VARIABLE status)
file(READ ${EXPECTED} expected)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "${PROGRAM} ended with ${status}")
endif()
string(REGEX REPLACE " *[0-9.]+ ms" " ... ms" printed "${printed}")
string(REGEX REPLACE " *[0-9.]+ ms" " ... ms" expected "${expected}")
if(NOT printed STREQUAL expected)
  message(FATAL_ERROR "${PROGRAM} printed\n${printed}\nbut ${EXPECTED} has\n${expected}")
endif()
