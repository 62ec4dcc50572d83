# catena_room, catena_app: how the targets of Catena are made.

# CATENA_ROOMS: the names in rooms.txt, in order.
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/rooms.txt)
file(STRINGS ${PROJECT_SOURCE_DIR}/cmake/rooms.txt CATENA_ROOMS REGEX "^[a-z]")
list(TRANSFORM CATENA_ROOMS REPLACE "^([a-z_]+).*" "\\1")

# Warnings for our own code. Clang counts sign conversions as -Wconversion, GCC does not; we follow GCC.
set(CATENA_WARNINGS -Wall -Wextra -Wconversion -Wshadow)
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  list(APPEND CATENA_WARNINGS -Wno-sign-conversion)
elseif(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  list(APPEND CATENA_WARNINGS -Wno-restrict)  # false alarm on "literal" + std::string (GCC bug 105651)
endif()
if(CATENA_WERROR)
  list(APPEND CATENA_WARNINGS -Werror)
endif()

set(CATENA_EIGEN_DEFINITIONS EIGEN_MAX_ALIGN_BYTES=${CATENA_EIGEN_ALIGNMENT}
                             EIGEN_MAX_STATIC_ALIGN_BYTES=${CATENA_EIGEN_ALIGNMENT})
if(CATENA_EIGEN_ALIGNMENT EQUAL 16 AND CMAKE_SIZEOF_VOID_P EQUAL 8)
  # malloc gives 16 bytes on every 64-bit system. Eigen knows, but not under the address sanitizer,
  # where its blocks would not fit those of a library built without.
  list(APPEND CATENA_EIGEN_DEFINITIONS EIGEN_MALLOC_ALREADY_ALIGNED=1)
endif()

# A build of minutes (docs: CONTRIBUTING.md, "Build time"): the standard library and Eigen are parsed once
# (precompiled headers), the sources of a room are compiled a few at a time (unity builds), and only kernels
# get -O3 (CATENA_KERNEL_OPTIMIZATION, beside their other options). What takes no time when it runs, only when it is
# compiled (readers, reports, options, tests), gets -O1.
set(CATENA_LIGHT_OPTIMIZATION $<$<CONFIG:Release>:-O1>)
include(CatenaPrecompiled)
set(CATENA_KERNEL_OPTIMIZATION $<$<CONFIG:Release>:-O3>)

# catena_compile_cheaply(<target> <kind> [BATCH n]): what suits a target. Kinds: CatenaPrecompiled.cmake.
function(catena_compile_cheaply target kind)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "BATCH" "")
  catena_precompiled(${target} ${kind})
  if(CATENA_UNITY)
    if(NOT arg_BATCH)
      set(arg_BATCH 12)
    endif()
    # Types of anonymous namespaces as members: GCC warns where they do not stand in the main file.
    target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${arg_BATCH})
  endif()
endfunction()

# catena_kernels(<x.cpp> ... [ISA name] [OPTIONS option ...]): sources with -O3 and options of their own, compiled
# one by one. An instruction set brings its flags and its namespace (catena/spatial/scalar.h).
function(catena_kernels)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "ISA" "OPTIONS")
  set(avx2_flags -mavx2 -mfma)
  set(avx512_flags -mavx512f -mavx2 -mfma)
  set_source_files_properties(${arg_UNPARSED_ARGUMENTS} PROPERTIES
    COMPILE_OPTIONS "${CATENA_KERNEL_OPTIMIZATION};${${arg_ISA}_flags};${arg_OPTIONS}"
    SKIP_PRECOMPILE_HEADERS ON SKIP_UNITY_BUILD_INCLUSION ON)
  if(arg_ISA)
    set_source_files_properties(${arg_UNPARSED_ARGUMENTS} PROPERTIES COMPILE_DEFINITIONS CATENA_ISA=${arg_ISA})
  endif()
endfunction()

# Targets of the named packages, which must exist.
function(_catena_package_targets result)
  set(targets)
  foreach(package IN LISTS ARGN)
    catena_find_package(${package} found REQUIRED)
    list(APPEND targets ${catena_package_${package}_target})
  endforeach()
  set(${result} ${targets} PARENT_SCOPE)
endfunction()

