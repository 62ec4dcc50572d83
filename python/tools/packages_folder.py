"""Prints where a Python of some prefix looks for packages: lib/python3.11/dist-packages."""
import sys
import sysconfig

debian = "deb_system" in sysconfig.get_scheme_names()
print(
    f"lib/python{sys.version_info.major}.{sys.version_info.minor}/"
    + ("dist-packages" if debian else "site-packages")
)
