# Reads lines of a text: PATH, the first line, the number of lines, bytes of a line, bytes in all.
exact "$1"
facts "$f"
a=$(head -c 8192 <"$f" | wc -c) b=$(head -c 8192 <"$f" | tr -d '\000' | wc -c)
[ "$a" -eq "$b" ] || end binary
lines=$(wc -l <"$f")
[ "$(tail -c 1 <"$f" | tr -d '\n' | wc -c)" -eq 0 ] || lines=$((lines + 1))
say lines $((lines))
printf 'data '
tail -n "+$2" <"$f" | head -n "$3" | head -c 67108864 | cut -b "1-$4" | head -c "$5" | enc
echo
end ok
