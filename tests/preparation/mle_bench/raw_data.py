"""Small seeded raw data in the layout in which Kaggle gives it, for each prepare.py of a table.

Texts have quotes, commas, line breaks and letters of many scripts; cells are missing; decimal
numbers have as many digits as they need.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

WORDS = [
    "the", '"raven",', "नमस्ते;", "a\nline\tand", "Éclair", "—", "NA", "null", "007", "1.0", '""',
    "it's,", "over",
]  # fmt: skip
TARGETS = [
    "question_asker_intent_understanding", "question_body_critical", "question_conversational",
    "question_expect_short_answer", "question_fact_seeking",
    "question_has_commonly_accepted_answer",
    "question_interestingness_others", "question_interestingness_self", "question_multi_intent",
    "question_not_really_a_question", "question_opinion_seeking", "question_type_choice",
    "question_type_compare", "question_type_consequence", "question_type_definition",
    "question_type_entity", "question_type_instructions", "question_type_procedure",
    "question_type_reason_explanation", "question_type_spelling", "question_well_written",
    "answer_helpful", "answer_level_of_information", "answer_plausible", "answer_relevance",
    "answer_satisfaction", "answer_type_instructions", "answer_type_procedure",
    "answer_type_reason_explanation", "answer_well_written",
]  # fmt: skip

# A table, since the last bit of a power by NumPy depends on the processor. Where the reference
# was made, 10.0 ** -5 is the number below 1e-5.
SIZES = np.array([float(f"1e{exponent}") for exponent in range(-8, 9)])
SIZES[3] = np.nextafter(1e-5, 0.0)


class Draw:
    """Columns of random cells, of one seed."""

    def __init__(self, rows: int, seed: int = 7) -> None:
        self.rows = rows
        self.random = np.random.RandomState(seed)

    def texts(self, missing: float = 0.0) -> list[str | None]:
        """Sentences of one to nine words; a share of them is missing."""
        made = [" ".join(self.random.choice(WORDS, self.random.randint(1, 10))) for _ in self.ids()]
        return [None if self.random.rand() < missing else text for text in made]

    def choice(self, *values: Any) -> list[Any]:
        """One of the values in each row."""
        return [values[place] for place in self.random.randint(0, len(values), self.rows)]

    def numbers(self, missing: float = 0.0) -> np.ndarray[Any, Any]:
        """Numbers with all their digits, some very small or large; a share of them is missing."""
        made = self.random.standard_normal(self.rows)
        made *= SIZES[self.random.randint(0, len(SIZES), self.rows)]
        return np.where(self.random.rand(self.rows) < missing, np.nan, made)

    def shares(self) -> np.ndarray[Any, Any]:
        """Numbers from 0 to 1 with three digits."""
        return self.random.rand(self.rows).round(3)

    def ids(self, prefix: str = "") -> list[Any]:
        """Numbers from 0 as they are, or behind a prefix as texts of five digits."""
        return [f"{prefix}{row:05d}" if prefix else row for row in range(self.rows)]

    def table(self, **columns: Any) -> pd.DataFrame:
        """A table of these columns."""
        return pd.DataFrame(columns)


def write_table(
    table: pd.DataFrame, folder: Path, name: str, archive: str = "", **options: Any
) -> None:
    """Write a table, or put it into a zip archive, as Kaggle does with some."""
    if not archive:
        table.to_csv(folder / name, index=False, **options)
        return
    with zipfile.ZipFile(folder / archive, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr(name, table.to_csv(index=False, **options))


def spaceship(folder: Path) -> None:
    """As Kaggle's train.csv: numbers and texts with missing cells, truth values."""
    draw = Draw(203)
    table = draw.table(
        PassengerId=draw.ids("00"), HomePlanet=draw.choice("Earth", "Mars", None),
        CryoSleep=draw.choice(True, False, None), Age=draw.numbers(0.1), Name=draw.texts(0.1),
        Transported=draw.choice(True, False),
    )  # fmt: skip
    write_table(table, folder, "train.csv")


