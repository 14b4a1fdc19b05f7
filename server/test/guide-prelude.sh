# What stands around the commands of a guide when the tests run them: the reader's first terminal, and npm's slow start.

# The service, in the background. Running already with the same settings: it is left as it is.
npm() {
  if [ "$*" != start ]; then
    command npm "$@"
    return
  fi
  local settings
  settings=$(env | grep -E "^($GUIDE_SETTINGS)=" | sort)
  if [ -e "$GUIDE_ROOT/service.pid" ]; then
    if [ "$settings" = "$(cat "$GUIDE_ROOT/service.settings")" ]; then
      cat "$GUIDE_ROOT/service.out"
      return
    fi
    stop_service
  fi
  echo "$settings" >"$GUIDE_ROOT/service.settings"
  rm -f "$GUIDE_ROOT/service.ended"
  : >"$GUIDE_ROOT/service.out"
  # With a group of its own it outlives the guide; the test ends it.
  set -m
  serve_and_tell </dev/null >/dev/null 2>&1 &
  set +m
  until grep -q '^Hourbank is running' "$GUIDE_ROOT/service.out"; do
    if [ -e "$GUIDE_ROOT/service.ended" ]; then
      cat "$GUIDE_ROOT/service.err" >&2
      return 1
    fi
    sleep 0.05
  done
  cat "$GUIDE_ROOT/service.out"
}

# Tells its end by a file: whose child it is by then, and who takes note of its end, differs from machine to machine.
serve_and_tell() {
  node "$GUIDE_HOURBANK" serve >"$GUIDE_ROOT/service.out" 2>"$GUIDE_ROOT/service.err" &
  echo "$!" >"$GUIDE_ROOT/service.pid"
  wait "$!" || true
  rm "$GUIDE_ROOT/service.pid"
  touch "$GUIDE_ROOT/service.ended"
}

stop_service() {
  kill "$(cat "$GUIDE_ROOT/service.pid")"
  until [ -e "$GUIDE_ROOT/service.ended" ]; do sleep 0.05; done
}

# npx looks around for half a second before it runs what is linked in node_modules/.bin.
npx() {
  case $1 in
    hourbank) node "$GUIDE_HOURBANK" "${@:2}" ;;
    tsx) node --import "$GUIDE_TSX" "${@:2}" ;;
    *) command npx "$@" ;;
  esac
}
