#!/bin/sh
# Chooses the versions of all dependencies again, none younger than a week: a hijacked release is found in that time.
set -eu
cd "$(dirname "$0")/.."
uv=build/lock/bin/uv
week_ago=$(python3 -c 'from datetime import date, timedelta; print(date.today() - timedelta(days=7))')

[ -x "$uv" ] || { python3 -m venv build/lock && build/lock/bin/pip install --quiet uv; }

resolve() {
    "$uv" pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header \
        --no-annotate --exclude-newer "$week_ago" pyproject.toml "$@"
}

resolve --upgrade -o packaging/requirements.lock
resolve --upgrade --extra dev -c packaging/requirements.lock -o packaging/requirements-dev.lock
resolve --upgrade --extra bundle -c packaging/requirements.lock -o packaging/requirements-bundle.lock
echo "Locked as of $week_ago. See what changed: git diff --stat packaging"
