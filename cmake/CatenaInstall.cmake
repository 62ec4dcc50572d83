# Installation: libraries and headers, find_package(catena COMPONENTS <room> ...), pkg-config
# (catena-<room>, and catena for all), and the data under share/catena.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/catena)
set(pkgconfig_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH prefix_from_pkgconfig /${pkgconfig_dir} /)
string(REGEX REPLACE "/$" "" prefix_from_pkgconfig ${prefix_from_pkgconfig})

get_property(built_rooms GLOBAL PROPERTY CATENA_BUILT_ROOMS)
set(catena_config_rooms)
set(all_modules)
foreach(room IN LISTS built_rooms)
  foreach(property DEPENDS LINK PRIVATE_LINK TYPE)
    get_property(${property} GLOBAL PROPERTY CATENA_${room}_${property})
  endforeach()

  install(TARGETS catena_${room} EXPORT catena_${room}
          LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
          ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
          FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(EXPORT catena_${room} NAMESPACE catena:: FILE catena_${room}.cmake
          DESTINATION ${package_dir})

  # A shared library brings along what it links privately; for a static one the user links it.
  set(packages ${LINK})
  if(NOT TYPE STREQUAL "SHARED_LIBRARY")
    list(APPEND packages ${PRIVATE_LINK})
  endif()
  string(APPEND catena_config_rooms
    "set(_catena_${room}_depends ${DEPENDS})\nset(_catena_${room}_packages ${packages})\n")

  set(modules ${DEPENDS})
  list(TRANSFORM modules PREPEND catena-)
  foreach(package IN LISTS packages)
    list(APPEND modules ${catena_package_${package}_pkgconfig})
  endforeach()
  list(JOIN modules " " modules)
  set(cflags "-I\${includedir}")
  if(Eigen3 IN_LIST LINK OR Eigen3 IN_LIST PRIVATE_LINK)
    list(JOIN CATENA_EIGEN_DEFINITIONS " -D" definitions)
    string(APPEND cflags " -D${definitions}")
  endif()
  set(libs "")
  if(NOT TYPE STREQUAL "INTERFACE_LIBRARY")
    set(libs "-L\${libdir} -lcatena_${room}")
  endif()
  set(module catena-${room})
  set(description "Catena, ${room}")
  configure_file(cmake/catena.pc.in ${PROJECT_BINARY_DIR}/pkgconfig/${module}.pc @ONLY)
  list(APPEND all_modules ${module})
endforeach()

set(module catena)
set(description "${PROJECT_DESCRIPTION}")
list(JOIN all_modules " " modules)
set(cflags "")
set(libs "")
configure_file(cmake/catena.pc.in ${PROJECT_BINARY_DIR}/pkgconfig/catena.pc @ONLY)
list(APPEND all_modules catena)
list(TRANSFORM all_modules REPLACE "(.+)" "${PROJECT_BINARY_DIR}/pkgconfig/\\1.pc")
install(FILES ${all_modules} DESTINATION ${pkgconfig_dir})

list(JOIN built_rooms " " catena_built_rooms)
configure_package_config_file(cmake/catenaConfig.cmake.in ${PROJECT_BINARY_DIR}/catenaConfig.cmake
  INSTALL_DESTINATION ${package_dir} NO_CHECK_REQUIRED_COMPONENTS_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/catenaConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/catenaConfig.cmake ${PROJECT_BINARY_DIR}/catenaConfigVersion.cmake
              cmake/catenaPackages.cmake
        DESTINATION ${package_dir})

# The tutorials where the links of docs/python.md look for them.
install(DIRECTORY python/tutorials DESTINATION ${CMAKE_INSTALL_DATADIR}/catena/python
        FILES_MATCHING PATTERN "*.py")
foreach(data models verification docs examples)
  if(EXISTS ${PROJECT_SOURCE_DIR}/${data})
    install(DIRECTORY ${data} DESTINATION ${CMAKE_INSTALL_DATADIR}/catena
            PATTERN "Doxyfile" EXCLUDE)
  endif()
endforeach()
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
if(CATENA_BUILD_APPS)
  install(FILES docs/man/catena.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  install(FILES completions/catena.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME catena)
  install(FILES completions/_catena DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
  install(FILES completions/catena.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endif()
