# Functions of all scripts. A reply is lines of a key and a value; texts of the place are encoded.
export LC_ALL=C TZ=UTC0
if command -v base64 >/dev/null; then
  coder=base64
  enc() { printf b; base64 | tr -d '\n'; }
  dec() { base64 -d; }
else
  coder=escapes
  enc() { printf x; od -An -v -tx1 | tr -d ' \n'; }
  dec() { while IFS= read -r l; do printf '%b' "$l"; done; }
fi
say() { printf '%s %s\n' "$1" "$2"; }
tell() { printf '%s ' "$1"; printf '%s' "$2" | enc; echo; }
end() { say end "$1"; exit 0; }
# Ends with the last part of an error message.
failed() { tell why "${1##*: }"; end failed; }
sum() { if command -v sha256sum >/dev/null; then sha256sum; else shasum -a 256; fi | cut -c 1-64; }
facts() { say stat "$(stat -L -c '%s|%i|%d|%F|%y' "$1")"; }
# Sets `at` to the path behind a link; names may end with a newline.
leads() { at=$(readlink "$1"; printf .); at=${at%??}; }
# Opens the regular file with this real path as fd 5. What is open is checked, not what the path said before.
exact() {
  if [ ! -e "$1" ] && [ ! -L "$1" ]; then
    e=${1%/*}
    until [ -e "${e:-/}" ]; do e=${e%/*}; done
    [ -d "${e:-/}" ] || failed 'Not a directory'
    end missing
  fi
  [ -f "$1" ] || { facts "$1"; end kind; }
  why=$( { : <"$1"; } 2>&1) || failed "$why"
  exec 5<"$1" || failed 'it cannot be opened'
  f=/proc/$$/fd/5
  leads "$f"
  [ "$at" = "$1" ] || end moved
  [ -f "$f" ] || end moved
}
# Opens the directory above a real path as fd $2, creating what is missing of it; sets `d` to a path through it.
directory() {
  d=${1%/*} e=${1%/*}
  until [ -e "${e:-/}" ]; do e=${e%/*}; done
  leads_to=$(cd "${e:-/}" && pwd -P; printf .)
  [ "${leads_to%??}" = "${e:-/}" ] || end moved
  why=$(mkdir -p "${d:-/}" 2>&1) || failed "$why"
  eval "exec $2<\"\${d:-/}\"" || failed 'the directory cannot be opened'
  leads "/proc/$$/fd/$2"
  [ "$at" = "${d:-/}" ] || end moved
  d=/proc/$$/fd/$2
}
# Ends if the file is not the one with this digest.
unchanged() {
  [ ! -L "$1" ] && [ -f "$1" ] || end changed
  [ "$(sum <"$1")" = "$2" ] || end changed
}
free() { [ ! -e "$1" ] && [ ! -L "$1" ] || end exists; }
# Nothing is changed any more when the connection is gone: then the input is at its end.
alive() { if read -r -t 0; then end lost; fi; }
