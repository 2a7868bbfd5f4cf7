// What Swift's Glibc module leaves out of Linux's headers.
//
// No feature macro is set here: Swift's own view of the C library would then differ from this one.
#ifndef QUIRE_CLINUX_H
#define QUIRE_CLINUX_H

#include <stdint.h>
#include <sys/types.h>
#include <sys/epoll.h>
#include <time.h>
#include <sys/statfs.h>
#include <sys/xattr.h>

// open(2): a descriptor that only names a place in the tree.
static const int quire_O_PATH = 010000000;
// open(2): a file without a name.
static const int quire_O_TMPFILE = 020200000;
// open(2): reading does not change the access time.
static const int quire_O_NOATIME = 01000000;
// fchownat(2) and others: the descriptor itself, no name below it.
static const int quire_AT_EMPTY_PATH = 0x1000;
// renameat2(2): EEXIST instead of replacing, and swapping two entries.
static const unsigned int quire_RENAME_NOREPLACE = 1;
static const unsigned int quire_RENAME_EXCHANGE = 2;
// lseek(2): the next data, the next hole.
static const int quire_SEEK_DATA = 3;
static const int quire_SEEK_HOLE = 4;
// utimensat(2): leaves this time as it is.
static const long quire_UTIME_OMIT = (1L << 30) - 2;

// As the functions of the same name without `any_`, also for a descriptor that only names a file (O_PATH).
int quire_any_fchmod(int file, mode_t mode);
int quire_any_futimens(int file, const struct timespec times[2]);
ssize_t quire_any_fgetxattr(int file, const char *name, void *value, size_t size);
ssize_t quire_any_flistxattr(int file, char *list, size_t size);
int quire_any_fsetxattr(int file, const char *name, const void *value, size_t size, int flags);
int quire_any_fremovexattr(int file, const char *name);
// faccessat2(2) of an open file (O_PATH is enough), with the effective user and group.
int quire_access(int file, int mask);
// renameat2(2).
int quire_renameat2(int from, const char *source, int to, const char *target, unsigned int flags);
// ioctl_ficlonerange(2): makes `target` share all of `source`'s blocks.
int quire_ficlone(int target, int source);
// copy_file_range(2), fallocate(2).
ssize_t quire_copy_file_range(int source, int64_t *source_offset, int target, int64_t *target_offset, size_t length);
int quire_fallocate(int file, int mode, int64_t offset, int64_t length);
// syncfs(2): writes the whole file system of an open file through.
int quire_syncfs(int file);
// statx(2): birth time of an open file (O_PATH is enough) in nanoseconds since 1970; -1 and ENODATA where none is kept.
int64_t quire_birth_time(int file);
// Gives the calling thread a umask of its own, apart from the process's (unshare(2) CLONE_FS), and sets it. Returns the
// one before, -1 where the kernel refuses.
int quire_set_thread_umask(int mask);
// mallopt(3) M_ARENA_MAX; 0 where it is refused.
int quire_limit_arenas(int count);
// mallopt(3) M_TRIM_THRESHOLD and M_MMAP_THRESHOLD: up to `bytes` of freed memory stay with the process, and pieces below
// `largest` are taken of it; 0 where it is refused.
int quire_keep_freed(int bytes, int largest);
// malloc_trim(3): gives free memory back to the kernel.
void quire_release_memory(void);
// ppoll(2) of one descriptor for input: the events there are, 0 where there are none in time, or a signal came.
short quire_wait_for_input(int file, long nanoseconds);
// prctl(2) PR_SET_NAME: the calling thread, 15 bytes at the most.
int quire_name_thread(const char *name);
// fcntl(2) F_OFD_SETLK: locks the whole file for this open file description alone. EAGAIN where another has it.
int quire_lock_file(int file);
// F_OFD_GETLK: 1 where another has the file locked, 0 where none has, -1 on failure. Locks nothing.
int quire_file_is_locked(int file);
// pidfd_open(2), poll(2): waits until the process has ended, at most so long. 1: it is gone, 0: it is not, -1 on failure.
int quire_wait_for_process(pid_t process, int milliseconds);
// Whether any process has the open file open for writing, or mapped so: 1, 0, or -1 where that cannot be known. `file` is
// open for reading only. Asks for a lease (fcntl(2) F_SETLEASE, which is not given then) and gives it back.
int quire_has_writers(int file);
// strerrorname_np(3): "ENOENT"; NULL for a number that is none.
const char *quire_errno_name(int number);
// setpriority(2) of the calling thread: adds to its niceness. 0, or -1 where the kernel refuses.
int quire_add_thread_niceness(int increment);
// statx(2) with all fields; `buffer` holds a struct statx (256 bytes).
int quire_statx(int directory, const char *path, int flags, void *buffer);
// The root of the file system mounted at `path`, opened with O_PATH without asking it anything; its device in `device`.
// -1 on failure.
int quire_open_mount(const char *path, uint64_t *device);
// openat2(2): the directory at `path` below `root`, opened with O_PATH, on the same mount and by no link. -1 on failure.
int quire_open_beneath(int root, const char *path);
// posix_spawn(3) of a program in a process group of its own, without the signal mask: with `channel` as its standard input,
// this process's output, and no other descriptor. The process's number, or -errno.
pid_t quire_spawn_on_channel(const char *program, const char *const arguments[], int channel);

// getsockopt(2) TCP_INFO, up to what is used of it (struct tcp_info, Linux 4.6).
struct quire_tcp_info {
    uint8_t states[8];
    uint32_t times_and_sizes[4];
    uint32_t unacked;  // segments on their way
    uint32_t sums[19];
    uint64_t rates[2];
    uint64_t bytes_acked;
    uint64_t bytes_received;
    uint32_t segments[2];
    uint32_t notsent_bytes;
    uint32_t end;
};

// What a confined program may use. Sizes in bytes, 0 where there is no limit.
struct quire_confinement {
    uint64_t address_space;  // RLIMIT_AS
    uint64_t file_size;      // RLIMIT_FSIZE
    unsigned cpu_seconds;    // RLIMIT_CPU
    unsigned descriptors;    // RLIMIT_NOFILE
    unsigned processes;      // RLIMIT_NPROC, where processes of its own can be told apart
    uid_t user;              // who it becomes where the caller is root
    gid_t group;
};
// Starts a program that is not trusted with anything but its working directory: a session of its own, niceness 19, no
// descriptor but /dev/null as 0, 1 and 2, no new privileges, the limits above; without network and in a process namespace
// of its own (which ends with it) where the kernel allows that. `program` is an absolute path, `arguments` and
// `environment` end with NULL. Returns the process to wait for and to kill, -1 and errno on failure; what cannot be executed
// ends with 127.
pid_t quire_spawn_confined(
    const char *program, char *const arguments[], char *const environment[], const char *directory,
    const struct quire_confinement *limits);

#endif
