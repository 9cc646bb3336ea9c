# SPDX-License-Identifier: BSD-2-Clause
# Every compile and link flag of the project lives in the target ep_options.
option(EDGEPROF_TESTS "Build the tests" ${PROJECT_IS_TOP_LEVEL})
option(EDGEPROF_WERROR "Treat warnings as errors (presets switch this on)" OFF)
option(EDGEPROF_FUZZ "Link the fuzz targets with libFuzzer (clang only)" OFF)
set(EDGEPROF_SANITIZE "" CACHE STRING "Value for -fsanitize=, e.g. address,undefined")

add_library(ep_options INTERFACE)
target_compile_options(ep_options INTERFACE
	-Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wundef
	-Wformat=2 -Wpointer-arith -Wwrite-strings -fvisibility=hidden
	$<$<BOOL:${EDGEPROF_WERROR}>:-Werror>)
# glibc hides asprintf(3) and the like without it; FreeBSD shows them without any macro.
target_compile_definitions(ep_options INTERFACE $<$<PLATFORM_ID:Linux>:_GNU_SOURCE>)
target_include_directories(ep_options INTERFACE
	$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>)
if(EDGEPROF_SANITIZE)
	target_compile_options(ep_options INTERFACE
		-fsanitize=${EDGEPROF_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
	target_link_options(ep_options INTERFACE -fsanitize=${EDGEPROF_SANITIZE})
endif()
if(EDGEPROF_FUZZ)
	target_compile_options(ep_options INTERFACE -fsanitize=fuzzer-no-link)
endif()

# ep_add_module(NAME SOURCES a.c ... LINK public... PRIVATE private...): one folder of src = one target.
function(ep_add_module name)
	cmake_parse_arguments(arg "" "" "SOURCES;LINK;PRIVATE" ${ARGN})
	add_library(ep_${name} STATIC ${arg_SOURCES})
	target_link_libraries(ep_${name} PUBLIC ${arg_LINK} PRIVATE $<BUILD_INTERFACE:ep_options> ${arg_PRIVATE})
	target_include_directories(ep_${name} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>)
	set_target_properties(ep_${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
endfunction()