def chaii(folder: Path) -> None:
    """Questions with context, and an answer with its position."""
    draw = Draw(97)
    table = draw.table(
        id=draw.ids("q"), context=draw.texts(), question=draw.texts(), answer_text=draw.texts(),
        answer_start=draw.random.randint(0, 9999, draw.rows),
        language=draw.choice("hindi", "tamil"),
    )  # fmt: skip
    write_table(table, folder, "train.csv")


def patents(folder: Path) -> None:
    """Pairs of phrases with a score."""
    draw = Draw(111)
    table = draw.table(
        id=draw.ids("a"), anchor=draw.texts(), target=draw.texts(),
        context=draw.choice("A47", "H01"), score=draw.choice(0.0, 0.25, 0.5, 0.75, 1.0),
    )  # fmt: skip
    write_table(table, folder, "train.csv")


def unintended_bias(folder: Path) -> None:
    """Comments with 43 columns of shares, a part of them missing, and Kaggle's own test set."""
    for name, rows in (("train.csv", 60), ("test_private_expanded.csv", 40)):
        draw = Draw(rows, seed=rows)
        groups = {f"group_{number}": draw.numbers(0.5) for number in range(42)}
        table = draw.table(
            id=draw.ids(), comment_text=draw.texts(), toxicity=draw.shares(), **groups
        )
        write_table(table, folder, name)


def enzymes(folder: Path) -> None:
    """31 numbers and six labels."""
    draw = Draw(150)
    numbers = {f"x{number}": draw.numbers() for number in range(31)}
    labels = {f"EC{number}": draw.choice(0, 1) for number in range(1, 7)}
    write_table(draw.table(id=draw.ids(), **numbers, **labels), folder, "train.csv")


def tweets(folder: Path) -> None:
    """Tweets, a few of them missing, with the text that carries the sentiment."""
    draw = Draw(120)
    table = draw.table(
        textID=draw.ids("t"), text=draw.texts(0.02), selected_text=draw.texts(0.02),
        sentiment=draw.choice("positive", "negative", "neutral"),
    )  # fmt: skip
    write_table(table, folder, "train.csv")


def covertypes(folder: Path) -> None:
    """Whole numbers and a class."""
    draw = Draw(140)
    table = draw.table(
        Id=draw.ids(), Elevation=draw.random.randint(0, 4000, 140), Cover_Type=draw.choice(1, 2, 3)
    )
    write_table(table, folder, "train.csv")


def tabular_may(folder: Path) -> None:
    """More than 100,000 rows, since that many become the test set."""
    draw = Draw(100_400)
    table = draw.table(
        id=draw.ids(), f_00=draw.random.rand(draw.rows), f_27=draw.choice("ABABD", "BA"),
        target=draw.choice(0, 1),
    )  # fmt: skip
    write_table(table, folder, "train.csv")


def spooky(folder: Path) -> None:
    """Sentences of three authors, in Kaggle's train.zip."""
    draw = Draw(130)
    table = draw.table(
        id=draw.ids("id"), text=draw.texts(), author=draw.choice("EAP", "HPL", "MWS")
    )
    write_table(table, folder, "train.csv", "train.zip")


def keywords(folder: Path) -> None:
    """Questions with tags, some of which look like numbers or like nothing."""
    draw = Draw(125)
    table = draw.table(
        Id=draw.ids(),
        Title=draw.texts(),
        Body=draw.texts(),
        Tags=draw.choice("c# java", "1.0", "007"),
    )
    write_table(table, folder, "Train.csv", "Train.zip")


