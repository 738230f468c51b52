# The digest of a file: PATH.
[ -e "$1" ] || [ -L "$1" ] || end missing
exact "$1"
say digest "$(sum <"$f")"
end ok
