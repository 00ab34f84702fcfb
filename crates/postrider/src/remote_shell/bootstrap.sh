# Finds, or receives, the build of Postrider that the other side runs, and becomes it. Run by `sh` on the far host.
#
# Words: MARK BUILD SYSTEM OWN ARGUMENT..., each written for printf(1): what is not plain is \0 and three octal digits.
# BUILD is looked for at OWN, the path that it has on the other side, and then in private directories. If it is nowhere,
# its files are asked for, one by one: a line `file BYTES PATH`, and then so many bytes, or `link TARGET PATH`. They become visible
# all at once, by a rename. All that is said is lines that begin with MARK, since a shell that starts may print things too.
#
# The whole text travels as one word in single quotes, through any login shell: so no quote, backslash or exclamation mark
# is in it, lines are joined by blanks, and only whole lines are comments. POSIX sh, and `head -c`.
umask 077;
count=$#;
while [ $count -gt 0 ]; do
    word=$(printf %b. "$1");
    shift;
    set -- "$@" "${word%.}";
    count=$((count - 1));
done;
mark=$1; build=$2; system=$3; own=$4;
shift 4;

say() { echo "postrider-$mark: $*"; };
is_right() { [ -x "$1" ] && [ "$("$1" build </dev/null)" = "$build" ]; };
# Of this user, closed to all others, and no link.
is_private() {
    set -- $(ls -ldn "$1" 2>/dev/null);
    case $1 in drwx------*) [ "$3" = "$(id -u)" ];; *) false;; esac;
};

# A plain file, and nobody but root and this user can have put it there, or can exchange it: it and all directories above are of one of the
# two, and nobody else can write to them. Numbers of users mean nothing on another host, so who has installed it there does not count.
# Directories in which only owners can rename (sticky, as /tmp) may be above, but the file is in none: what others link there has its old owner.
is_safe() {
    at=$(cd "${1%/*}" && pwd -P)/${1##*/};
    case $(ls -ldn "$at") in -*) ;; *) return 1;; esac;
    depth=0;
    while :; do
        set -- $(ls -ldn "$at");
        case $3 in 0|"$(id -u)") ;; *) return 1;; esac;
        case $1 in
            ?????w*|????????w*)
                [ $depth -ge 2 ] || return 1;
                case $1 in ?????????[tT]*) ;; *) return 1;; esac;;
        esac;
        [ "$at" = / ] && return 0;
        at=${at%/*};
        at=${at:-/};
        depth=$((depth + 1));
    done;
};

if { is_safe "$own" && is_right "$own"; } 2>/dev/null; then
    say found;
    exec "$own" "$@";
fi;
if [ "$(uname -sm)" = "$system" ]; then :; else
    say "failed it runs $(uname -sm), and this build is for $system";
    exit 1;
fi;

# Another user can make a directory of a name that he knows before us: so names in a directory for all have a mark by chance, and those of
# earlier ones are looked for.
stores=${TMPDIR:-/tmp}/postrider-builds-$(id -u);
try_each() {
    for place in "$HOME/.cache/postrider" "$stores"-* "$stores-$mark"; do
        case $place in *[*]) continue;; esac;
        "$@" && return 0;
    done;
    return 1;
};
has_it() { is_private "$place" && is_right "$place/$build/bin/postrider"; };
clean() { rm -rf "$new"; rmdir "$stores-$mark" 2>/dev/null; };
receive() {
    while say send; do
        read -r kind what path || return 1;
        mkdir -p "$new/${path%/*}" || return 1;
        case $kind in
            file) head -c "$what" >"$new/$path" && [ "$(wc -c <"$new/$path")" -eq "$what" ] || return 1;;
            link) ln -s "$what" "$new/$path" || return 1;;
            end) chmod u+x "$new/bin/postrider"; return;;
            *) return 1;;
        esac;
    done;
};
# The file system is not mounted noexec, which would be known too late: the build is sent once.
can_run() { echo exit >"$new/try" && chmod u+x "$new/try" && "$new/try" && rm "$new/try"; };
get_it() {
    mkdir -p "$place" && is_private "$place" || return 1;
    if [ -d "$place/$build" ]; then
        has_it && return;
        rm -rf "$place/$build";
    fi;
    new=$place/new-$mark;
    mkdir "$new" || return 1;
    trap clean EXIT;
    trap "exit 1" HUP INT TERM;
    can_run || { clean; return 1; };
    receive || { say "failed the build cannot be stored in $place; free some space there"; exit 1; };
    is_right "$new/bin/postrider" || { say "failed the build was copied to $place and does not start"; exit 1; };
    find "$place" -mindepth 1 -maxdepth 1 -name "[0-9n]*" -mtime +30 -exec rm -rf {} +;
    # Somebody may have been faster, and use it already. Then this goes into that directory, and away.
    mv "$new" "$place/$build";
    rm -rf "$place/$build/new-$mark";
};
if try_each has_it; then
    touch "$place/$build" 2>/dev/null;
    say found;
elif try_each get_it; then
    say copied;
else
    say "failed the build can be stored and run neither in $HOME/.cache/postrider nor in ${TMPDIR:-/tmp}; point TMPDIR there to a directory that is yours to write, and not mounted noexec";
    exit 1;
fi;
exec "$place/$build/bin/postrider" "$@";
