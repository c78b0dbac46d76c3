#!/bin/sh
# Makes an environment, .venv or the one named, and installs exactly what a lock file names:
# `sh packaging/setup.sh packaging/requirements.lock [build/bundle]`.
set -eu
cd "$(dirname "$0")/.."
lock=$1
place=${2:-.venv}

fits() { "$1" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] < (3, 14))' 2>/dev/null; }

python_that_fits() {
    for python in "${PYTHON:-python3.11}" python3.11 python3.12 python3.13 python3; do
        if fits "$python"; then echo "$python" && return; fi
    done
    echo "Python 3.11, 3.12 or 3.13 is needed. Install one, or name it: make run PYTHON=/path/to/python3.11" >&2
    return 1
}

# Debian and Ubuntu keep a part of Python's own `venv` in a package of its own.
make_environment() {
    "$1" -m venv "$place" >/dev/null 2>&1 && return
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        version=$("$1" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
        export DEBIAN_FRONTEND=noninteractive
        apt-get -qq update >&2 && apt-get -qq install -y --no-install-recommends "python$version-venv" >&2 </dev/null
        "$1" -m venv --clear "$place" && return
    fi
    echo "$1 cannot make an environment. On Debian and Ubuntu: sudo apt install python3-venv" >&2
    return 1
}

if ! fits "$place/bin/python"; then
    python=$(python_that_fits)
    echo "Setting up $place with $("$python" --version) …"
    rm -rf "$place"
    make_environment "$python"
fi
echo "Installing what $lock names …"
# In two halves beside each other, since pip unpacks with one processor; what is compiled is what is used.
awk -v place="$place" '/^[a-zA-Z]/ { half = !half } { print > (place "/half-" half + 0 ".lock") }' "$lock"
install_half() {
    "$place/bin/python" -m pip install -qq --disable-pip-version-check --no-input --no-compile --no-deps \
        --only-binary :all: --require-hashes -r "$place/half-$1.lock"
}
install_half 0 &
other=$!
install_half 1 || { kill "$other" 2>/dev/null || true; exit 1; }
wait "$other"
"$place/bin/python" -m compileall -q app