def toxic(folder: Path) -> None:
    """Four tables, each alone in an archive; test labels of -1 were not scored."""
    labels = ["toxic", "severe_toxic", "obscene", "threat", "insult", "identity_hate"]
    train, test = Draw(80, seed=1), Draw(50, seed=2)
    table = train.table(
        id=train.ids("a"),
        comment_text=train.texts(),
        **{name: train.choice(0, 1) for name in labels},
    )
    write_table(table, folder, "train.csv", "train.csv.zip")
    shown = test.table(id=test.ids("b"), comment_text=test.texts())
    write_table(shown, folder, "test.csv", "test.csv.zip")
    truth = {name: test.choice(0, 1, -1) for name in labels}
    write_table(
        test.table(id=test.ids("b"), **truth), folder, "test_labels.csv", "test_labels.csv.zip"
    )
    sample = test.table(id=test.ids("b"), **dict.fromkeys(labels, 0.25))
    write_table(sample, folder, "sample_submission.csv", "sample_submission.csv.zip")


def taxi(folder: Path) -> None:
    """More than 9,914 rides, and a file of instructions."""
    draw = Draw(10_300)
    table = draw.table(
        key=[f"2012-01-01 00:00:{row}" for row in draw.ids()], fare_amount=draw.numbers(),
        pickup_datetime=draw.choice("2012-01-01 00:00:00 UTC", "2013-02-03 04:05:06 UTC"),
        pickup_longitude=draw.numbers(), pickup_latitude=draw.numbers(),
        dropoff_longitude=draw.numbers(0.01), dropoff_latitude=draw.numbers(0.01),
        passenger_count=draw.choice(1, 2, 6),
    )  # fmt: skip
    write_table(table, folder, "train.csv")
    (folder / "GCP-Coupons-Instructions.rtf").write_bytes(b"{\\rtf1 \xe9}\r\n")


def essays(folder: Path) -> None:
    """Essays with scores from 1 to 6."""
    draw = Draw(101)
    table = draw.table(
        essay_id=draw.ids("e"), full_text=draw.texts(), score=draw.choice(1, 2, 3, 6)
    )
    write_table(table, folder, "train.csv")


def chatbots(folder: Path) -> None:
    """Conversations with two models, and who won."""
    draw = Draw(115)
    table = draw.table(
        id=draw.ids(), model_a=draw.choice("a", "b"), model_b=draw.choice("c", "d"),
        prompt=draw.texts(), response_a=draw.texts(), response_b=draw.texts(),
        winner_model_a=draw.choice(0, 1), winner_model_b=draw.choice(0, 1),
        winner_tie=draw.choice(0, 1),
    )  # fmt: skip
    write_table(table, folder, "train.csv")


