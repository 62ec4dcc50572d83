# Precompiled headers: what almost every file includes is parsed once. Seven kinds, because position-independent code,
# optimization and GoogleTest differ (GCC compiles a file as its precompiled header was compiled, whatever the file's
# own -O says, so each level of optimization needs its own):
#
#   library, cold_library, test             the standard library and Eigen, which none of us changes
#   dynamics, cold_dynamics, dynamics_test  and the headers of mechanisms and of a workspace, which every file of the rooms
#                                           below `dynamics` includes: a change of them rebuilds these anyway
#   program                                 and the settings of a simulation
#
# `cold`, tests and programs are compiled with -O1.
#
# Headers are still complete on their own: `make lint` compiles each alone, without this.
option(CATENA_PRECOMPILED_HEADERS "Parse the standard library and Eigen once" ON)

# Compiler caches do not look through precompiled headers.
if(CMAKE_CXX_COMPILER_LAUNCHER)
  set(CATENA_PRECOMPILED_HEADERS OFF)
endif()

set(CATENA_COMMON_HEADERS <algorithm> <array> <cmath> <cstdint> <functional> <limits> <map> <memory> <numeric>
  <optional> <span> <string> <string_view> <utility> <variant> <vector> <Eigen/Core>
  ${PROJECT_SOURCE_DIR}/catena/base/eigen_products.h)  # products of matrices compiled once
set(CATENA_DYNAMICS_HEADERS ${PROJECT_SOURCE_DIR}/catena/model/builder.h
  ${PROJECT_SOURCE_DIR}/catena/dynamics/forces.h ${PROJECT_SOURCE_DIR}/catena/dynamics/forward.h)

# The optimization of a kind, where it is not that of the build.
function(_catena_optimization kind result)
  if(kind MATCHES "^cold|test$|program")
    set(${result} ${CATENA_LIGHT_OPTIMIZATION} PARENT_SCOPE)
  else()
    set(${result} "" PARENT_SCOPE)
  endif()
endfunction()

# The target that owns the precompiled header of a kind, made at its first use.
function(_catena_precompiled_owner kind)
  if(TARGET catena_precompiled_${kind})
    return()
  endif()
  set(source ${PROJECT_BINARY_DIR}/precompiled/${kind}.cpp)
  set(is_library FALSE)
  if(kind MATCHES "library$" OR kind MATCHES "dynamics$")
    set(is_library TRUE)
  else()
    set(main "int main() {}")  # targets that reuse the header depend on the linked owner
  endif()
  file(CONFIGURE OUTPUT ${source}
    CONTENT "// Owner of the precompiled header of kind ${kind}.\n${main}\n")
  set(headers ${CATENA_COMMON_HEADERS})
  if(is_library)
    add_library(catena_precompiled_${kind} OBJECT ${source})
  else()
    # An executable, for the flags of one.
    add_executable(catena_precompiled_${kind} EXCLUDE_FROM_ALL ${source})
  endif()
  if(kind MATCHES "test$")
    list(APPEND headers <gmock/gmock.h> <gtest/gtest.h>)
    target_link_libraries(catena_precompiled_${kind} PRIVATE GTest::gmock GTest::gtest)
  endif()
  if(kind MATCHES "dynamics|program")
    list(APPEND headers ${CATENA_DYNAMICS_HEADERS})
    target_include_directories(catena_precompiled_${kind} PRIVATE ${PROJECT_SOURCE_DIR})
  endif()
  if(kind STREQUAL "program")
    list(APPEND headers ${PROJECT_SOURCE_DIR}/catena/simulation/settings_file.h)
  endif()
  catena_find_package(Eigen3 found REQUIRED)
  target_link_libraries(catena_precompiled_${kind} PRIVATE ${catena_package_Eigen3_target})
  target_compile_features(catena_precompiled_${kind} PRIVATE cxx_std_20)
  target_compile_definitions(catena_precompiled_${kind} PRIVATE ${CATENA_EIGEN_DEFINITIONS})
  _catena_optimization(${kind} optimization)
  target_compile_options(catena_precompiled_${kind} PRIVATE ${CATENA_WARNINGS} ${optimization})
  target_precompile_headers(catena_precompiled_${kind} PRIVATE ${headers})
endfunction()

# catena_precompiled(<target> <kind>): optimization and precompiled header of a kind.
function(catena_precompiled target kind)
  _catena_optimization(${kind} optimization)
  target_compile_options(${target} PRIVATE ${optimization})
  if(NOT CATENA_PRECOMPILED_HEADERS)
    return()
  endif()
  _catena_precompiled_owner(${kind})
  target_precompile_headers(${target} REUSE_FROM catena_precompiled_${kind})
  # Eigen switches this warning off for its own headers, which a precompiled header forgets.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-ignored-attributes>)
endfunction()
