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

set(catena_package_TBB_find TBB)
set(catena_package_TBB_target TBB::tbb)
set(catena_package_TBB_pkgconfig tbb)

set(catena_package_tinyxml2_find tinyxml2)
set(catena_package_tinyxml2_target tinyxml2::tinyxml2)
set(catena_package_tinyxml2_pkgconfig tinyxml2)

set(catena_package_yaml-cpp_find yaml-cpp)
set(catena_package_yaml-cpp_target catena_third_party::yaml-cpp)
set(catena_package_yaml-cpp_pkgconfig yaml-cpp)

set(catena_package_fmt_find fmt 9)
set(catena_package_fmt_target fmt::fmt)
set(catena_package_fmt_pkgconfig fmt)

set(catena_package_HDF5_find HDF5)
set(catena_package_HDF5_target catena_third_party::hdf5)
set(catena_package_HDF5_pkgconfig hdf5-serial)

set(catena_package_SUNDIALS_find SUNDIALS)
set(catena_package_SUNDIALS_target catena_third_party::sundials)

set(catena_package_IPOPT_find IPOPT)
set(catena_package_IPOPT_target catena_third_party::ipopt)
set(catena_package_IPOPT_pkgconfig ipopt)

set(catena_package_LAPACK_find LAPACK)
set(catena_package_LAPACK_target catena_third_party::lapack)
set(catena_package_LAPACK_pkgconfig lapacke lapack blas)

set(catena_package_FLINT_find FLINT)
set(catena_package_FLINT_target catena_third_party::flint)

set(catena_package_FCL_find FCL)
set(catena_package_FCL_target catena_third_party::fcl)
set(catena_package_FCL_pkgconfig fcl)

set(catena_package_CLI11_find CLI11)
set(catena_package_CLI11_target CLI11::CLI11)

set(catena_package_nlohmann_json_find nlohmann_json)
set(catena_package_nlohmann_json_target nlohmann_json::nlohmann_json)

set(catena_package_httplib_find httplib)
set(catena_package_httplib_target PkgConfig::catena_httplib)

# CMake's own module for HDF5 needs the C language and takes whichever of Debian's builds the
# compiler wrapper prefers; we want the serial one.
macro(_catena_find_hdf5)
  find_path(CATENA_HDF5_INCLUDE hdf5.h PATH_SUFFIXES hdf5/serial)
  find_library(CATENA_HDF5_LIBRARY NAMES hdf5_serial hdf5 PATH_SUFFIXES hdf5/serial)
  mark_as_advanced(CATENA_HDF5_INCLUDE CATENA_HDF5_LIBRARY)
  if(CATENA_HDF5_INCLUDE AND CATENA_HDF5_LIBRARY)
    set(HDF5_FOUND TRUE)
    if(NOT TARGET catena_third_party::hdf5)
      add_library(catena_third_party::hdf5 UNKNOWN IMPORTED GLOBAL)
      set_target_properties(catena_third_party::hdf5 PROPERTIES
        IMPORTED_LOCATION ${CATENA_HDF5_LIBRARY}
        INTERFACE_INCLUDE_DIRECTORIES ${CATENA_HDF5_INCLUDE})
    endif()
  else()
    set(HDF5_FOUND FALSE)
    if("REQUIRED" IN_LIST ARGN)
      message(FATAL_ERROR "catena: HDF5 was not found (Debian: libhdf5-dev)")
    endif()
  endif()
endmacro()

