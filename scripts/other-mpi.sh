# shellcheck shell=bash
# For scripts that try another MPI than the one that mpicc and mpirun are of: to be sourced, after scripts/processes.sh and
# scripts/bindings.sh.

# Where its build is: below the usual target directory.
build_below() { # name
    export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target}/$1
}

# Builds the command; `hypercoll` is then the program.
build_command() { # arguments of `cargo build`
    local built
    built=$(cargo build "$@" --bin hypercoll --message-format json-render-diagnostics)
    hypercoll=$(sed -n 's|.*"executable":"\([^"]*/hypercoll\)".*|\1|p' <<<"$built" | tail -n 1)
    [[ -x $hypercoll ]] || { echo "${0##*/}: cargo built no program" >&2; exit 1; }
}

# Installs the MPI of a name (scripts/mpi), selects it and builds the command with it, in a target directory of its own; 1 where it
# cannot be installed, and 2 if there is no such name.
build_for() { # name, arguments of `cargo build`
    local name=$1 lines profile status=0
    shift
    lines=$(scripts/mpi "$name") || status=$?
    if ((status == 2)); then return 2; fi
    if ((status != 0)); then return 1; fi
    # As without it: what MPI as root needs.
    eval "$(scripts/setup --env)"
    eval "$lines"
    build_below mpi-build
    # All but the bindings is the same for every MPI.
    for profile in release dist; do fresh_bindings "$profile"; done
    build_command "$@"
}

# `hypercoll verify --all` on few ranks: over shared memory, through MPI, and with sends that wait for their receives.
verify_on_few_ranks() { # name of the MPI, seconds that one run may take, its mpirun
    local mpi=$1 limit=$2 mpirun=$3 said
    mark_processes
    said=$(mktemp)
    # shellcheck disable=SC2064 # the file is known now
    trap "trap '' INT TERM HUP; end_all ours; rm -f '$said'" EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM HUP

    verify() { # ranks, then more arguments
        local status=0
        # In the background and waited for, so that an interrupt is acted on at once.
        timeout --kill-after=5 "$limit" "$mpirun" -n "$1" "$hypercoll" verify --all "${@:2}" >"$said" &
        wait "$!" || status=$?
        echo "$HYPERCOLL_SHARED_MEMORY, -n $*: $(<"$said")"
        # Processes that do not find each other are one rank each, and all of them content.
        if ((status != 0)) || [[ $(<"$said") != "verify: $1 ranks, "* ]]; then
            echo "${0##*/}: wrong on $mpi (exit $status)" >&2
            exit 1
        fi
    }

    # Few ranks: mpirun may give each a session of its own, and where Linux shares the cores out among sessions, a rank that waits
    # cannot let another run.
    export HYPERCOLL_SHARED_MEMORY
    for HYPERCOLL_SHARED_MEMORY in single-copy off; do
        for ranks in 1 2 3; do verify "$ranks"; done
        verify 2 --synchronous
    done
    unset HYPERCOLL_SHARED_MEMORY
}
