"""Environment variables of a grader: the same computation everywhere, and little memory."""

from __future__ import annotations

# NumPy selects code by the processor. Its AVX-512 logarithm differs from the common one in the last
# bits, so a grade would depend on the machine; and its AVX-512 sort is slow on some machines.
# NumPy ignores names that the processor or the platform does not have.
COMMON_CODE = {"NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512_ICL AVX512_SPR"}

# One thread for each library: a grader is one process of many, and sums keep their order.
ONE_THREAD = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "NUMEXPR_NUM_THREADS": "1",
    "JOBLIB_MULTIPROCESSING": "0",
}

# The same score each time, even if a metric.py iterates over a set.
FIXED_HASHES = {"PYTHONHASHSEED": "0"}

NUMERICS = COMMON_CODE | ONE_THREAD | FIXED_HASHES

# Arrow's own allocator keeps freed memory, twice as much as a grading needs, and is no faster. An
# arena for each thread would keep as much. Large pages, where the system has them, make new memory
# faster.
MEMORY = {
    "ARROW_DEFAULT_MEMORY_POOL": "system",
    "MALLOC_ARENA_MAX": "2",
    "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1",
}

LIBRARIES = NUMERICS | MEMORY
