# SPDX-License-Identifier: BSD-3-Clause
# Installation rules. The program finds its library, kernels and descriptions relative to itself, so an installed tree
# can be moved. Included last, because it refers to targets of kernels/.
set(SLUICE_LIBDIR ${CMAKE_INSTALL_LIBDIR}/sluice)
install(TARGETS sluice RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS sluiced RUNTIME DESTINATION ${CMAKE_INSTALL_SBINDIR})
if(TARGET sluice-lab)
	install(TARGETS sluice-lab RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/sluice)
endif()
install(TARGETS capture LIBRARY DESTINATION ${SLUICE_LIBDIR})
install(FILES ${CMAKE_BINARY_DIR}/libasan.so.d/libsluice.so DESTINATION ${SLUICE_LIBDIR}/libasan.so.d)
install(TARGETS capture_link ARCHIVE DESTINATION ${SLUICE_LIBDIR})
install(FILES ${CMAKE_BINARY_DIR}/sluice-link.flags DESTINATION ${SLUICE_LIBDIR})
install(DIRECTORY include/sluice DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
# Modules of explicit instrumentation, as sources: a module file belongs to one compiler.
install(FILES bindings/fortran/sluice.f90 DESTINATION ${CMAKE_INSTALL_DATADIR}/sluice/fortran)
install(FILES bindings/python/sluice.py DESTINATION ${CMAKE_INSTALL_DATADIR}/sluice/python)
install(FILES packaging/grafana/sluice.json DESTINATION ${CMAKE_INSTALL_DATADIR}/sluice/grafana)
install(DIRECTORY ${generated}/manual/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${generated}/manual/sluice.bash
	DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME sluice)
install(FILES ${generated}/manual/_sluice DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(DIRECTORY share/platforms share/machines share/sites DESTINATION ${CMAKE_INSTALL_DATADIR}/sluice
	FILES_MATCHING PATTERN "*.ini")
# The pages keep their places relative to each other, so that links between them work.
install(FILES LICENSE README.md NEWS.md ARCHITECTURE.md CONTRIBUTING.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY examples/plugins DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples FILES_MATCHING PATTERN "*.c")

configure_file(packaging/sluice.pc.in ${generated}/sluice.pc @ONLY)
install(FILES ${generated}/sluice.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/sluice)
configure_package_config_file(packaging/sluiceConfig.cmake.in ${generated}/sluiceConfig.cmake
	INSTALL_DESTINATION ${package_dir}
	PATH_VARS CMAKE_INSTALL_BINDIR CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_DATADIR SLUICE_LIBDIR)
write_basic_package_version_file(${generated}/sluiceConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${generated}/sluiceConfig.cmake ${generated}/sluiceConfigVersion.cmake DESTINATION ${package_dir})

# The daemon, and the reasoner of a site, as services of the system.
foreach(unit sluiced.service sluiced.socket sluice-watch.service)
	configure_file(packaging/${unit} ${generated}/${unit} @ONLY)
	install(FILES ${generated}/${unit} DESTINATION lib/systemd/system)
endforeach()
install(FILES packaging/sluice.sysusers DESTINATION lib/sysusers.d RENAME sluice.conf)
install(FILES packaging/sluice.tmpfiles DESTINATION lib/tmpfiles.d RENAME sluice.conf)

# How a site preloads the library: Slurm's TaskProlog, or a module (Tcl for Environment Modules, Lua for Lmod).
configure_file(packaging/slurm/taskprolog.sh ${generated}/taskprolog.sh @ONLY)
install(PROGRAMS ${generated}/taskprolog.sh DESTINATION ${CMAKE_INSTALL_DATADIR}/sluice/slurm)
foreach(module sluice sluice-site sluice.lua sluice-site.lua)
	configure_file(packaging/modules/${module} ${generated}/modules/${module} @ONLY)
	install(FILES ${generated}/modules/${module} DESTINATION ${CMAKE_INSTALL_DATADIR}/sluice/modules)
endforeach()

# Kernels are optional: a machine may have no MPI, or the target "kernels" may not have been built.
foreach(mpi mpich openmpi)
	foreach(name levels levels_linked climate climate_linked collective_io vpic_io vorpal_io gcrm_io small_io elemental)
		if(TARGET mpi_${mpi}_program_${name})
			install(TARGETS mpi_${mpi}_program_${name}
				RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/sluice/kernels/${mpi} OPTIONAL)
		endif()
	endforeach()
endforeach()
