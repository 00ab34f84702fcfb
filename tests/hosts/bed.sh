#!/bin/bash
# The first process of a bed: it holds the namespaces in which the hosts' network is, and everything ends with it.
#
# `cargo xtask hosts` starts it by unshare in mount, network and PID namespaces of its own, so that nothing of a bed is
# visible outside: no interface, no mount, no socket. It lives until its standard input ends, which is a pipe from its
# owner, or until it is killed. Being the first of its PID namespace it takes all hosts with it, whatever they do.
#
# BED_STATE   the directory of the bed, with central/source and the like
# BED_STAYS   yes if it lives until it is killed
# BED_SLOW    options of postrider-slowfs, when central/ is to be slow, and BED_SLOWFS, the program
# BED_LINK    microseconds and Mbit/s, when links are to be slow, and BED_SLOW_LINK, the program
set -eu

# Network namespaces by name, and the roots of the hosts.
mount -t tmpfs tmpfs /run
mkdir /run/roots
ip link set lo up
if [ -n "${BED_LINK:-}" ]; then
    mkfifo "$BED_STATE/ports"
    # Two words on purpose.
    # shellcheck disable=SC2086
    "$BED_SLOW_LINK" $BED_LINK "$BED_STATE/ports" &
else
    ip link add switch type bridge
    ip link set switch up
fi

if [ -n "${BED_SLOW:-}" ]; then
    # Several words on purpose: the options.
    # shellcheck disable=SC2086
    "$BED_SLOWFS" "$BED_STATE/slow-source" "$BED_STATE/central" $BED_SLOW &
    until mountpoint -q "$BED_STATE/central"; do
        kill -0 $! || exit 1
        sleep 0.05
    done
fi

: >"$BED_STATE/ready"
# The shell reaps whatever loses its parent meanwhile.
if [ -n "${BED_STAYS:-}" ]; then
    sleep infinity
else
    cat >/dev/null
fi
