"""How the libraries in a grader calculate, the same on every machine, and how they keep memory."""

from __future__ import annotations

# NumPy picks code for the processor it finds. Its AVX-512 logarithm differs from the common one in
# last bits, so a grade would depend on the machine; and its AVX-512 sort is slow on some of them.
# Names that the processor or the platform does not have are passed over.
COMMON_CODE = {"NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512_ICL AVX512_SPR"}

# One thread for each library: a grader is one process of many, and sums keep their order.
ONE_THREAD = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "NUMEXPR_NUM_THREADS": "1",
    "JOBLIB_MULTIPROCESSING": "0",
}

# The same score each time, whatever a metric.py iterates over.
FIXED_HASHES = {"PYTHONHASHSEED": "0"}

NUMERICS = COMMON_CODE | ONE_THREAD | FIXED_HASHES

# Arrow's own allocator keeps what was freed, twice a grading's need, and is no quicker. An arena
# for each thread would keep as much. Large pages, where the system has them, save a part of the
# time that fresh memory costs.
MEMORY = {
    "ARROW_DEFAULT_MEMORY_POOL": "system",
    "MALLOC_ARENA_MAX": "2",
    "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1",
}

LIBRARIES = NUMERICS | MEMORY
