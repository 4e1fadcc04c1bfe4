"""The vectors: for each competition small synthetic data in MLE-bench's layout, and submissions to
it with the score of MLE-bench's grader, and whether a careful grader accepts them.
"""

import json
import zipfile
from pathlib import Path

from app.domain.competition import parse_competition
from app.grading.check import read_ids
from app.grading.decode_answers import decode_answers
from app.grading.scorer import scorer_for
from app.importers.mle_bench import Sources, assemble

HERE = Path(__file__).parent
COMPETITIONS = HERE.parents[1] / "competitions"
SLUGS = sorted(file.stem for file in (HERE / "vectors").glob("*.zip"))

# Where MLE-bench's score is not ours: what is right, and why is in the competition's README.
RIGHT = {
    ("3d-object-detection-for-autonomous-vehicles", "trailing_blank"): 0.5658730158730159,
    ("billion-word-imputation", "word_na"): 4.233333333333333,
    ("billion-word-imputation", "all_digits"): 64.18333333333334,
    ("bms-molecular-translation", "all_numbers"): 68.01666666666667,
    ("bms-molecular-translation", "word_na"): 2.5833333333333335,
    ("chaii-hindi-and-tamil-question-answering", "all_numbers"): 0.031578947368421054,
    ("champs-scalar-coupling", "perfect"): -20.72326583694641,
    ("champs-scalar-coupling", "one_type_exact"): -4.098690669164165,
    ("facebook-recruiting-iii-keyword-extraction", "unknown_tags"): 0.6252158894645942,
    ("google-quest-challenge", "constant_column"): 0.7160565895595559,
    ("h-and-m-personalized-fashion-recommendations", "single_article_one_blank"): 0.568627450980392,
    ("hms-harmful-brain-activity-classification", "hard_integers"): 11.749203935096656,
    ("imet-2020-fgvc7", "single_tags"): 0.5154639175257731,
    ("imet-2020-fgvc7", "single_or_blank"): 0.43478260869565216,
    ("imet-2020-fgvc7", "attributes_unseen_in_answers"): 0.6448863636363636,
    ("tgs-salt-identification-challenge", "random"): 14 / 74,
    ("tgs-salt-identification-challenge", "blank_on_big"): 68 / 74,
    ("tgs-salt-identification-challenge", "all_blank"): 31 / 74,
    ("us-patent-phrase-to-phrase-matching", "sample"): 0.0,
}
# Cases that hold the predictions of another one, in another order or spelling.
SAME_AS_NOISY = {
    ("freesound-audio-tagging-2019", "classes_reordered"),
    ("h-and-m-personalized-fashion-recommendations", "leading_zero"),
    ("h-and-m-personalized-fashion-recommendations", "double_blanks"),
    ("hms-harmful-brain-activity-classification", "shuffled"),
    ("hotel-id-2021-fgvc8", "double_blanks"),
    ("jigsaw-toxic-comment-classification-challenge", "label_columns_reversed"),
    ("jigsaw-toxic-comment-classification-challenge", "extra_column"),
    ("nomad2018-predict-transparent-conductors", "shuffled"),
    ("nomad2018-predict-transparent-conductors", "reversed_rows"),
    ("smartphone-decimeter-2022", "shuffled"),
    ("spooky-author-identification", "columns_reversed"),
    ("stanford-covid-vaccine", "shuffled"),
    ("stanford-covid-vaccine", "sorted_by_id_text"),
    ("uw-madison-gi-tract-image-segmentation", "shuffled"),
    ("uw-madison-gi-tract-image-segmentation", "sorted_by_id"),
    ("uw-madison-gi-tract-image-segmentation", "shuffled_inside_cases"),
}


class Vectors:
    """One competition, imported as `podium import mle-bench` does it, and its cases."""

    def __init__(self, slug, scratch):
        with zipfile.ZipFile(HERE / "vectors" / f"{slug}.zip") as archive:
            archive.extractall(scratch / "data" / slug)
        self.slug, self.data = slug, scratch / "data"
        sources = Sources(self.data)
        self.folder = assemble(COMPETITIONS / slug, sources, scratch / "assembled").folder
        text = (self.folder / "competition.toml").read_text(encoding="utf-8")
        self.competition = parse_competition(slug, text)
        own = self.folder / "metric.py"
        source = own.read_text(encoding="utf-8") if own.is_file() else None
        self.scorer = scorer_for(self.competition, source)
        sample = (self.folder / "public" / "sample_submission.csv").read_bytes()
        self.ids = read_ids(sample, self.competition.submission)
        answers = (self.folder / "private" / self.competition.answers.file).read_bytes()
        self.answers = decode_answers(
            answers, self.competition, self.ids, frames=self.scorer.takes_frames
        )
        self.cases = json.loads((self.data / slug / "cases.json").read_text(encoding="utf-8"))

    def read(self, case):
        return (self.data / self.slug / case["file"]).read_bytes()

    def expected(self, case):
        """The right score, or None for whatever a case without its harmless oddity scores."""
        key = (self.slug, case["kind"])
        if key in RIGHT:
            return RIGHT[key]
        if key in SAME_AS_NOISY:
            return next(c["reference"] for c in self.cases if c["kind"] == "noisy")
        return case["reference"]
