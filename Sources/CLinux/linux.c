#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/openat2.h>
#include <malloc.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

int quire_renameat2(int from, const char *source, int to, const char *target, unsigned int flags) {
    return renameat2(from, source, to, target, flags);
}

int quire_statx(int directory, const char *path, int flags, void *buffer) {
    return statx(directory, path, flags, STATX_BASIC_STATS | STATX_BTIME, buffer);
}

/* Where the kernel shows the file behind a descriptor: for calls that refuse one that is only a path. */
struct file_path {
    char text[32];
};

static struct file_path path_of(int file) {
    struct file_path path;
    snprintf(path.text, sizeof path.text, "/proc/self/fd/%d", file);
    return path;
}

int quire_any_fchmod(int file, mode_t mode) {
    int result = fchmod(file, mode);
    return result < 0 && errno == EBADF ? chmod(path_of(file).text, mode) : result;
}

int quire_any_futimens(int file, const struct timespec times[2]) {
    return utimensat(file, "", times, AT_EMPTY_PATH);
}

ssize_t quire_any_fgetxattr(int file, const char *name, void *value, size_t size) {
    ssize_t result = fgetxattr(file, name, value, size);
    return result < 0 && errno == EBADF ? getxattr(path_of(file).text, name, value, size) : result;
}

ssize_t quire_any_flistxattr(int file, char *list, size_t size) {
    ssize_t result = flistxattr(file, list, size);
    return result < 0 && errno == EBADF ? listxattr(path_of(file).text, list, size) : result;
}

int quire_any_fsetxattr(int file, const char *name, const void *value, size_t size, int flags) {
    int result = fsetxattr(file, name, value, size, flags);
    return result < 0 && errno == EBADF ? setxattr(path_of(file).text, name, value, size, flags) : result;
}

int quire_any_fremovexattr(int file, const char *name) {
    int result = fremovexattr(file, name);
    return result < 0 && errno == EBADF ? removexattr(path_of(file).text, name) : result;
}

int quire_access(int file, int mask) {
    return (int)syscall(SYS_faccessat2, file, "", mask, AT_EACCESS | AT_EMPTY_PATH);
}

int quire_ficlone(int target, int source) { return ioctl(target, FICLONE, source); }

ssize_t quire_copy_file_range(int source, int64_t *source_offset, int target, int64_t *target_offset, size_t length) {
    return copy_file_range(source, source_offset, target, target_offset, length, 0);
}

int quire_syncfs(int file) { return syncfs(file); }

int quire_fallocate(int file, int mode, int64_t offset, int64_t length) { return fallocate(file, mode, offset, length); }

int64_t quire_birth_time(int file) {
    struct statx status;
    if (statx(file, "", AT_EMPTY_PATH, STATX_BTIME, &status) != 0) return -1;
    if (!(status.stx_mask & STATX_BTIME)) {
        errno = ENODATA;
        return -1;
    }
    int64_t time;
    if (__builtin_mul_overflow(status.stx_btime.tv_sec, INT64_C(1000000000), &time) ||
        __builtin_add_overflow(time, (int64_t)status.stx_btime.tv_nsec, &time)) {
        errno = EOVERFLOW;
        return -1;
    }
    return time;
}

int quire_name_thread(const char *name) { return prctl(PR_SET_NAME, name); }

int quire_lock_file(int file) {
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    return fcntl(file, F_OFD_SETLK, &lock);
}

int quire_file_is_locked(int file) {
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (fcntl(file, F_OFD_GETLK, &lock) != 0) return -1;
    return lock.l_type != F_UNLCK;
}

int quire_wait_for_process(pid_t process, int milliseconds) {
    int descriptor = (int)syscall(SYS_pidfd_open, process, 0);
    if (descriptor < 0) return errno == ESRCH ? 1 : -1;
    struct pollfd wanted = {.fd = descriptor, .events = POLLIN};
    int result = poll(&wanted, 1, milliseconds);
    close(descriptor);
    return result < 0 && errno == EINTR ? 0 : result;
}

int quire_has_writers(int file) {
    /* Who opens the file meanwhile breaks the lease: a signal that is ignored, in place of one that ends the process. */
    fcntl(file, F_SETSIG, SIGURG);
    if (fcntl(file, F_SETLEASE, F_RDLCK) != 0) return errno == EAGAIN ? 1 : -1;
    fcntl(file, F_SETLEASE, F_UNLCK);
    return 0;
}

const char *quire_errno_name(int number) { return strerrorname_np(number); }

int quire_add_thread_niceness(int increment) {
    id_t thread = (id_t)syscall(SYS_gettid);
    errno = 0;
    int niceness = getpriority(PRIO_PROCESS, thread);
    return errno != 0 ? -1 : setpriority(PRIO_PROCESS, thread, niceness + increment);
}

int quire_set_thread_umask(int mask) {
    static __thread int own = 0;
    if (!own && unshare(CLONE_FS) != 0) return -1;
    own = 1;
    return (int)umask((mode_t)mask);
}

int quire_limit_arenas(int count) { return mallopt(M_ARENA_MAX, count); }

int quire_keep_freed(int bytes, int largest) {
    return mallopt(M_TRIM_THRESHOLD, bytes) && mallopt(M_MMAP_THRESHOLD, largest);
}

void quire_release_memory(void) { malloc_trim(0); }

short quire_wait_for_input(int file, long nanoseconds) {
    struct pollfd polled = {.fd = file, .events = POLLIN};
    struct timespec timeout = {.tv_sec = 0, .tv_nsec = nanoseconds};
    return ppoll(&polled, 1, &timeout, NULL) > 0 ? polled.revents : 0;
}

int quire_open_mount(const char *path, uint64_t *device) {
    int root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (root < 0) return -1;
    struct statx status;
    if (statx(root, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, 0, &status) != 0) {
        int reason = errno;
        close(root);
        errno = reason;
        return -1;
    }
    *device = makedev(status.stx_dev_major, status.stx_dev_minor);
    return root;
}

int quire_open_beneath(int root, const char *path) {
    struct open_how how = {
        .flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_XDEV | RESOLVE_NO_SYMLINKS,
    };
    return (int)syscall(SYS_openat2, root, path, &how, sizeof how);
}

pid_t quire_spawn_on_channel(const char *program, const char *const arguments[], int channel) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none;
    pid_t process = 0;
    sigemptyset(&none);
    int error = posix_spawn_file_actions_init(&actions);
    if (error != 0) return -error;
    error = posix_spawnattr_init(&attributes);
    if (error == 0) {
        error = posix_spawn_file_actions_adddup2(&actions, channel, 0);
        if (error == 0) error = posix_spawn_file_actions_addclosefrom_np(&actions, 3);
        if (error == 0) error = posix_spawnattr_setsigmask(&attributes, &none);
        if (error == 0) error = posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
        if (error == 0) {
            error = posix_spawn(&process, program, &actions, &attributes, (char *const *)arguments, environ);
        }
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    return error == 0 ? process : -error;
}
