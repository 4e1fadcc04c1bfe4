"""Families of lists: ranked items, sets of labels, orders and sequences."""

from __future__ import annotations

import bisect

import numpy as np
from rapidfuzz.distance import Levenshtein
from sklearn.metrics import accuracy_score, f1_score
from sklearn.preprocessing import MultiLabelBinarizer

from benchmarks.families.family import Data, Family, aligned, hexes, joined, words

CUSTOMERS = 75_000  # of those listed, so many bought something in the weeks of the test


def baskets(rng, rows):
    customers = hexes(rng, rows, 64)
    articles = rng.integers(100_000_000, 960_000_000, 30_000)
    buying = min(CUSTOMERS, rows)
    bought = rng.integers(1, 8, buying)
    truth = articles[rng.integers(0, len(articles), bought.sum())]
    buyers = np.sort(rng.choice(rows, buying, replace=False))
    # Twelve of the 600 most popular each, and for buyers now and then what they bought.
    ranked = articles[rng.integers(0, 600, (rows, 12))]
    ranked[buyers, 0] = truth[np.cumsum(bought) - 1]
    return Data(
        {"customer_id": [customers[n] for n in buyers], "prediction": joined(truth, bought)},
        {"customer_id": customers, "prediction": joined(ranked.ravel(), np.full(rows, 12))},
    )


def baskets_score(answers, submission):
    submission = submission[submission["customer_id"].isin(answers["customer_id"])]
    answers, submission = aligned(answers, submission, "customer_id")
    bought = [set(text.split(" ")) for text in answers["prediction"]]
    ranked = [text.split(" ") for text in submission["prediction"].astype(str)]
    return mean_precision(bought, ranked, 12)


def mean_precision(relevant, ranked, most):
    total = 0.0
    for true, items in zip(relevant, ranked, strict=True):
        hits, score, seen = 0, 0.0, set()
        for place, item in enumerate(items[:most], start=1):
            if item in true and item not in seen:
                hits += 1
                score += hits / place
            seen.add(item)
        total += score / min(len(true), most)
    return total / len(relevant)


def hotels(rng, rows):
    ids = [f"{name}.jpg" for name in hexes(rng, rows, 16)]
    truth = rng.integers(0, 64_000, rows)
    ranked = rng.integers(0, 64_000, (rows, 5))
    right = np.flatnonzero(rng.random(rows) < 0.6)
    ranked[right, rng.integers(0, 5, len(right))] = truth[right]
    return Data(
        {"image": ids, "chain": truth % 90, "hotel_id": truth, "timestamp": ids},
        {"image": ids, "hotel_id": joined(ranked.ravel(), np.full(rows, 5))},
    )


def hotels_score(answers, submission):
    answers, submission = aligned(answers, submission, "image")
    truth = [{str(hotel)} for hotel in answers["hotel_id"]]
    return mean_precision(truth, [t.split(" ") for t in submission["hotel_id"].astype(str)], 5)


def species(rng, rows):
    ids = np.arange(265_213, 265_213 + rows)
    truth = rng.integers(0, 1010, rows)
    ranked = rng.integers(0, 1010, (rows, 3))
    ranked[:, 0] = np.where(rng.random(rows) < 0.7, truth, ranked[:, 0])
    guess = joined(ranked.ravel(), np.full(rows, 3))
    return Data({"id": ids, "predicted": truth}, {"id": ids, "predicted": guess})


def species_score(answers, submission):
    answers, submission = aligned(answers, submission, "id")
    truth = [int(label) for label in answers["predicted"]]
    return 1 - accuracy_score(truth, [int(t.split()[0]) for t in submission["predicted"]])


def tags(rng, rows):
    vocabulary = np.array(words(rng, 40_000), dtype=object)
    counts = rng.integers(1, 6, rows)
    places = (rng.pareto(1.0, counts.sum()) * 20).astype(int) % len(vocabulary)
    known = np.unique(places)
    guess = np.where(rng.random(len(places)) < 0.6, places, rng.choice(known, len(places)))
    ids = np.arange(1, rows + 1)
    body = " ".join(words(rng, 50))
    return Data(
        {
            "Id": ids,
            "Title": [f"question {n}" for n in ids],
            "Body": [f"{n} {body}" for n in ids],
            "Tags": joined(vocabulary[places], counts),
        },
        {"Id": ids, "Tags": joined(vocabulary[guess], counts)},
    )


