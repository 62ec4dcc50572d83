# A Debian package by `make package` (cpack): program, library, headers, manual page, completions, models and pages. Shared
# libraries that the program needs become dependencies by dpkg-shlibdeps; the -dev packages that its headers need are recommended.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME catena)
set(CPACK_PACKAGE_VENDOR "The Catena authors")
set(CPACK_PACKAGE_CONTACT "The Catena authors <maintainers@catena.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGE_DESCRIPTION
  "Simulates robots, linkages and spacecraft from URDF, SDF or YAML files, closed loops included; finds bearing forces, linear models and optimal motions.")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)  # catena_0.2.0_amd64.deb
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS
  "libeigen3-dev, libxsimd-dev, libtbb-dev, libtinyxml2-dev, libyaml-cpp-dev, libfmt-dev, libhdf5-dev, libsundials-dev, coinor-libipopt-dev, libfcl-dev")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "python3-numpy, bash-completion")
include(CPack)
