# Sourced by run, test and bench, which set `root`: creates and updates the virtual environment.
# Messages go to stderr. If nothing has to be done, this takes two short processes.

set -euo pipefail
unset CDPATH BASH_ENV ENV VIRTUAL_ENV
unset PYTHONHOME PYTHONPATH PYTHONSAFEPATH PYTHONSTARTUP PYTHONPLATLIBDIR PYTHONINSPECT
unset PIP_TARGET PIP_PREFIX PIP_ROOT PIP_CONSTRAINT PIP_REQUIRE_VIRTUALENV PIP_REQUIRE_HASHES
unset UV_SYSTEM_PYTHON UV_PYTHON UV_PROJECT_ENVIRONMENT UV_REQUIRE_HASHES UV_CONSTRAINT
unset UV_OVERRIDE UV_EXCLUDE_NEWER UV_NO_BUILD_ISOLATION UV_TARGET
export PATH PIP_USER=0 PIP_DISABLE_PIP_VERSION_CHECK=1 PYTHONNOUSERSITE=1

say() { printf 'grandstand: %s\n' "$*" >&2; }
stop() {
  say "$*"
  exit 1
}

# Succeeds if a folder is writable, or can be created.
usable() {
  local folder=$1
  while [ ! -e "$folder" ]; do folder=$(dirname -- "$folder"); done
  [ -d "$folder" ] && [ -w "$folder" ] && [ -x "$folder" ]
}

# Sets `state` (caches, logs, downloads) and makes sure that HOME is writable.
choose_state() {
  local key base
  state=$root/.state
  if ! usable "$state"; then
    key=$(printf '%s' "$root" | sha256sum)
    for base in "${XDG_CACHE_HOME:-}" "${HOME:+$HOME/.cache}" "${TMPDIR:-/tmp}/cache-$(id -u)"; do
      state=$base/grandstand/${key:0:12}
      if [ "${base:0:1}" = / ] && usable "$state" && mkdir -p -m 700 -- "$state" && [ -O "$state" ]; then
        break
      fi
      state=
    done
    [ -n "$state" ] || stop "no writable folder: make $root writable, or set XDG_CACHE_HOME"
  fi
  mkdir -p -- "$state"
  if [ ! -d "${HOME:-}" ] || [ ! -w "${HOME:-}" ]; then
    export HOME=$state/home
    mkdir -p -- "$HOME"
  fi
  if [ -n "${XDG_CACHE_HOME:-}" ] && ! usable "$XDG_CACHE_HOME"; then unset XDG_CACHE_HOME; fi
  if ! usable "${UV_CACHE_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/uv}"; then export UV_CACHE_DIR=$state/uv; fi
}

# Identifies what the environment was created from: folder, interpreter and pins.
place_of() { printf '%s\n%s\n' "$root" "$(readlink -f -- "$venv/bin/python")"; }
stamp_of() {
  local sum
  sum=$(cat -- "$root/pyproject.toml" "$root/requirements/$1.txt" "$root/scripts/setup.sh" | sha256sum)
  printf '%s\n%s' "$(place_of)" "${sum%% *}"
}

starts() { "$venv/bin/python" -I -c "${1:-}" 2>/dev/null; }

fresh() {
  [ -x "$venv/bin/python" ] && [ -r "$venv/.stamp-$1" ] &&
    [ "$(cat -- "$venv/.stamp-$1")" = "$(stamp_of "$1")" ] && starts 'import grandstand'
}

# Succeeds if the environment was created here and its interpreter starts: its packages can be updated.
repairable() {
  local stamp
  for stamp in "$venv"/.stamp-*; do
    if [ -r "$stamp" ] && [ "$(head -n 2 -- "$stamp")" = "$(place_of)" ] && starts 'import encodings'; then
      return 0
    fi
  done
  return 1
}

find_python() {
  local name path
  for name in python3 python3.1{5,4,3,2,1} python; do
    while read -r path; do
      if python=$("$path" -I -c 'import sys; print(sys.executable); sys.exit(sys.version_info < (3, 11))' 2>/dev/null); then
        return 0
      fi
    done < <(type -aP "$name")
  done
  stop "no Python 3.11 or newer on PATH; install one: apt-get install python3.11 python3.11-venv"
}

find_uv() {
  local path
  for path in "$(type -P uv || true)" "$venv/bin/uv"; do
    if [ -n "$path" ] && "$path" --version >/dev/null 2>&1; then
      uv=$path
      return 0
    fi
  done
  return 1
}

# Runs a command and logs its output. After a failure the first warning, usually the cause, is shown.
logged() {
  say "$1"
  shift
  printf '\n$ %s\n' "$*" >"$log.last"
  local rc=0
  "$@" >>"$log.last" 2>&1 </dev/null || rc=$?
  cat -- "$log.last" >>"$log"
  return "$rc"
}
explain_failure() {
  { grep -i -m 1 -E 'warning|error|caused by' "$log.last" || true; } >&2
  { grep -v '^$' "$log.last" || true; } | tail -n 3 >&2
  stop "setup failed; the log is $log"
}

