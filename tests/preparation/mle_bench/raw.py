"""The raw data of all competitions whose prepare.py is compared with MLE-bench's."""

from __future__ import annotations

from tests.preparation.mle_bench.raw_data import RAW_TABLES
from tests.preparation.mle_bench.raw_files_of_ids import RAW_FILES
from tests.preparation.mle_bench.raw_of_annotations import RAW_ANNOTATIONS
from tests.preparation.mle_bench.raw_of_archives import RAW_ARCHIVES
from tests.preparation.mle_bench.raw_of_groups import RAW_GROUPS
from tests.preparation.mle_bench.raw_of_scans import RAW_SCANS

RAW_DATA = RAW_TABLES | RAW_FILES | RAW_GROUPS | RAW_ANNOTATIONS | RAW_SCANS | RAW_ARCHIVES
