# Reads a whole file: PATH, the most bytes.
exact "$1"
facts "$f"
[ "$(stat -L -c %s "$f")" -le "$2" ] || end large
printf 'data '
head -c $(($2 + 1)) <"$f" | enc
echo
end ok
