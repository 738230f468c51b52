# Replaces a file: PATH, its digest or `none`, the digest of the new content, the length of the input.
directory "$1" 6
o=$d/${1##*/}
find "$d/." -maxdepth 1 -name '.hermes-*.tmp' -type f -mmin +60 -exec rm -f {} \;
t=$d/.hermes-$$$RANDOM$RANDOM.tmp
if [ "$2" = none ]; then
  free "$o"
else
  unchanged "$o" "$2"
  umask 077
fi
set -C
why=$( { : >"$t"; } 2>&1) || failed "$why"
set +C
trap 'rm -f "$t"' EXIT
trap 'exit 1' HUP INT TERM
why=$(head -c "$4" | dec | dd of="$t" bs=65536 conv=fsync,notrunc 2>&1)
if [ "$(sum <"$t")" != "$3" ]; then
  alive
  failed "$(printf '%s\n' "$why" | grep '^dd: .*: ' || echo 'the content did not arrive whole')"
fi
if [ "$2" = none ]; then
  alive
  ln "$t" "$o" || { free "$o"; mv -n "$t" "$o"; }
else
  chmod "$(stat -c %a "$o")" "$t"
  unchanged "$o" "$2"
  alive
  why=$(mv -f "$t" "$o" 2>&1) || failed "$why"
fi
[ "$(sum <"$o")" = "$3" ] || end raced
facts "$o"
end ok
