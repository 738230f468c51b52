# Deletes a file: PATH, its digest.
read -r line
directory "$1" 6
o=$d/${1##*/}
unchanged "$o" "$2"
alive
why=$(rm "$o" 2>&1) || failed "$why"
end ok
