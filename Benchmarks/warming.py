"""Memory that a virtual machine has not used lately is given to it by its host first, at a tenth of the speed: whoever is measured
first, or needs more, would pay for that."""
import mmap, os


def warm(size):
    """Uses as many bytes of memory, and gives them back."""
    # By a process of its own: the peak of one that is started counts what its parent had.
    process = os.fork()
    if process == 0:
        mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | mmap.MAP_POPULATE).close()
        os._exit(0)
    if os.waitpid(process, 0)[1]:
        raise SystemExit(f"no memory of {size >> 20} MiB")
