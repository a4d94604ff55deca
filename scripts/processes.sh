# Sourced by scripts that start processes and must not leave any behind.
#
# Whatever is started after `mark_processes` carries a mark in its environment, so that it can be told from all other processes.
# A marked script that marks its own processes adds to the mark: they are still those of whoever started the script, too.
# shellcheck shell=bash

mark_processes() { export HYPERCOLL_RUN=${HYPERCOLL_RUN:+$HYPERCOLL_RUN/}$$-$RANDOM$RANDOM; }

# The numbers of the processes with our mark that live. (Not through a pipe: what is at its other end has the mark, too.)
ours() {
    local file
    for file in $(grep -lzE "^HYPERCOLL_RUN=$HYPERCOLL_RUN(/|\$)" /proc/[0-9]*/environ 2>/dev/null || true); do
        file=${file#/proc/}
        echo "${file%/environ}"
    done
}

# Ends the processes whose numbers a command prints: first asks, then, after two seconds, forces.
end_all() { # command ...
    local signal tries pids
    for signal in TERM KILL; do
        for tries in 1 2 3 4 5 6 7 8 9 10; do
            pids=$("$@")
            [[ -n $pids ]] || return 0
            if ((tries == 1)); then
                # shellcheck disable=SC2086 # a list of process numbers
                kill -s "$signal" $pids 2>/dev/null || true
            fi
            sleep 0.2
        done
    done
}