# Targets of the named rooms; each must stand above `room` and be part of this build.
function(_catena_room_targets result room)
  list(FIND CATENA_ROOMS ${room} place)
  set(targets)
  foreach(other IN LISTS ARGN)
    list(FIND CATENA_ROOMS ${other} other_place)
    if(other_place LESS 0)
      message(FATAL_ERROR "${room}: depends on \"${other}\", which is not in cmake/rooms.txt")
    elseif(NOT other_place LESS place)
      message(FATAL_ERROR "${room}: depends on ${other}, which does not stand above it in cmake/rooms.txt")
    elseif(NOT TARGET catena_${other})
      message(FATAL_ERROR "${room}: depends on ${other}, which has no CMakeLists.txt yet")
    endif()
    list(APPEND targets catena::${other})
  endforeach()
  set(${result} ${targets} PARENT_SCOPE)
endfunction()

# Adds files of the present folder to CATENA_LISTED_FILES, which the layering test reads: `path` or `path kind`.
function(_catena_list_files kind)
  foreach(file IN LISTS ARGN)
    cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} NORMALIZE)
    cmake_path(RELATIVE_PATH file BASE_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_property(GLOBAL APPEND PROPERTY CATENA_LISTED_FILES "${file}${kind}")
  endforeach()
endfunction()

# catena_room(<name>
#   HEADERS x.h ...            the public interface, installed; each has a line in docs/api.md
#   [INTERNAL_HEADERS y.h ...] installed only because public headers include them (templates, tables, scratch);
#                              they begin with "// Internal: "
#   [PRIVATE_HEADERS z.h ...]  not installed
#   [SOURCES x.cpp ...]        without sources the room is an INTERFACE library
#   [DEPENDS room ...]         every room whose headers the HEADERS or SOURCES include
#   [LINK package ...]         third-party packages seen in HEADERS (names of catenaPackages.cmake)
#   [PRIVATE_LINK package ...] third-party packages seen in SOURCES only
#   [TESTS x_test.cpp ...]     GoogleTest, all in one executable catena_<name>_test
#   [TEST_DEPENDS room ...] [TEST_LINK target ...]
#   [FUZZERS x_fuzz.cpp ...]   libFuzzer, one executable each
#   [COLD]                     compiled with -O1: what it does takes little time, or is done by LAPACK
#   [BATCH n]                  sources compiled together (12)
#   [TEST_BATCH n])            tests compiled together (4)
#
# Target catena_<name>, known as catena::<name> here and when installed.
function(catena_room name)
  cmake_parse_arguments(PARSE_ARGV 1 room "COLD" "BATCH;TEST_BATCH"
    "HEADERS;INTERNAL_HEADERS;PRIVATE_HEADERS;SOURCES;DEPENDS;LINK;PRIVATE_LINK;TESTS;TEST_DEPENDS;TEST_LINK;FUZZERS")
  if(room_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "${name}: unknown arguments ${room_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT name IN_LIST CATENA_ROOMS)
    message(FATAL_ERROR "${name} is not in cmake/rooms.txt")
  endif()
  _catena_room_targets(depends ${name} ${room_DEPENDS})
  _catena_package_targets(links ${room_LINK})
  _catena_package_targets(private_links ${room_PRIVATE_LINK})

  if(room_SOURCES)
    set(scope PUBLIC)
    add_library(catena_${name} ${room_SOURCES} ${room_PRIVATE_HEADERS})
    target_compile_options(catena_${name} PRIVATE ${CATENA_WARNINGS})
    target_link_libraries(catena_${name} PRIVATE ${private_links})
    set(kind library)
    if("dynamics" IN_LIST room_DEPENDS)
      set(kind dynamics)
    endif()
    if(room_COLD)
      set(kind cold_${kind})
    endif()
    catena_compile_cheaply(catena_${name} ${kind} BATCH ${room_BATCH})
    set_target_properties(catena_${name} PROPERTIES
      VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
      INSTALL_RPATH "$ORIGIN")
  else()
    set(scope INTERFACE)
    add_library(catena_${name} INTERFACE)
  endif()
  add_library(catena::${name} ALIAS catena_${name})
  set_target_properties(catena_${name} PROPERTIES EXPORT_NAME ${name})
  target_sources(catena_${name} ${scope}
    FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR} FILES ${room_HEADERS} ${room_INTERNAL_HEADERS})
  target_compile_features(catena_${name} ${scope} cxx_std_20)
  target_link_libraries(catena_${name} ${scope} ${depends} ${links})
  if(Eigen3 IN_LIST room_LINK OR Eigen3 IN_LIST room_PRIVATE_LINK)
    target_compile_definitions(catena_${name} ${scope} ${CATENA_EIGEN_DEFINITIONS})
  endif()

  # What install and the structure tests need to know.
  set_property(GLOBAL APPEND PROPERTY CATENA_BUILT_ROOMS ${name})
  foreach(property DEPENDS TEST_DEPENDS LINK PRIVATE_LINK)
    set_property(GLOBAL PROPERTY CATENA_${name}_${property} ${room_${property}})
  endforeach()
  get_target_property(type catena_${name} TYPE)
  set_property(GLOBAL PROPERTY CATENA_${name}_TYPE ${type})
  _catena_list_files("" ${room_SOURCES} ${room_PRIVATE_HEADERS} ${room_TESTS} ${room_FUZZERS})
  _catena_list_files(" public" ${room_HEADERS})
  _catena_list_files(" internal" ${room_INTERNAL_HEADERS})

  if(CATENA_BUILD_TESTS AND room_TESTS)
    _catena_room_targets(test_depends ${name} ${room_TEST_DEPENDS})
    add_executable(catena_${name}_test ${room_TESTS})
    target_link_libraries(catena_${name}_test PRIVATE catena_${name} ${test_depends} ${private_links}
      ${room_TEST_LINK} GTest::gmock GTest::gtest_main)
    target_compile_options(catena_${name}_test PRIVATE ${CATENA_WARNINGS})
    if(NOT room_TEST_BATCH)
      set(room_TEST_BATCH 4)
    endif()
    set(kind test)
    if("dynamics" IN_LIST room_DEPENDS OR name STREQUAL "dynamics")
      set(kind dynamics_test)
    endif()
    catena_compile_cheaply(catena_${name}_test ${kind} BATCH ${room_TEST_BATCH})
    # For tests that read models/ and the like.
    target_compile_definitions(catena_${name}_test PRIVATE CATENA_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
    gtest_discover_tests(catena_${name}_test TEST_PREFIX ${name}. DISCOVERY_TIMEOUT 120
      PROPERTIES LABELS "unit;${name}" TIMEOUT 600)
  endif()

  if(CATENA_BUILD_FUZZERS)
    if(NOT TARGET catena_fuzzers)
      add_custom_target(catena_fuzzers)  # all of them
    endif()
    foreach(file IN LISTS room_FUZZERS)
      cmake_path(GET file STEM fuzzer)
      add_executable(${fuzzer} ${file})
      add_dependencies(catena_fuzzers ${fuzzer})
      target_link_libraries(${fuzzer} PRIVATE catena_${name} ${private_links})
      target_link_options(${fuzzer} PRIVATE -fsanitize=fuzzer)
      set_target_properties(${fuzzer} PROPERTIES
        RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/fuzzers)
    endforeach()
  endif()
endfunction()

# catena_app(<name> SOURCES x.cpp ... ROOMS room ... [LINK package ...])
#
# An installed executable. ROOMS that are not part of this build are an error.
function(catena_app name)
  cmake_parse_arguments(PARSE_ARGV 1 app "" "" "SOURCES;ROOMS;LINK")
  if(app_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "${name}: unknown arguments ${app_UNPARSED_ARGUMENTS}")
  endif()
  _catena_package_targets(links ${app_LINK})
  add_executable(catena_app_${name} ${app_SOURCES})
  set_target_properties(catena_app_${name} PROPERTIES OUTPUT_NAME ${name}
    INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
  foreach(room IN LISTS app_ROOMS)
    target_link_libraries(catena_app_${name} PRIVATE catena::${room})
  endforeach()
  target_link_libraries(catena_app_${name} PRIVATE ${links})
  target_include_directories(catena_app_${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_compile_options(catena_app_${name} PRIVATE ${CATENA_WARNINGS})
  target_compile_definitions(catena_app_${name} PRIVATE CATENA_VERSION="${PROJECT_VERSION}")
  catena_compile_cheaply(catena_app_${name} program BATCH 8)
  install(TARGETS catena_app_${name} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endfunction()
