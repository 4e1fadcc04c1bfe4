"""The raw data of all competitions whose prepare.py is compared with MLE-bench's."""

from __future__ import annotations

from tests.preparation.mle_bench.raw_data import RAW_TABLES
from tests.preparation.mle_bench.raw_files_of_ids import RAW_FILES
from tests.preparation.mle_bench.raw_of_groups import RAW_GROUPS

RAW_DATA = RAW_TABLES | RAW_FILES | RAW_GROUPS