# Company certificates are in the system's bundle; a minimal machine has no bundle.
trust() {
  local bundle=${SSL_CERT_FILE:-/etc/ssl/certs/ca-certificates.crt}
  if [ "$1" = system ] && [ -s "$bundle" ]; then
    export UV_SYSTEM_CERTS=true PIP_CERT=${PIP_CERT:-$bundle}
  else
    unset UV_SYSTEM_CERTS PIP_CERT
  fi
}
fetching() {
  trust system
  logged "$@" && return 0
  trust bundled
  logged "$1 (again, with the tool's own certificates)" "${@:2}" || explain_failure
}

make_bare() {
  local version package
  if find_uv && [ "$uv" != "$venv/bin/uv" ]; then
    logged "creating $venv with uv" "$uv" venv --python "$python" "$venv"
    return
  fi
  version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
  package=python$version-venv
  if ! "$python" -I -c 'import venv; from ensurepip import version' 2>/dev/null && [ "$(id -u)" = 0 ] && type -P apt-get >/dev/null; then
    DEBIAN_FRONTEND=noninteractive logged "installing $package" \
      sh -c "apt-get update && apt-get install -y --no-install-recommends $package" || true
  fi
  if "$python" -I -c 'import venv; from ensurepip import version' 2>/dev/null; then
    logged "creating $venv" "$python" -m venv "$venv"
  elif "$python" -I -c 'import venv; from pip import __version__' 2>/dev/null; then
    logged "creating $venv without pip" "$python" -m venv --without-pip "$venv"
  else
    say "Python $version has no venv module; install it: apt-get install $package"
    return 2
  fi
}

# Moves the old environment aside and restores it if a new one cannot be created.
make_venv() {
  local aside=$venv.aside rc=0
  find_python
  rm -rf -- "$aside"
  if [ -e "$venv" ]; then mv -- "$venv" "$aside"; fi
  make_bare || rc=$?
  if [ "$rc" != 0 ]; then
    rm -rf -- "$venv"
    if [ -e "$aside" ]; then mv -- "$aside" "$venv"; fi
    if [ "$rc" = 2 ]; then exit 1; fi
    explain_failure
  fi
  rm -rf -- "$aside"
}

get_uv() {
  local pins=$root/requirements/uv.txt
  find_uv && return 0
  if starts 'import pip'; then
    fetching "downloading uv" "$venv/bin/python" -m pip install -q --require-hashes --no-deps -r "$pins"
  else
    fetching "downloading uv" "$python" -m pip --python "$venv/bin/python" install -q --require-hashes \
      --no-deps -r "$pins"
  fi
  find_uv || stop "uv was installed into $venv but does not start"
}

install() {
  local level=$1
  get_uv
  rm -f -- "$venv"/.stamp-*
  UV_COMPILE_BYTECODE=${UV_COMPILE_BYTECODE:-1} fetching "installing the packages of requirements/$level.txt" \
    "$uv" pip sync --python "$venv/bin/python" --require-hashes "$root/requirements/$level.txt"
  logged "installing grandstand" "$uv" pip install --python "$venv/bin/python" \
    --offline --no-deps --no-build-isolation --reinstall-package grandstand -e "$root" || explain_failure
  starts 'import grandstand' || stop "grandstand was installed into $venv but cannot be imported"
  stamp_of "$level" >"$venv/.stamp-new"
  mv -- "$venv/.stamp-new" "$venv/.stamp-$level"
}

choose_venv() {
  if usable "$venv"; then return 0; fi
  if [ -e "$venv" ]; then say "$venv is outdated and not writable; using $state/${venv##*/}"; fi
  venv=$state/${venv##*/}
}

# Succeeds if nothing has to be done. An environment with the test packages keeps them.
settled() {
  if [ "$level" = run ] && [ -e "$venv/.stamp-test" ]; then level=test; fi
  fresh "$level"
}

# ready LEVEL FOLDER: sets `venv` to an environment with requirements/LEVEL.txt and grandstand.
# test.txt includes run.txt, so `./run` can use an environment created for tests.
ready() {
  local level=$1 lock
  venv=$root/$2
  choose_state
  settled && return 0
  choose_venv
  settled && return 0
  log=$state/setup.log
  exec {lock}>"$state/setup.lock"
  flock -n "$lock" || { say "waiting for another setup to finish"; flock "$lock"; }
  if ! fresh "$level"; then
    : >"$log"
    repairable || make_venv
    install "$level"
    say "ready: $venv"
  fi
  exec {lock}>&-
}
