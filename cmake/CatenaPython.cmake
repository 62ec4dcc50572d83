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
find_package(Python QUIET ${required} COMPONENTS Interpreter Development.Module)
set(PYBIND11_NOPYTHON ON)
find_package(pybind11 2.10 QUIET ${required} CONFIG)
set(no_numpy FALSE)
if(wanted STREQUAL "AUTO" AND Python_FOUND)  # needed to run it, not to build it
  execute_process(COMMAND ${Python_EXECUTABLE} -c "import numpy" RESULT_VARIABLE no_numpy
                  OUTPUT_QUIET ERROR_QUIET)
endif()
if(Python_FOUND AND pybind11_FOUND AND NOT no_numpy)
  set(CATENA_HAS_PYTHON TRUE)
  message(STATUS
    "Python: for ${Python_EXECUTABLE} (${Python_VERSION}), with pybind11 ${pybind11_VERSION}")
else()
  message(STATUS "Python: not built; it needs python3-dev, python3-numpy and pybind11-dev")
endif()
