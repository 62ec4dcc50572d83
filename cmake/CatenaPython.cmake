# Finds what the Python package needs: CATENA_HAS_PYTHON says whether it is built.
#
# The system's interpreter is taken, not whatever stands first on PATH: its NumPy and pybind11 come
# from the same distribution as the other libraries. CATENA_PYTHON chooses another.
set(CATENA_HAS_PYTHON FALSE)
if(CATENA_BUILD_PYTHON STREQUAL "AUTO" AND NOT PROJECT_IS_TOP_LEVEL)
  set(wanted FALSE)
else()
  set(wanted ${CATENA_BUILD_PYTHON})
endif()
if(NOT wanted OR CATENA_BUILD_FUZZERS)
  return()
endif()

set(required)
if(NOT wanted STREQUAL "AUTO")
  set(required REQUIRED)
endif()
if(CATENA_PYTHON)
  set(Python_EXECUTABLE ${CATENA_PYTHON})
elseif(EXISTS /usr/bin/python3)
  set(Python_EXECUTABLE /usr/bin/python3)
endif()
find_package(Python QUIET ${required} COMPONENTS Interpreter Development.Module NumPy)
set(PYBIND11_NOPYTHON ON)
find_package(pybind11 2.10 QUIET ${required} CONFIG)
if(Python_FOUND AND pybind11_FOUND)
  set(CATENA_HAS_PYTHON TRUE)
  message(STATUS "Python: for ${Python_EXECUTABLE} (${Python_VERSION}), "
                 "NumPy ${Python_NumPy_VERSION}, pybind11 ${pybind11_VERSION}")
else()
  message(STATUS "Python: not built; it needs python3-dev, python3-numpy and pybind11-dev")
endif()
