# SPDX-License-Identifier: BSD-2-Clause
# The installed library: what a program needs to read, merge and write `.edges` files and sample profiles.
include(CMakePackageConfigHelpers)

set(modules base record edges sprof)
set(headers
	base/arena.h base/bytes.h base/count.h base/digest.h base/error.h base/macros.h base/strtab.h base/vec.h
	base/warn.h
	record/build_id.h record/drop.h record/event.h record/machine.h
	edges/edges.h
	sprof/read.h sprof/sprof.h sprof/summary.h sprof/write.h)

set(objects)
foreach(module IN LISTS modules)
	list(APPEND objects $<TARGET_OBJECTS:ep_${module}>)
endforeach()
add_library(edgeprof_lib STATIC ${objects})
add_library(edgeprof::edgeprof ALIAS edgeprof_lib)
set_target_properties(edgeprof_lib PROPERTIES OUTPUT_NAME edgeprof EXPORT_NAME edgeprof LINKER_LANGUAGE C)
target_link_libraries(edgeprof_lib PUBLIC PkgConfig::ZSTD PkgConfig::XXHASH PkgConfig::LIBMD
	ZLIB::ZLIB Threads::Threads)
target_sources(edgeprof_lib PUBLIC FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR}/src FILES)
foreach(header IN LISTS headers)
	target_sources(edgeprof_lib PUBLIC FILE_SET HEADERS FILES ${PROJECT_SOURCE_DIR}/src/${header})
endforeach()

install(TARGETS edgeprof_lib EXPORT edgeprof-targets
	ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
	FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/edgeprof)
set(config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/edgeprof)
install(EXPORT edgeprof-targets NAMESPACE edgeprof:: DESTINATION ${config_dir})
configure_package_config_file(cmake/edgeprof-config.cmake.in ${PROJECT_BINARY_DIR}/edgeprof-config.cmake
	INSTALL_DESTINATION ${config_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/edgeprof-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/edgeprof-config.cmake ${PROJECT_BINARY_DIR}/edgeprof-config-version.cmake
	DESTINATION ${config_dir})
# Relative, so that the installed tree can be moved.
file(RELATIVE_PATH EP_PC_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" EP_PC_PREFIX ${EP_PC_PREFIX})
configure_file(cmake/edgeprof.pc.in ${PROJECT_BINARY_DIR}/edgeprof.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/edgeprof.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
