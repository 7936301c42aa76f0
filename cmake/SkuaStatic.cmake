# SKUA_STATIC: the programs of the tarball, which need glibc, libpq and OpenSSL of the system. Included before the other
# libraries are searched.

# From here on, only archives are found.
set(CMAKE_FIND_LIBRARY_SUFFIXES .a)
set(Boost_USE_STATIC_LIBS ON)
# A shared library whose functions all come from its headers is not needed.
add_link_options(-static-libstdc++ -static-libgcc -Wl,--as-needed)
# Debian has no archive of libcbor. The tarball contains the shared library.
set(CMAKE_INSTALL_RPATH "$ORIGIN/../lib/skua")

# Debian has no archives of these three, but their headers contain everything. Called after they were found.
macro(skua_use_headers_only)
  add_compile_definitions(FMT_HEADER_ONLY=1)
  set_target_properties(spdlog::spdlog PROPERTIES INTERFACE_COMPILE_DEFINITIONS SPDLOG_FMT_EXTERNAL)
  set_target_properties(tomlplusplus::tomlplusplus PROPERTIES INTERFACE_COMPILE_OPTIONS "")
endmacro()
