# Which test runs where. This is the one place that says so; script/test picks tests by these
# labels:
#
#   quick              script/test quick: the core promises and the basics of the command line
#   sanitizers         script/test, in the build with address and undefined-behaviour sanitizers
#   optimized          script/test, in the release build
#   clang              script/test, in the build of clang with its sanitizers and fuzzers
#   threads            script/test, in the build with ThreadSanitizer
#   aarch64 s390x armhf   script/test, on the emulated machine
#
# The target tests_LABEL builds the programs of a label. script/test full runs every test in every
# build, whatever its labels. Tests of the library run with sanitizers, those of the command line
# and of servers in the release build, unless a list below says otherwise.

# What users get: the compiler's optimisations, the instruction sets, threads.
set(optimized_too test_answers test_instruction_sets test_whole_filters test_threads test_sharded test_growing test_window
  test_static test_large test_views test_views_avx2)

# Arithmetic, kills, many combinations: sanitizers would only make them slow.
set(optimized_only test_rates test_parallel test_crash test_disk test_golden_scalar test_matrix test_matrix_far test_invariants
  foreign_guava foreign_hyparquet wasm_build wasm_filter wasm_golden wasm_native wasm_types wasm_docs
  page_build page_file page_npm page_plan page_watch page_inspect page_compare page_frame)

# Commands that manage much memory.
set(cli_with_sanitizers cli_add cli_bitmap cli_check cli_combine cli_dedup cli_dedup_exact cli_json_find cli_keys)

set(quick unit_hash unit_murmur3 unit_rates unit_shapes unit_directory unit_counting unit_cuckoo unit_cuckoo_windows unit_bitmap unit_table
  unit_ribbon unit_bins unit_recipe unit_windows unit_operations unit_trace test_trace test_answers test_plans test_structs
  test_errors test_instruction_sets test_whole_filters test_secrets test_forgetting test_room test_windows test_matrix
  test_golden test_cpp_keys17 test_cpp_filters20
  cli_build cli_check cli_add cli_keys cli_dedup_exact)

# Where clang's sanitizers have other eyes: pointers in arithmetic, and what hostile bytes and odd
# combinations lead to.
set(clang unit_operations unit_bins unit_ribbon unit_hostile unit_shapes unit_counting unit_recipe unit_windows unit_chosen
  unit_json_find unit_json_find_plain
  test_static test_matrix test_invariants test_whole_filters test_cpp_keys17 test_cpp_filters20)

# What the machine could change: on aarch64 the vector code; on s390x the order of bytes; on armhf
# sizes and limits.
set(aarch64 test_instruction_sets test_views test_golden unit_hash)
set(s390x test_views unit_hash unit_json_find unit_recipe unit_shapes unit_directory unit_parts test_golden test_foreign test_file_damage test_files
  test_java)
set(armhf unit_hash unit_json_find unit_directory unit_bins unit_parts test_golden test_memory)

# label_test(NAME): gives a test its labels, and each label's target the test's program.
function(label_test name)
  if(name MATCHES "^fuzz_")
    set(labels clang)
  elseif(name IN_LIST optimized_only)
    set(labels optimized)
  elseif(name IN_LIST cli_with_sanitizers)
    set(labels sanitizers)
  elseif(name MATCHES "^python_(threads|model|leaks|package|examples)|^cli_")
    set(labels optimized)
  elseif(name MATCHES "^server_" OR name IN_LIST optimized_too)
    set(labels sanitizers optimized)
  else()
    set(labels sanitizers)
  endif()
  if(name MATCHES "threads|shared|sharded" AND NOT name MATCHES "^python_")
    list(APPEND labels threads)
  endif()
  foreach(label quick clang aarch64 s390x armhf)
    if(name IN_LIST ${label})
      list(APPEND labels ${label})
    endif()
  endforeach()
  set_tests_properties(${name} PROPERTIES LABELS "${labels}")
  foreach(label ${labels})
    if(NOT TARGET tests_${label})
      add_custom_target(tests_${label})
    endif()
    if(TARGET ${name})
      add_dependencies(tests_${label} ${name})
    elseif(TARGET perhaps_cli)
      add_dependencies(tests_${label} perhaps_cli)
    endif()
  endforeach()
endfunction()
