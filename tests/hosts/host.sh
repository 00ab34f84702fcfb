#!/bin/bash
# One host of a bed. `host.sh start` runs in the namespaces of the bed: it makes the host's network, and `host.sh boot`
# in namespaces of its own. That one builds the root that the host sees, starts sshd, and stays as its first process.
#
# The host has the machine's directories, read-only, with a copy of /etc; /tmp, /var/tmp, /run, /dev/shm and the home directory
# are its own and in memory; /shared and /central are directories that all hosts see and may write to.
#
# BED_STATE     the directory of the bed: ssh/, shared/, central/
# BED_HOST      name of the host; BED_INDEX, its number
# BED_VISIBLE   directories that every host sees at their places, read-only, one a line
# BED_TMP       size of /tmp, such as 16m, or nothing
# BED_FIREWALL  yes: only port 22 can be reached; peers: and that only from h0; slurm: and the ports of Slurm; no: everything
# BED_KEY       yes if somebody on this host can log in on others
# BED_USER      user and group number of sshd and of whoever logs in, when the bed has no real root
set -eu
network=10.77.0
root=/run/roots/$BED_HOST

start() {
    ip netns delete "$BED_HOST" 2>/dev/null || true
    # The system takes the network of a host that has ended down when it comes to it.
    ip link delete "port$BED_INDEX" 2>/dev/null || true
    ip netns add "$BED_HOST"
    ip link add "port$BED_INDEX" type veth peer name eth0 netns "$BED_HOST"
    ip link set "port$BED_INDEX" up
    if [ -p "$BED_STATE/ports" ]; then
        echo "port$BED_INDEX" >"$BED_STATE/ports"
    else
        ip link set "port$BED_INDEX" master switch
    fi
    ip -n "$BED_HOST" link set lo up
    ip -n "$BED_HOST" address add "$network.$((BED_INDEX + 1))/24" dev eth0
    ip -n "$BED_HOST" link set eth0 up
    [ "$BED_FIREWALL" = no ] || firewall
    mkdir -p "$root"
    nsenter --net="/run/netns/$BED_HOST" unshare --mount --uts --ipc --pid --fork --kill-child=KILL "$0" boot &
    first=
    until [ -n "$first" ]; do
        first=$(cat "/proc/$!/task/$!/children")
        sleep 0.01
    done
    echo "${first% }" >"$BED_STATE/pids/$BED_HOST.new"
    mv "$BED_STATE/pids/$BED_HOST.new" "$BED_STATE/pids/$BED_HOST"
}

firewall() {
    from=
    ports=22
    case $BED_FIREWALL in
    peers) [ "$BED_INDEX" = 0 ] || from="ip saddr $network.1" ;;
    slurm) ports='{ 22, 6817, 6818, 60001-63000 }' ;;
    esac
    ip netns exec "$BED_HOST" nft -f - <<RULES
table inet firewall {
    chain inbound {
        type filter hook input priority 0; policy drop;
        ct state established,related accept
        iif lo accept
        $from tcp dport $ports accept
    }
}
RULES
}

# Binds a file or a directory of the machine into the new root, read-only.
show() {
    if [ -d "$1" ]; then
        mkdir -p "$root$1"
    elif [ ! -e "$root$1" ]; then
        : >"$root$1"
    fi
    mount "${2:---rbind}" "$1" "$root$1"
    # Without a real root some mounts keep the flags that they have.
    mount -o remount,bind,ro "$root$1" 2>/dev/null || [ -n "$BED_USER" ]
}

memory() {
    mkdir -p "$root$1"
    mount -t tmpfs -o "mode=$2${3:+,size=$3}" tmpfs "$root$1"
}

make_root() {
    mount -t tmpfs -o mode=755 tmpfs "$root"
    for entry in /* /.[!.]*; do
        case $entry in
        /tmp | /run | /proc | /dev | /etc | '/.[!.]*') ;;
        *)
            if [ -L "$entry" ]; then
                cp -P "$entry" "$root$entry"
            else
                show "$entry"
            fi
            ;;
        esac
    done
    mkdir "$root/dev" "$root/proc"
    mount --rbind /dev "$root/dev"
    mount -t proc proc "$root/proc"
    memory /tmp 1777 "$BED_TMP"
    memory /run 755
    memory /dev/shm 1777
    [ ! -d /var/tmp ] || memory /var/tmp 1777
    memory /etc 755
    cp -a /etc/. "$root/etc/" 2>/dev/null || [ -n "$BED_USER" ]
    make_home
    while read -r directory; do
        show "$directory" --bind
    done <<<"$BED_VISIBLE"
    mkdir "$root/shared" "$root/central" "$root/run/sshd"
    mount --bind "$BED_STATE/shared" "$root/shared"
    mount --bind "$BED_STATE/central" "$root/central"
}

# A home directory of its own, with a key, and with the folders of the real one, since interpreters may live in one of
# them. No start-up file of a shell is there, so that all machines behave alike.
make_home() {
    mkdir -p "$root$HOME"
    mount -t tmpfs -o mode=700 tmpfs "$root$HOME"
    for entry in "$HOME"/* "$HOME"/.[!.]*; do
        case ${entry##*/} in
        .ssh | .gnupg | .cache | .config) ;;
        *) if [ -d "$entry" ] && [ -r "$entry" ]; then show "$entry"; fi ;;
        esac
    done
    mkdir -m 700 "$root$HOME/.ssh"
    cp "$BED_STATE/ssh/known_hosts" "$BED_STATE/ssh/authorized_keys" "$root$HOME/.ssh/"
    [ "$BED_KEY" = no ] || cp -p "$BED_STATE/ssh/id_ed25519" "$root$HOME/.ssh/"
}

configure() {
    cp "$BED_STATE/ssh/hosts" "$root/etc/hosts"
    echo "$BED_HOST" >"$root/etc/hostname"
    cp -p "$BED_STATE/ssh/$BED_HOST" "$root/etc/ssh/host_key"
    cp "$BED_STATE/ssh/sshd_config" "$root/etc/ssh/bed_config"
    if [ -n "$BED_USER" ]; then
        sed -i "/^[^:]*:[^:]*:${BED_USER%:*}:/d" "$root/etc/passwd"
        echo "bed:x:$BED_USER::$HOME:/bin/bash" >>"$root/etc/passwd"
        echo 22 >"$root/proc/sys/net/ipv4/ip_unprivileged_port_start"
    fi
}

boot() {
    hostname "$BED_HOST"
    make_root
    configure
    cd "$root"
    mkdir .machine
    pivot_root . .machine
    cd /
    umount -l /.machine
    rmdir /.machine
    if [ -n "$BED_USER" ]; then
        exec unshare --user --map-user="${BED_USER%:*}" --map-group="${BED_USER#*:}" "$0" serve
    fi
    serve
}

serve() {
    export TMPDIR=/tmp
    unset "${!BED_@}"
    sshd=$(command -v sshd || echo /usr/sbin/sshd)
    "$sshd" -D -e -f /etc/ssh/bed_config &
    # The shell reaps whatever loses its parent on this host.
    sleep infinity
}

"$1"
