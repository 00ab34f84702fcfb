#!/bin/sh
# The package for Octave, from its making to ranks that a session spawns: package.sh PREFIX
#
# It is installed into a home of its own, once with the compiled file that it brings, and once without.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
octave=${OCTAVE:-octave}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset OCTAVE_PATH
HOME=$work/home
export HOME
mkdir "$HOME"
package=$("$here/../package" "$work" "$1")

try() {
    "$octave" -q --norc --eval "pkg prefix $work/packages $work/packages; pkg local_list $work/list; pkg global_list $work/all; $1" 2>&1
}
works() {
    said=$(try "$check") || true
    case $said in
    *"it works"*) ;;
    *) echo "$said"; exit 1 ;;
    esac
}
spawned="p = mpi.parent; c = mpi.world; p.send(c.rank, 0, 1); p.disconnect();"
check="pkg load postrider; c = mpi.world; i = c.spawn('$octave', {'-q', '--eval', '$spawned'}, 2);
    assert(i.recv(0, 1) == 0); assert(i.recv(1, 1) == 1); i.disconnect(); disp('it works');"

quietly=$(try "pkg install $package")
# What Octave 7 says at the end of any process.
if echo "$quietly" | grep -v "while preparing to exit" | grep -e warning -e error; then
    exit 1
fi
works
# `doc agg` opens the package's manual, which has it in its index, and `news postrider` finds its news.
if command -v makeinfo >/dev/null; then
    shown=$(try "pkg load postrider; info_program('echo'); doc agg")
    manual=$(echo "$shown" | sed -n 's/^--file \(.*doc\.info\) .*--index-search agg$/\1/p')
    grep -aq '^\* agg: ' "$manual" || { echo "no manual: $shown"; exit 1; }
fi
try "PAGER('cat'); page_screen_output(false); news postrider" | grep -q 'The first version as a package'
"$work"/packages/postrider-*/engine/bin/postrider run -n 2 "$octave" -q "$here/order.m"
# The file that is of one Octave only is not needed.
echo broken >"$(echo "$work"/packages/postrider-*/+postrider)/uninitialized.oct"
OCTAVE_PATH=$here "$work"/packages/postrider-*/engine/bin/postrider run -n 2 "$octave" -q "$here/native.m" arrays
try "pkg uninstall postrider"

# Where the compiled file is of no use, it is built.
tar -C "$work" -xzf "$package"
echo broken >"$(echo "$work"/postrider-*/inst)/postrider_call.mex"
tar -C "$work" -czf "$work/other.tar.gz" "$(basename "$(echo "$work"/postrider-*/)")"
try "pkg install $work/other.tar.gz" | grep -q "built anew"
works
