# For scripts that build with MPI: to be sourced, in the repository.
# shellcheck shell=bash

# The crate mpi-sys binds the MPI that it finds when it is first built, and cargo does not see when another one would be found: after
# MPICC=other, `module swap`, ...; nor does the preload, which reads that MPI's header, but after the first. Has both built again if so, or
# if what they have found is not known.
fresh_bindings() { # cargo's profile
    local stamp=${CARGO_TARGET_DIR:-target}/bindings-$1 mpicc=${MPICC:-mpicc} found
    found="MPI_PKG_CONFIG=${MPI_PKG_CONFIG-} CRAY_MPICH_DIR=${CRAY_MPICH_DIR-}
$(realpath -- "$(command -v "$mpicc")" 2>/dev/null)
$("$mpicc" -show 2>/dev/null)" || true
    if [[ $(cat "$stamp" 2>/dev/null) != "$found" ]]; then
        cargo clean --quiet --profile "$1" --package mpi-sys --package hypercoll-preload
        mkdir -p "$(dirname "$stamp")"
        echo "$found" >"$stamp"
    fi
}
