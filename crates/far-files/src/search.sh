# Searches in files or for files: the root, `names`, `lines` or `counts`, the pattern for rg, the pattern for grep,
# `i` to ignore case or `-` for no such pattern, lines of context, a glob for rg, a pattern of paths for find, bytes of output.
# Paths are printed from the root, or from the directory of a root that is a file.
root=$1 what=$2 expression=$3 extended=$4 context=$6 glob=$7 paths=$8 most=$9
limit() { if command -v timeout >/dev/null; then timeout 50 "$@"; else "$@"; fi; }
late() { [ "$SECONDS" -ge 50 ]; }
newline='
'
rg() {
  [ -z "$glob" ] || set -- -g "$glob" "$@"
  limit "$program" --no-config --no-messages --color never "$@"
}
if [ -d "$root" ]; then
  base=$root top=.
  say base root
else
  base=${root%/*}/ top=./${root##*/}
  base=${base%/}
fi
cd "${base:-/}" || end missing
at=$(pwd -P; printf .)
[ "${at%??}" = "${base:-/}" ] || end moved
# All files that are searched without rg: hidden ones and names with a newline are left out.
files() {
  if [ "$top" != . ]; then
    printf '%s\0' "$top"
  else
    limit find . -mindepth 1 \( -name '.*' -prune \) -o \
      \( -type f -path "$paths" ! -path "*$newline*" -print0 \)
  fi
}
# A file that says what to ignore, which only rg obeys.
has_ignored() {
  a=$base
  while :; do
    for n in .gitignore .ignore .rgignore; do [ ! -e "$a/$n" ] || return 0; done
    [ -n "$a" ] || break
    a=${a%/*}
  done
  [ "$top" = . ] && [ -n "$(find . -maxdepth 4 \( -name .gitignore -o -name .ignore -o -name .rgignore \) -print | head -n 1)" ]
}
is_text() { [ "$(head -c 65536 <"$1" | tr -dc '\000' | head -c 1 | wc -c)" -eq 0 ]; }
ere() { LC_ALL=C.UTF-8 grep -aE ${ignore:+-i} "$@" -e "$extended"; }
matches() { if [ "$what" = counts ]; then ere -c <"$1"; else ere -n -C "$context" <"$1" | cut -b 1-2120; fi; }
greps() {
  if [ "$top" != . ]; then
    echo F
    if is_text "$top"; then matches "$top"; fi
    return
  fi
  files | limit xargs -0 -r env LC_ALL=C.UTF-8 grep -lE ${ignore:+-i} -e "$extended" | sort | while IFS= read -r p; do
    late && break
    { [ -f "$p" ] && is_text "$p"; } || continue
    printf 'F%s\n' "$p"
    matches "$p"
  done
}
searched() {
  case $what-$program in
    names-?*) rg --files -0 -- "$top" | limit xargs -0 -r stat -c '%y|%n' ;;
    names-) files | limit xargs -0 -r stat -c '%y|%n' ;;
    counts-?*) rg -0 -H -c -e "$expression" -- "$top" ;;
    lines-?*)
      rg -0 -H -n --no-heading --sort path -M 2100 --max-columns-preview -C "$context" -e "$expression" -- "$top"
      ;;
    *) greps ;;
  esac
}
# The program, not the function.
program=$(type -P rg)
ignore=${5#-}
if [ -z "$program" ] && [ "$what" != names ]; then
  [ "$5" != - ] || end pattern
  printf '' | env LC_ALL=C.UTF-8 grep -E -e "$extended" >/dev/null
  [ $? -le 1 ] || end pattern
fi
say program "${program:+rg}"
[ -n "$program" ] || ! has_ignored || say ignored yes
printf 'data '
searched | head -c "$most" | enc
echo
late && say over yes
end ok