def tags_score(answers, submission):
    answers, submission = aligned(answers, submission, "Id")
    return pooled_f1(answers["Tags"], submission["Tags"])


def pooled_f1(answers, submission):
    truth = [text.split() for text in answers]
    guess = [text.split() for text in submission.fillna("")]
    known = sorted({label for labels in truth for label in labels})
    binarizer = MultiLabelBinarizer(classes=known, sparse_output=True).fit(truth)
    return f1_score(binarizer.transform(truth), binarizer.transform(guess), average="micro")


def artworks(rng, rows):
    ids = hexes(rng, rows, 32)
    counts = rng.integers(1, 7, rows)
    places = rng.integers(0, 3474, counts.sum())
    guess = np.where(rng.random(len(places)) < 0.6, places, rng.choice(places, len(places)))
    return Data(
        {"id": ids, "attribute_ids": joined(places, counts)},
        {"id": ids, "attribute_ids": joined(guess, counts)},
    )


def artworks_score(answers, submission):
    answers, submission = aligned(answers, submission, "id")
    return pooled_f1(*(side["attribute_ids"].astype(str) for side in (answers, submission)))


def notebooks(rng, rows):
    ids = hexes(rng, rows, 14)
    counts = rng.integers(2, 90, rows)
    cells = np.array(hexes(rng, int(counts.sum()), 8), dtype=object)
    # Each cell is moved by some places within its notebook.
    row = np.repeat(np.arange(rows), counts)
    place = np.arange(len(row)) + rng.normal(0, 4, len(row))
    moved = cells[np.lexsort((place, row))]
    return Data(
        {"id": ids, "cell_order": joined(cells, counts)},
        {"id": ids, "cell_order": joined(moved, counts)},
    )


def notebooks_score(answers, submission):
    answers, submission = aligned(answers, submission, "id")
    swaps = most = 0
    for true, guess in zip(answers["cell_order"], submission["cell_order"], strict=True):
        order = true.split()
        ranks = [order.index(cell) for cell in guess.split()]
        before: list[int] = []
        for count, rank in enumerate(ranks):
            place = bisect.bisect_left(before, rank)
            swaps += count - place
            before.insert(place, rank)
        most += len(order) * (len(order) - 1)
    return 1 - 4 * swaps / most


def gestures(rng, rows):
    ids = [f"{n:04d}" for n in range(rows)]
    counts = rng.integers(8, 21, rows)
    truth = rng.integers(1, 21, counts.sum())
    guess = np.where(rng.random(len(truth)) < 0.8, truth, rng.integers(1, 21, len(truth)))
    return Data(
        {"Id": ids, "Sequence": joined(truth, counts)},
        {"Id": ids, "Sequence": joined(guess, counts)},
    )


def gestures_score(answers, submission):
    answers, submission = aligned(answers, submission, "Id")
    errors = items = 0
    for true, guess in zip(answers["Sequence"], submission["Sequence"], strict=True):
        expected = [int(token) for token in true.split()]
        errors += Levenshtein.distance(expected, [int(token) for token in guess.split()])
        items += len(expected)
    return errors / items


FAMILIES = (
    Family(
        "h-and-m-personalized-fashion-recommendations", 1_371_980, "estimate",
        baskets, baskets_score,
    ),
    Family("hotel-id-2021-fgvc8", 9_750, "estimate", hotels, hotels_score),
    Family("inaturalist-2019-fgvc6", 26_500, "assumed", species, species_score),
    Family("facebook-recruiting-iii-keyword-extraction", 603_420, "estimate", tags, tags_score),
    Family("imet-2020-fgvc7", 21_318, "exact", artworks, artworks_score),
    Family("AI4Code", 20_000, "exact", notebooks, notebooks_score),
    Family("multi-modal-gesture-recognition", 60, "assumed", gestures, gestures_score),
)  # fmt: skip
