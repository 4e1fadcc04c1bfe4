#!/usr/bin/env bash
# The commands of an agent in its container. It uses Kaggle's command line and no address of Podium.
set -euo pipefail
: "${COMPETITION:?the competition to enter}"

echo "== which competitions are there?"
kaggle competitions list
echo "== what is the task, and what are the rules?"
kaggle competitions pages -c "$COMPETITION" --content --page-name description
kaggle competitions pages -c "$COMPETITION" --content --page-name rules
echo "== the files"
kaggle competitions files "$COMPETITION"
kaggle competitions download "$COMPETITION" --quiet -p data
python -m zipfile -e "data/$COMPETITION.zip" data
echo "== a broken file is refused, and the answer says why"
printf 'datetime,count\n2011-01-15 00:00:00,many\n' > broken.csv
kaggle competitions submit "$COMPETITION" -f broken.csv -m "a hurried one" || true
echo "== train, predict, submit"
python "$(dirname "${BASH_SOURCE[0]}")/train.py" data submission.csv
kaggle competitions submit "$COMPETITION" -f submission.csv -m "boosted trees"
kaggle competitions submissions "$COMPETITION"
