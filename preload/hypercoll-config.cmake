# find_package(hypercoll) for programs that include hypercoll.h:
#
#     find_package(hypercoll REQUIRED)
#     target_link_libraries(program PRIVATE hypercoll::hypercoll)
#
# The library comes before MPI's then, which it brings with it.

include(CMakeFindDependencyMacro)
find_dependency(MPI COMPONENTS C)

# (Where /lib is a link to /usr/lib, it may have been found by the former.)
get_filename_component(hypercoll_prefix "${CMAKE_CURRENT_LIST_DIR}" REALPATH)
get_filename_component(hypercoll_prefix "${hypercoll_prefix}/../../.." ABSOLUTE)
if(NOT TARGET hypercoll::hypercoll)
    add_library(hypercoll::hypercoll SHARED IMPORTED)
    set_target_properties(
        hypercoll::hypercoll
        PROPERTIES
            IMPORTED_LOCATION "${hypercoll_prefix}/lib/libhypercoll_preload.so"
            INTERFACE_INCLUDE_DIRECTORIES "${hypercoll_prefix}/include"
            # A program may call none of its functions by names that are not MPI's.
            INTERFACE_LINK_OPTIONS "LINKER:--no-as-needed"
            INTERFACE_LINK_LIBRARIES MPI::MPI_C
    )
endif()
unset(hypercoll_prefix)