# SUNDIALS' own configuration asks for MPI and the C language, which its serial parts do not need.
macro(_catena_find_sundials)
  find_path(CATENA_SUNDIALS_INCLUDE cvode/cvode.h)
  mark_as_advanced(CATENA_SUNDIALS_INCLUDE)
  set(SUNDIALS_FOUND TRUE)
  set(_catena_sundials)
  foreach(_catena_part cvode arkode ida nvecserial)
    find_library(CATENA_SUNDIALS_${_catena_part} NAMES sundials_${_catena_part})
    mark_as_advanced(CATENA_SUNDIALS_${_catena_part})
    if(NOT CATENA_SUNDIALS_INCLUDE OR NOT CATENA_SUNDIALS_${_catena_part})
      set(SUNDIALS_FOUND FALSE)
    endif()
    list(APPEND _catena_sundials ${CATENA_SUNDIALS_${_catena_part}})
  endforeach()
  if(SUNDIALS_FOUND AND NOT TARGET catena_third_party::sundials)
    add_library(catena_third_party::sundials INTERFACE IMPORTED GLOBAL)
    set_target_properties(catena_third_party::sundials PROPERTIES
      INTERFACE_LINK_LIBRARIES "${_catena_sundials}"
      INTERFACE_INCLUDE_DIRECTORIES ${CATENA_SUNDIALS_INCLUDE})
  elseif(NOT SUNDIALS_FOUND AND "REQUIRED" IN_LIST ARGN)
    message(FATAL_ERROR "catena: SUNDIALS was not found (Debian: libsundials-dev)")
  endif()
endmacro()

# IPOPT has no CMake package; its headers need to be told that <cstddef> exists (before 3.13).
macro(_catena_find_ipopt)
  find_path(CATENA_IPOPT_INCLUDE IpTNLP.hpp PATH_SUFFIXES coin coin-or)
  find_library(CATENA_IPOPT_LIBRARY NAMES ipopt)
  mark_as_advanced(CATENA_IPOPT_INCLUDE CATENA_IPOPT_LIBRARY)
  if(CATENA_IPOPT_INCLUDE AND CATENA_IPOPT_LIBRARY)
    set(IPOPT_FOUND TRUE)
    if(NOT TARGET catena_third_party::ipopt)
      add_library(catena_third_party::ipopt UNKNOWN IMPORTED GLOBAL)
      set_target_properties(catena_third_party::ipopt PROPERTIES
        IMPORTED_LOCATION ${CATENA_IPOPT_LIBRARY}
        INTERFACE_INCLUDE_DIRECTORIES ${CATENA_IPOPT_INCLUDE}
        INTERFACE_COMPILE_DEFINITIONS HAVE_CSTDDEF)
    endif()
  else()
    set(IPOPT_FOUND FALSE)
    if("REQUIRED" IN_LIST ARGN)
      message(FATAL_ERROR "catena: IPOPT was not found (Debian: coinor-libipopt-dev)")
    endif()
  endif()
endmacro()

# LAPACKE on the LAPACK and BLAS that the system has chosen (Debian: an alternative). A program that
# is linked once runs with any of them; OpenBLAS is the one that we recommend.
macro(_catena_find_lapack)
  find_path(CATENA_LAPACKE_INCLUDE lapacke.h)
  find_library(CATENA_LAPACKE_LIBRARY NAMES lapacke)
  find_library(CATENA_LAPACK_LIBRARY NAMES lapack openblas)
  find_library(CATENA_BLAS_LIBRARY NAMES blas openblas)
  mark_as_advanced(CATENA_LAPACKE_INCLUDE CATENA_LAPACKE_LIBRARY CATENA_LAPACK_LIBRARY CATENA_BLAS_LIBRARY)
  if(CATENA_LAPACKE_INCLUDE AND CATENA_LAPACKE_LIBRARY AND CATENA_LAPACK_LIBRARY AND CATENA_BLAS_LIBRARY)
    set(LAPACK_FOUND TRUE)
    if(NOT TARGET catena_third_party::lapack)
      add_library(catena_third_party::lapack INTERFACE IMPORTED GLOBAL)
      set_target_properties(catena_third_party::lapack PROPERTIES
        INTERFACE_LINK_LIBRARIES
          "${CATENA_LAPACKE_LIBRARY};${CATENA_LAPACK_LIBRARY};${CATENA_BLAS_LIBRARY};${CMAKE_DL_LIBS}"
        INTERFACE_INCLUDE_DIRECTORIES ${CATENA_LAPACKE_INCLUDE})
    endif()
  else()
    set(LAPACK_FOUND FALSE)
    if("REQUIRED" IN_LIST ARGN)
      message(FATAL_ERROR "catena: LAPACKE was not found (Debian: liblapacke-dev libopenblas-dev)")
    endif()
  endif()
