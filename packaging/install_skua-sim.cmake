# Run by cmake --install with the variables of packaging/CMakeLists.txt.
cmake_policy(VERSION 3.25)
# Installations may run at the same time.
string(RANDOM LENGTH 16 suffix)
string(APPEND GENERATED "-${suffix}")
execute_process(COMMAND ${PACKAGING}/man_pages ${PROGRAM} ${GENERATED} COMMAND_ERROR_IS_FATAL ANY)
file(INSTALL ${GENERATED}/skua-sim.1.gz DESTINATION ${CMAKE_INSTALL_PREFIX}/${MANDIR}/man1)

file(REMOVE_RECURSE ${GENERATED})
