# Moves a file to a free path: FROM, TO, the digest.
read -r line
directory "$1" 6
o=$d/${1##*/}
unchanged "$o" "$3"
directory "$2" 7
n=$d/${2##*/}
free "$n"
alive
why=$(ln "$o" "$n" 2>&1 && rm "$o" 2>&1) || { free "$n"; why=$(mv -n "$o" "$n" 2>&1) || failed "$why"; }
[ ! -e "$o" ] || end raced
facts "$n"
end ok
