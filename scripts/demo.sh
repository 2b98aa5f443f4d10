#!/usr/bin/env bash
# From nothing to a finished report: a Delta table on the embedded server at
# three rates, its raw log, the summary, one HTML file and a static site.
set -euo pipefail
cd "$(dirname "$0")/.."
bin=$PWD/bin
mkdir -p demo
cd demo
"$bin/bench" sweep --queue delta --rates 1000,10000,30000 --duration 20s --commit-interval 100ms --message-size 100 | tee bench.txt
run=$(tail -n 1 bench.txt)
echo
"$bin/analyze" summary "$run"
"$bin/analyze" report "$run" -o report.html >/dev/null
"$bin/analyze" site "$run" --out site >/dev/null
cat <<END

The report is demo/report.html: open it in a browser. The same run as a site:
   bin/analyze serve demo/site
END
