#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 Tessera authors
# SPDX-License-Identifier: Apache-2.0
#
# Runs an MPI launcher, given with its arguments, and ends it 3 s after its ranks have ended. Where ranks leave without
# MPI_Finalize, that of Open MPI 4.1 sometimes crashes, or waits forever beside ranks that have ended. Exit status 0: only what the
# ranks write is judged, and a rank that does not end keeps the launcher.
"$@" &
launcher=$!
looks=0
while kill -0 "$launcher" 2>/dev/null; do
  sleep 0.5
  ranks=$(ps -o stat= --ppid "$launcher")
  looks=$((looks + 1))
  if [ -z "$ranks" ] || grep -qv '^Z' <<<"$ranks"; then looks=0; fi
  if [ "$looks" -ge 6 ]; then kill -KILL "$launcher"; fi
done
exit 0