def reviews(folder: Path) -> None:
    """Phrases of sentences, in a table of tabs."""
    draw = Draw(160)
    phrases = [text.replace("\t", " ") if text else text for text in draw.texts(0.02)]
    table = draw.table(
        PhraseId=draw.ids(), SentenceId=[row // 4 for row in draw.ids()], Phrase=phrases,
        Sentiment=draw.choice(0, 1, 2, 3, 4),
    )  # fmt: skip
    write_table(table, folder, "train.tsv", "train.tsv.zip", sep="\t")


def insults(folder: Path) -> None:
    """Comments, some without a date, and Kaggle's own test set with labels."""
    for name, rows in (("train.csv", 70), ("test_with_solutions.csv", 45)):
        draw = Draw(rows, seed=rows)
        comments = [f"{text} {name}{row}" for row, text in enumerate(draw.texts())]
        table = draw.table(
            Insult=draw.choice(0, 1), Date=draw.choice("20120618192155Z", None), Comment=comments
        )
        if rows == 45:
            table["Usage"] = draw.choice("PublicTest", "PrivateTest")
        write_table(table, folder, name)


def breaths(folder: Path) -> None:
    """Breaths of 80 time steps, numbered with gaps and out of order."""
    draw = Draw(80 * 30)
    numbers = np.repeat(draw.random.permutation(90)[:30] + 1, 80)
    table = draw.table(
        id=np.arange(1, draw.rows + 1), breath_id=numbers, R=draw.choice(5, 20, 50),
        C=draw.choice(10, 20, 50), time_step=draw.random.rand(draw.rows) * 3, u_in=draw.numbers(),
        u_out=draw.choice(0, 1), pressure=draw.random.rand(draw.rows) * 60,
    )  # fmt: skip
    write_table(table, folder, "train.csv")


def google_quest(folder: Path, *, spelling: tuple[int, ...] = (105,)) -> None:
    """Questions and answers with 30 targets; only the rows `spelling` are about spelling."""
    draw = Draw(108)
    texts = (
        "question_title", "question_body", "question_user_name", "question_user_page", "answer",
        "answer_user_name", "answer_user_page", "url", "category", "host",
    )  # fmt: skip
    targets = {name: draw.shares() for name in TARGETS}
    targets["question_type_spelling"] = np.isin(np.arange(draw.rows), spelling) * 0.5
    columns = {name: draw.texts() for name in texts}
    write_table(draw.table(qa_id=draw.ids(), **columns, **targets), folder, "train.csv")


def normalization(folder: Path, language: str) -> None:
    """Tokens of sentences; those of a sentence follow each other."""
    draw = Draw(400)
    table = draw.table(
        sentence_id=np.sort(draw.random.randint(0, 70, draw.rows)), token_id=draw.ids(),
        before=draw.texts(0.01), after=draw.texts(0.01),
    )  # fmt: skip
    table.insert(2, "class", draw.choice("PLAIN", "DATE"))
    write_table(table, folder, f"{language}_train.csv", f"{language}_train.csv.zip")
    for name in ("test_2", "sample_submission_2"):
        part = table[["sentence_id", "token_id", "before"]].head(3)
        write_table(part, folder, f"{language}_{name}.csv", f"{language}_{name}.csv.zip")


def pizza(folder: Path) -> None:
    """Requests as JSON; those of Kaggle's test set have fewer keys."""
    draw = Draw(60)
    texts, ages = draw.texts(), draw.numbers()
    requests = [
        {"request_id": f"t3_{row}", "request_text": texts[row], "age": ages[row],
         "flair": None, "requester_received_pizza": bool(row % 3)}
        for row in draw.ids()
    ]  # fmt: skip
    shown = [{"request_id": f"t4_{row}", "request_text": "é", "age": 1.0} for row in range(20)]
    (folder / "train.json").write_text(json.dumps(requests), encoding="utf-8")
    (folder / "test.json").write_text(json.dumps(shown), encoding="utf-8")


RAW_TABLES: dict[str, Callable[[Path], None]] = {
    "spaceship-titanic": spaceship,
    "chaii-hindi-and-tamil-question-answering": chaii,
    "us-patent-phrase-to-phrase-matching": patents,
    "jigsaw-unintended-bias-in-toxicity-classification": unintended_bias,
    "playground-series-s3e18": enzymes,
    "tweet-sentiment-extraction": tweets,
    "tabular-playground-series-dec-2021": covertypes,
    "tabular-playground-series-may-2022": tabular_may,
    "spooky-author-identification": spooky,
    "facebook-recruiting-iii-keyword-extraction": keywords,
    "jigsaw-toxic-comment-classification-challenge": toxic,
    "new-york-city-taxi-fare-prediction": taxi,
    "learning-agency-lab-automated-essay-scoring-2": essays,
    "lmsys-chatbot-arena": chatbots,
    "movie-review-sentiment-analysis-kernels-only": reviews,
    "detecting-insults-in-social-commentary": insults,
    "ventilator-pressure-prediction": breaths,
    "google-quest-challenge": google_quest,
    "text-normalization-challenge-english-language": lambda folder: normalization(folder, "en"),
    "text-normalization-challenge-russian-language": lambda folder: normalization(folder, "ru"),
    "random-acts-of-pizza": pizza,
}
