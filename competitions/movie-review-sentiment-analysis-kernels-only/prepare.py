"""Three tenths of Kaggle's train.tsv are the test set, drawn as MLE-bench draws them."""

from pathlib import Path

from sklearn.model_selection import train_test_split

from app.preparation.prepared_files import write_csv, write_zipped_csv
from app.preparation.raw_files import RawFiles


def prepare_files(raw: RawFiles, public: Path, private: Path) -> None:
    """Split the phrases; phrases of a sentence may be on both sides."""
    phrases = raw.table("train.tsv", sep="\t")
    train, test = train_test_split(phrases, test_size=0.3, random_state=0)
    write_zipped_csv(train, public / "train.tsv.zip", "train.tsv", sep="\t")
    unlabelled = test.drop(columns="Sentiment")
    write_zipped_csv(unlabelled, public / "test.tsv.zip", "test.tsv", sep="\t")
    write_csv(test[["PhraseId"]].assign(Sentiment=2), public / "sampleSubmission.csv")
    write_csv(test, private / "answers.csv")
