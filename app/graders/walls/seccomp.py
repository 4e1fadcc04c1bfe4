"""A seccomp filter: it lists the system calls that a grader may make; others fail with EPERM.

The list names what Python, NumPy, pandas, pyarrow, SciPy and scikit-learn need to compute and to
read files. System calls of later kernels are refused until they are listed here.

The kernel limits how many files all processes of a user watch by epoll. A job that reached the
limit would end the server, whose event loop aborts when it can watch no more. So a job may not use
epoll, nor eventfd, which serves only loops that use epoll.

Sources: seccomp(2), the kernel's tables of system calls; for the choice, the default profile of
Docker, without the calls that a computation does not need.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform

from app.graders.walls.syscalls import checked, syscall

# The number of each call on x86-64 and on 64-bit ARM, which lacks the old ones.
_CALLS = """
futex 202 98          read 0 63             write 1 64            mprotect 10 226
munmap 11 215         madvise 28 233        brk 12 214            mremap 25 216
close 3 57            fstat 5 80            newfstatat 262 79     lseek 8 62
readv 19 65           writev 20 66          pread64 17 67         preadv 295 69
stat 4 -              lstat 6 -             statx 332 291         access 21 -
faccessat 269 48      faccessat2 439 439    readlink 89 -         readlinkat 267 78
getdents 78 -         getdents64 217 61     getcwd 79 17          statfs 137 43
fstatfs 138 44        fadvise64 221 223     dup 32 23             dup2 33 -
dup3 292 24           pipe 22 -             pipe2 293 59          poll 7 -
ppoll 271 73          select 23 -           pselect6 270 72
rt_sigaction 13 134   rt_sigprocmask 14 135 rt_sigreturn 15 139   rt_sigtimedwait 128 137
sigaltstack 131 132   restart_syscall 219 128 pause 34 -          nanosleep 35 101
getitimer 36 102      setitimer 38 103      alarm 37 -
exit 60 93            exit_group 231 94     futex_waitv 449 449   set_robust_list 273 99
set_tid_address 218 96 rseq 334 293         membarrier 324 283    sched_yield 24 124
sched_getaffinity 204 123 sched_getparam 143 121 sched_getscheduler 145 120
sched_get_priority_max 146 125 sched_get_priority_min 147 126 getcpu 309 168
getpid 39 172         getppid 110 173       gettid 186 178        getpgrp 111 -
getpgid 121 155       getsid 124 156        getuid 102 174        geteuid 107 175
getgid 104 176        getegid 108 177       getgroups 115 158     getresuid 118 148
getresgid 120 150     getrlimit 97 163      getrusage 98 165      times 100 153
sysinfo 99 179        uname 63 160          time 201 -            gettimeofday 96 169
getrandom 318 278     arch_prctl 158 -    umask 95 166
"""
# Allowed only with some arguments: see `_conditional`.
_CONDITIONAL_CALLS = """
mmap 9 222  open 2 -  openat 257 56  prlimit64 302 261  fcntl 72 25  ioctl 16 29  prctl 157 167
clone 56 220  clone3 435 435  kill 62 129  tgkill 234 131
clock_gettime 228 113  clock_getres 229 114  clock_nanosleep 230 115
"""
# On the socket to the server with which a grader was started; it cannot make others.
_CHANNEL_CALLS = "sendto 44 206  recvfrom 45 207"
# For a process that starts others, restricts them and waits for them.
_STARTING_CALLS = """
clone 56 220  fork 57 -  vfork 58 -  wait4 61 260  waitid 247 95  kill 62 129  prctl 157 167
capget 125 90  capset 126 91  seccomp 317 277  landlock_create_ruleset 444 444
landlock_add_rule 445 445  landlock_restrict_self 446 446  close_range 436 436
socketpair 53 199  tgkill 234 131  sendmsg 46 211  recvmsg 47 212
sched_setscheduler 144 119
"""
_MACHINES = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}

# Instructions of the kernel's filter language (BPF): load a word, mask it, jump if it equals the
# operand, jump if it shares a bit with the operand, return the operand.
_LOAD, _AND, _EQUAL, _ANY_BIT, _RETURN = 0x20, 0x54, 0x15, 0x45, 0x06
_ALLOW, _ERROR = 0x7FFF0000, 0x00050000
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16  # offsets in struct seccomp_data
_SET_MODE_FILTER, _ALL_THREADS = 1, 1

_SHARED_ANONYMOUS = 0x21  # MAP_SHARED and MAP_ANONYMOUS
_GROWS_DOWN = 0x100  # MAP_GROWSDOWN
_THREAD_WITH_ITS_FILES = 0x00010400  # CLONE_THREAD and CLONE_FILES
# Set in the numbers of processes' clocks: CPUCLOCK in the kernel's source.
_CLOCK_OF_A_PROCESS = 0x80000000
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
# F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_DUPFD_CLOEXEC, F_GETPIPE_SZ. No locks, leases,
# owners of signals, seals and notifications.
_FILE_COMMANDS = (0, 1, 2, 3, 4, 1030, 1032)
# FIONCLEX, FIOCLEX, FIONBIO, FIONREAD, TCGETS, TIOCGWINSZ.
_DEVICE_COMMANDS = (0x5450, 0x5451, 0x5421, 0x541B, 0x5401, 0x5413)
_OWN_PROCESS = 0xFFFFFFFE  # replaced by the id of the process that applies the filter
_NAMES_OF_THREADS = (15, 16, 0x53564D41)  # PR_SET_NAME, PR_GET_NAME, PR_SET_VMA

Step = tuple[int, int, int, int]  # the fields of an `_Instruction`


class _Instruction(ctypes.Structure):
    _fields_ = [
        ("code", ctypes.c_uint16),
        ("jump_true", ctypes.c_uint8),
        ("jump_false", ctypes.c_uint8),
        ("operand", ctypes.c_uint32),
    ]


class _Program(ctypes.Structure):
    _fields_ = [
        ("length", ctypes.c_uint16),
        ("instructions", ctypes.POINTER(_Instruction)),
    ]


class Filter:
    """A filter, made once and applied by any process that is forked from this one."""

    def __init__(
        self,
        *,
        has_channel: bool = False,
        may_start_processes: bool = False,
        may_open_to_write: bool = True,
    ) -> None:
        """Choose the calls that are allowed besides computing and reading files.

        `has_channel` is for a grader that has a socket to the server. `may_start_processes` is for
        a parent of graders that runs no competition's code. `may_open_to_write=False` replaces
        Landlock where it is missing; it also refuses the null device.

        Raises:
            OSError: there is no filter for this machine.
        """
        machine = platform.machine()
        if machine not in _MACHINES:
            raise OSError(errno.ENOSYS, f"no seccomp filter for {machine}")
        architecture, column = _MACHINES[machine]
        self._seccomp = _numbers(_STARTING_CALLS, column)["seccomp"]
        free = _numbers(_CALLS, column)
        if has_channel:
            free |= _numbers(_CHANNEL_CALLS, column)
        if may_start_processes:
            free |= _numbers(_STARTING_CALLS, column)
        steps: list[Step] = [
            (_LOAD, 0, 0, _ARCHITECTURE),
            (_EQUAL, 1, 0, architecture),
            (_RETURN, 0, 0, _ERROR | errno.EPERM),
            (_LOAD, 0, 0, _NUMBER),
        ]
        for number in free.values():
            steps += [(_EQUAL, 0, 1, number), (_RETURN, 0, 0, _ALLOW)]
        for name, number in _numbers(_CONDITIONAL_CALLS, column).items():
            if name not in free:
                block = _conditional(name, may_open_to_write=may_open_to_write)
                steps += [(_EQUAL, 0, len(block), number), *block]
        steps.append((_RETURN, 0, 0, _ERROR | errno.EPERM))
        self._own = [index for index, step in enumerate(steps) if step[3] == _OWN_PROCESS]
        self._steps = (_Instruction * len(steps))(*(_Instruction(*step) for step in steps))
        self._program = _Program(len(steps), self._steps)

    def put_into_force(self) -> None:
        """Refuse every system call that is not listed, in all threads, permanently.

        Raises:
            OSError: the kernel refuses it.
        """
        for index in self._own:
            self._steps[index].operand = os.getpid()
        program = ctypes.byref(self._program)
        failed = checked(syscall(self._seccomp, _SET_MODE_FILTER, _ALL_THREADS, program))
        if failed:
            raise OSError(errno.EBUSY, f"the thread {failed} does not take the filter")


def _conditional(name: str, *, may_open_to_write: bool) -> list[Step]:
    """The filter's steps for a system call of which the lower halves of arguments are checked."""
    match name:
        case "mmap":  # RLIMIT_DATA counts neither shared memory nor stacks that grow
            return [
                (_LOAD, 0, 0, _ARGUMENTS + 3 * 8),
                (_ANY_BIT, 0, 1, _GROWS_DOWN),
                (_RETURN, 0, 0, _ERROR | errno.EPERM),
                (_AND, 0, 0, _SHARED_ANONYMOUS),
                (_EQUAL, 0, 1, _SHARED_ANONYMOUS),
                (_RETURN, 0, 0, _ERROR | errno.EPERM),
                (_RETURN, 0, 0, _ALLOW),
            ]
        case "open" | "openat":
            if may_open_to_write:
                return [(_RETURN, 0, 0, _ALLOW)]
            flags = 1 if name == "open" else 2
            return [
                (_LOAD, 0, 0, _ARGUMENTS + flags * 8),
                (_ANY_BIT, 0, 1, _WRITING),
                (_RETURN, 0, 0, _ERROR | errno.EACCES),
                (_RETURN, 0, 0, _ALLOW),
            ]
        case "clone":  # threads only, which share their open files
            return [
                (_LOAD, 0, 0, _ARGUMENTS),
                (_AND, 0, 0, _THREAD_WITH_ITS_FILES),
                (_EQUAL, 0, 1, _THREAD_WITH_ITS_FILES),
                (_RETURN, 0, 0, _ALLOW),
                (_RETURN, 0, 0, _ERROR | errno.EPERM),
            ]
        case "clock_gettime" | "clock_getres" | "clock_nanosleep":
            return [
                (_LOAD, 0, 0, _ARGUMENTS),
                (_ANY_BIT, 0, 1, _CLOCK_OF_A_PROCESS),
                (_RETURN, 0, 0, _ERROR | errno.EPERM),
                (_RETURN, 0, 0, _ALLOW),
            ]
        case "clone3":  # a filter cannot read its flags; the C library then calls clone
            return [(_RETURN, 0, 0, _ERROR | errno.ENOSYS)]
        case "fcntl":
            return _one_of(1, _FILE_COMMANDS)
        case "ioctl":
            return _one_of(1, _DEVICE_COMMANDS)
        case "prctl":
            return _one_of(0, _NAMES_OF_THREADS)
        case "prlimit64":
            return _one_of(0, (0, _OWN_PROCESS))
        case _:  # kill, tgkill
            return _one_of(0, (_OWN_PROCESS,))


def _one_of(argument: int, values: tuple[int, ...]) -> list[Step]:
    steps: list[Step] = [(_LOAD, 0, 0, _ARGUMENTS + argument * 8)]
    for value in values:
        steps += [(_EQUAL, 0, 1, value), (_RETURN, 0, 0, _ALLOW)]
    return [*steps, (_RETURN, 0, 0, _ERROR | errno.EPERM)]


def _numbers(table: str, column: int) -> dict[str, int]:
    fields = table.split()
    rows = zip(fields[::3], fields[1::3], fields[2::3], strict=True)
    return {name: int(numbers[column]) for name, *numbers in rows if numbers[column] != "-"}
