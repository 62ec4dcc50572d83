# The third-party packages that rooms link, by the names used in catena_room(LINK ...). This file
# serves the build and, installed, find_package(catena): both find packages in the same way.
#
#   catena_package_<name>_find       the arguments of find_package
#   catena_package_<name>_target     the target to link
#   catena_package_<name>_pkgconfig  the pkg-config module (libraries only)

set(catena_package_Eigen3_find Eigen3 3.4)
set(catena_package_Eigen3_target Eigen3::Eigen)
set(catena_package_Eigen3_pkgconfig eigen3)

set(catena_package_xsimd_find xsimd 8.1)
set(catena_package_xsimd_target catena_third_party::xsimd)
set(catena_package_xsimd_pkgconfig xsimd)

set(catena_package_tinyxml2_find tinyxml2)
set(catena_package_tinyxml2_target tinyxml2::tinyxml2)
set(catena_package_tinyxml2_pkgconfig tinyxml2)

set(catena_package_yaml-cpp_find yaml-cpp)
set(catena_package_yaml-cpp_target catena_third_party::yaml-cpp)
set(catena_package_yaml-cpp_pkgconfig yaml-cpp)

set(catena_package_fmt_find fmt 9)
set(catena_package_fmt_target fmt::fmt)
set(catena_package_fmt_pkgconfig fmt)

set(catena_package_CLI11_find CLI11)
set(catena_package_CLI11_target CLI11::CLI11)

set(catena_package_nlohmann_json_find nlohmann_json)
set(catena_package_nlohmann_json_target nlohmann_json::nlohmann_json)

# Finds the package; QUIET when a third argument says so. Sets <result> to TRUE or FALSE.
function(catena_find_package name result)
  if(NOT DEFINED catena_package_${name}_find)
    message(FATAL_ERROR "catena: no package \"${name}\" in catenaPackages.cmake")
  endif()
  list(GET catena_package_${name}_find 0 package)
  find_package(${catena_package_${name}_find} ${ARGN})

  # xsimd is headers alone, but its Debian package asks to link a library `xtl` that does not exist.
  if(name STREQUAL "xsimd" AND xsimd_FOUND AND NOT TARGET catena_third_party::xsimd)
    get_target_property(include_directories xsimd INTERFACE_INCLUDE_DIRECTORIES)
    add_library(catena_third_party::xsimd INTERFACE IMPORTED GLOBAL)
    target_include_directories(catena_third_party::xsimd INTERFACE ${include_directories})
  endif()

  # yaml-cpp::yaml-cpp exists from 0.8 on.
  if(name STREQUAL "yaml-cpp" AND yaml-cpp_FOUND AND NOT TARGET catena_third_party::yaml-cpp)
    add_library(catena_third_party::yaml-cpp INTERFACE IMPORTED GLOBAL)
    if(TARGET yaml-cpp::yaml-cpp)
      target_link_libraries(catena_third_party::yaml-cpp INTERFACE yaml-cpp::yaml-cpp)
    else()
      target_link_libraries(catena_third_party::yaml-cpp INTERFACE yaml-cpp)
    endif()
  endif()

  if(${package}_FOUND)
    set(${result} TRUE PARENT_SCOPE)
  else()
    set(${result} FALSE PARENT_SCOPE)
  endif()
endfunction()
