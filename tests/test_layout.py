"""How the package is laid out."""

from pathlib import Path

APP = Path(__file__).parents[1] / "app"


def test_no_folder_has_more_than_20_modules():
    counts = {
        str(folder.relative_to(APP)): len(
            [file for file in folder.glob("*.py") if file.name != "__init__.py"]
        )
        for folder in [APP, *APP.rglob("*")]
        if folder.is_dir()
    }

    assert sum(counts.values()) > 300
    assert {name: count for name, count in counts.items() if count > 20} == {}
