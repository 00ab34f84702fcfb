#!/bin/bash
# Stops processes of the job on this host for moments, one after the other and at random, until the input ends: what works only
# while nobody is late shows then. The word is the program of the ranks.
set -u

# Those of ranks, agents, links and remote shells.
find_processes() {
    processes=()
    for process in /proc/[0-9]*; do
        words=()
        { mapfile -d '' -t words <"$process/cmdline"; } 2>/dev/null
        case "${words[*]:-}" in
        "$1" | ssh\ * | sshd*:\ *@* | */postrider\ agent* | */postrider\ link*) processes+=("${process#/proc/}") ;;
        esac
    done
}

# Waits for 1 to 29 ms; false at the end of the input.
pause() {
    read -rt "0.0$((RANDOM % 3))$((RANDOM % 9 + 1))"
    [ $? -gt 128 ]
}

while pause; do
    find_processes "$1"
    for _ in {1..20}; do
        [ ${#processes[@]} -gt 0 ] || break
        process=${processes[RANDOM % ${#processes[@]}]}
        kill -STOP "$process" 2>/dev/null
        pause
        kill -CONT "$process" 2>/dev/null
    done
done
