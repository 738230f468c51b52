# Looks at a path: PATH, and `near` for the names beside a missing file.
real() {
  q=$1 rest= n=0
  while :; do
    if [ -e "$q" ]; then
      at=$(readlink -f "$q"; printf .)
      at=${at%??}
      [ "$at" = / ] && [ -n "$rest" ] && at=
      at=$at$rest
      return
    elif [ -L "$q" ] && [ $((n += 1)) -le 40 ]; then
      leads "$q"
      case $at in /*) q=$at ;; *) q=${q%/*}/$at ;; esac
    else
      rest=/${q##*/}$rest
      q=${q%/*}
      [ -n "$q" ] || q=/
    fi
  done
}
say coder "$coder"
tell home "$(cd && pwd -P)"
[ -n "$1" ] || end ok
real "$1"
tell real "$at"
[ ! -d "${at%/*}/" ] || say parent yes
if [ -e "$at" ] || [ -L "$at" ]; then
  facts "$at"
elif [ "$2" = near ]; then
  printf 'near '
  (cd "${at%/*}/" && find . -maxdepth 1 -print0 | head -c 100000) | enc
  echo
fi
end ok
