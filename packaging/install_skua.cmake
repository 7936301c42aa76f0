# Run by cmake --install with the variables of packaging/CMakeLists.txt. file(INSTALL) obeys DESTDIR.
cmake_policy(VERSION 3.25)

# As GNUInstallDirs does: the configuration of /usr is in /etc. zsh of Debian has two folders, too.
if(CMAKE_INSTALL_PREFIX STREQUAL "/usr")
  set(configuration "/${SYSCONFDIR}/skua")
  set(zsh_functions vendor-completions)
else()
  set(configuration "${CMAKE_INSTALL_PREFIX}/${SYSCONFDIR}/skua")
  set(zsh_functions site-functions)
endif()

function(write_output file)
  execute_process(COMMAND ${PROGRAM} ${ARGN} OUTPUT_FILE ${GENERATED}/${file} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

function(install_generated file folder)
  file(INSTALL ${GENERATED}/${file} DESTINATION ${folder})
endfunction()

# Installations may run at the same time.
string(RANDOM LENGTH 16 suffix)
string(APPEND GENERATED "-${suffix}")
file(MAKE_DIRECTORY ${GENERATED}/man)
execute_process(COMMAND ${PACKAGING}/man_pages ${PROGRAM} ${GENERATED}/man COMMAND_ERROR_IS_FATAL ANY)
file(GLOB pages RELATIVE ${GENERATED} ${GENERATED}/man/*.1.gz)
foreach(page ${pages})
  install_generated(${page} ${CMAKE_INSTALL_PREFIX}/${MANDIR}/man1)
endforeach()

write_output(skua completion bash)
install_generated(skua ${CMAKE_INSTALL_PREFIX}/${DATADIR}/bash-completion/completions)
write_output(_skua completion zsh)
install_generated(_skua ${CMAKE_INSTALL_PREFIX}/${DATADIR}/zsh/${zsh_functions})
write_output(skua.fish completion fish)
install_generated(skua.fish ${CMAKE_INSTALL_PREFIX}/${DATADIR}/fish/vendor_completions.d)

# Debian's name for the licence.
if(CMAKE_INSTALL_PREFIX STREQUAL "/usr")
  file(INSTALL ${LICENSE} DESTINATION ${CMAKE_INSTALL_PREFIX}/${DOCDIR} RENAME copyright)
endif()

# An existing configuration stays. Packages keep it as a conffile.
if(DEFINED ENV{DESTDIR} OR NOT EXISTS ${configuration}/skua.toml)
  write_output(skua.toml help settings --toml)
  install_generated(skua.toml ${configuration})
endif()

# One service for each command that runs until it is stopped.
function(install_unit name command description)
  set(PROGRAM_PATH ${CMAKE_INSTALL_PREFIX}/${BINDIR}/skua)
  set(CONFIGURATION ${configuration})
  set(COMMAND ${command})
  set(DESCRIPTION ${description})
  string(REPLACE " " "-" MAN_PAGE "skua ${command}")
  configure_file(${PACKAGING}/systemd/skua.service.in ${GENERATED}/${name}.service @ONLY)
  install_generated(${name}.service ${CMAKE_INSTALL_PREFIX}/lib/systemd/system)
endfunction()
install_unit(skua run "Skua, indexer of the AT Protocol network")
install_unit(skua-serve serve "Skua, change feeds of the indexed network")
install_unit(skua-consumers "consumers run" "Skua, projections of the indexed network")

file(REMOVE_RECURSE ${GENERATED})
