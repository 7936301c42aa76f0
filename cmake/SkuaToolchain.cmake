# Tools that make building faster where they are installed.

# One ccache serves every checkout on this machine: paths below the checkout are compared as relative paths, and the
# object files name none of them.
find_program(SKUA_CCACHE ccache)
if(SKUA_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=true ${SKUA_CCACHE})
endif()
add_compile_options(-ffile-prefix-map=${CMAKE_SOURCE_DIR}=.)

find_program(SKUA_MOLD mold)
if(SKUA_MOLD)
  add_link_options(-fuse-ld=mold)
endif()