endmacro()

# FLINT brings no configuration for CMake.
macro(_catena_find_flint)
  find_path(CATENA_FLINT_INCLUDE flint/fmpq_poly.h)
  find_library(CATENA_FLINT_LIBRARY NAMES flint)
  mark_as_advanced(CATENA_FLINT_INCLUDE CATENA_FLINT_LIBRARY)
  if(CATENA_FLINT_INCLUDE AND CATENA_FLINT_LIBRARY)
    set(FLINT_FOUND TRUE)
    if(NOT TARGET catena_third_party::flint)
      add_library(catena_third_party::flint INTERFACE IMPORTED GLOBAL)
      set_target_properties(catena_third_party::flint PROPERTIES
        INTERFACE_LINK_LIBRARIES ${CATENA_FLINT_LIBRARY}
        INTERFACE_INCLUDE_DIRECTORIES ${CATENA_FLINT_INCLUDE})
    endif()
  else()
    set(FLINT_FOUND FALSE)
    if("REQUIRED" IN_LIST ARGN)
      message(FATAL_ERROR "catena: FLINT was not found (Debian: libflint-dev)")
    endif()
  endif()
endmacro()

# FCL's own configuration asks for octomap and libccd, which its headers that we use do not need.
macro(_catena_find_fcl)
  find_path(CATENA_FCL_INCLUDE fcl/config.h)
  find_library(CATENA_FCL_LIBRARY NAMES fcl)
  mark_as_advanced(CATENA_FCL_INCLUDE CATENA_FCL_LIBRARY)
  if(CATENA_FCL_INCLUDE AND CATENA_FCL_LIBRARY)
    set(FCL_FOUND TRUE)
    if(NOT TARGET catena_third_party::fcl)
      add_library(catena_third_party::fcl INTERFACE IMPORTED GLOBAL)
      set_target_properties(catena_third_party::fcl PROPERTIES
        INTERFACE_LINK_LIBRARIES ${CATENA_FCL_LIBRARY}
        INTERFACE_INCLUDE_DIRECTORIES ${CATENA_FCL_INCLUDE})
    endif()
  else()
    set(FCL_FOUND FALSE)
    if("REQUIRED" IN_LIST ARGN)
      message(FATAL_ERROR "catena: FCL was not found (Debian: libfcl-dev)")
    endif()
  endif()
endmacro()

# Finds the package; QUIET when a third argument says so. Sets <result> to TRUE or FALSE.
function(catena_find_package name result)
  if(NOT DEFINED catena_package_${name}_find)
    message(FATAL_ERROR "catena: no package \"${name}\" in catenaPackages.cmake")
  endif()
  list(GET catena_package_${name}_find 0 package)
  if(name STREQUAL "HDF5")
    _catena_find_hdf5(${ARGN})
  elseif(name STREQUAL "httplib")  # Debian's has no CMake package, and flags that must be the same
    find_package(PkgConfig ${ARGN})
    pkg_check_modules(catena_httplib ${ARGN} IMPORTED_TARGET GLOBAL cpp-httplib)
    set(httplib_FOUND ${catena_httplib_FOUND})
  elseif(name STREQUAL "SUNDIALS")
    _catena_find_sundials(${ARGN})
  elseif(name STREQUAL "IPOPT")
    _catena_find_ipopt(${ARGN})
  elseif(name STREQUAL "LAPACK")
    _catena_find_lapack(${ARGN})
  elseif(name STREQUAL "FLINT")
    _catena_find_flint(${ARGN})
  elseif(name STREQUAL "FCL")
    _catena_find_fcl(${ARGN})
  else()
    find_package(${catena_package_${name}_find} ${ARGN})
  endif()

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
