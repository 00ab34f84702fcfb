# Of each row of mpitb.def: a help file, or for CALLER a function of the language; prints the names that need a link.
#
#     awk -F '"' -v out=FOLDER -f functions.awk examples mpitb.def
#
# Examples are lines "Name: example", one for each function.

FILENAME ~ /examples$/ {
    name = $0
    sub(/:.*/, "", name)
    examples["MPI_" name] = substr($0, length(name) + 3)
    next
}

function help(name, usage, text) {
    return "% " name "  " text "\n%\n%   " usage "\n%\n" \
           "% Example: " (name in examples ? examples[name] : usage ";") "\n%\n" \
           "% One of MPI-TB's names, which postrider.use('mpitb') puts on the path; see mpitb/Contents.m and docs/OCTAVE.md.\n"
}

function write(name, text) {
    printf "%s", text > (out "/" name ".m")
    close(out "/" name ".m")
}

/^(PLAIN|OWN|ANYTIME|CALLER|CONSTANT)\(/ {
    split($1, head, /[(,]/)
    kind = head[1]
    name = "MPI_" head[2]
    usage = kind == "CONSTANT" ? "number = " name : $2
    text = kind == "CONSTANT" ? $2 : $4
    contents = contents "%   " name " - " text "\n"
    if (kind != "CALLER") {
        print name
        write(name, help(name, usage, text) "%\n% The function is in the MEX file of this name; this file holds its help.\n")
        next
    }
    arguments = usage
    sub(/^.*\(/, "", arguments)
    sub(/\).*$/, "", arguments)
    outputs = usage
    sub(/ = .*$/, "", outputs)
    passed = arguments
    if (sub(/\.\.\./, "varargin", arguments))
        sub(/\.\.\./, "varargin{:}", passed)
    write(name, "function " outputs " = " name "(" arguments ")\n" help(name, usage, text) \
          "  " outputs " = mpitb_call('" name "', " passed ");\n")
}

END {
    write("mpitb_call", "% mpitb_call  What MPI-TB's functions are made of that change variables of their caller.\n%\n" \
          "%   mpitb_call('MPI_Recv', buf, src, tag, comm)\n%\n" \
          "% It is called by these functions only, with their own arguments, since it asks for the names of these.\n%\n" \
          "% The function is in the MEX file of this name; this file holds its help.\n")
    write("Contents", "% MPI-TB's names: the first output is the code that MPI returns, 0 for success, and buffers change in place.\n%\n" contents)
}
