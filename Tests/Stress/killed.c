/* Processes killed in the middle of their operations, and blocked ones interrupted by a signal.
 *
 * Each worker repeats one kind of call until it dies. Afterwards all of them have to be gone, their locks too, and the
 * drive has to answer; whoever waits for a lock hears of a signal at once.
 */
#define _GNU_SOURCE
#include "stress.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LARGE = 1 << 20, SHARED = 4, WORKERS = 64, WAITED_SECONDS = 20 };

static char shared_path[SHARED][600];
static int root;

static int open_file(const char *path, int flags) {
    int file = openat(root, path, flags | O_CLOEXEC, 0644);
    if (file < 0 && errno != EINTR) fail(errno, "%s", path);
    return file;
}

static void repeat_content(int number, struct random *random, int kind) {
    static char bytes[LARGE];
    char name[64], other[64];
    snprintf(name, sizeof name, "worker%d", number);
    snprintf(other, sizeof other, "copy%d", number);
    random_fill(random, bytes, 4096);
    for (;;) {
        int file = open_file(name, O_RDWR | O_CREAT);
        size_t count = 1 + random_below(random, LARGE);
        switch (kind) {
        case 0:
            if (pwrite(file, bytes, count, (off_t)random_below(random, LARGE)) < 0) fail(errno, "write");
            break;
        case 1:
            if (pread(file, bytes, count, 0) < 0) fail(errno, "read");
            break;
        case 2:
            if (pwrite(file, bytes, 4096, 0) < 0) fail(errno, "write");
            /* EINTR: what another worker had begun on the file was cut short when it was killed. */
            if (fsync(file) != 0 && errno != EINTR) fail(errno, "fsync");
            break;
        case 3: {
            if (ftruncate(file, LARGE) != 0) fail(errno, "ftruncate");
            char *memory = mmap(NULL, LARGE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
            if (memory == MAP_FAILED) fail(errno, "mmap");
            memset(memory + random_below(random, LARGE / 2), 7, LARGE / 2);
            if (msync(memory, LARGE, MS_SYNC) != 0 && errno != EINTR) fail(errno, "msync");
            munmap(memory, LARGE);
            break;
        }
        case 4: {
            int target = open_file(other, O_RDWR | O_CREAT);
            off_t from = 0, to = 0;
            if (copy_file_range(file, &from, target, &to, LARGE, 0) < 0) fail(errno, "copy_file_range");
            close(target);
            break;
        }
        default:
            if (fallocate(file, FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE, 0, (off_t)count) != 0 && errno != EOPNOTSUPP)
                fail(errno, "fallocate");
        }
        close(file);
    }
}

static void repeat_names(int number, int kind) {
    char name[64], other[64], directory[64];
    snprintf(name, sizeof name, "name%d", number);
    snprintf(other, sizeof other, "other%d", number);
    snprintf(directory, sizeof directory, "directory%d", number);
    for (;;) {
        switch (kind) {
        case 0:
            close(open_file(name, O_WRONLY | O_CREAT));
            if (renameat(root, name, root, other) != 0 && errno != ENOENT) fail(errno, "rename");
            break;
        case 1:
            close(open_file(name, O_WRONLY | O_CREAT));
            if (unlinkat(root, name, 0) != 0 && errno != ENOENT) fail(errno, "unlink");
            break;
        case 2:
            if (mkdirat(root, directory, 0755) != 0 && errno != EEXIST) fail(errno, "mkdir");
            if (unlinkat(root, directory, AT_REMOVEDIR) != 0) fail(errno, "rmdir");
            break;
        default: {
            DIR *stream = fdopendir(openat(root, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
            if (stream == NULL) fail(errno, "fdopendir");
            while (readdir(stream) != NULL) continue;
            closedir(stream);
        }
        }
    }
}

static struct flock whole(short type) { return (struct flock){.l_type = type, .l_whence = SEEK_SET}; }

static void repeat_locks(struct random *random, bool by_flock) {
    for (;;) {
        int file = open_file(shared_path[random_below(random, SHARED)], O_RDWR);
        struct flock lock = whole(random_below(random, 2) ? F_WRLCK : F_RDLCK);
        int result = by_flock ? flock(file, lock.l_type == F_WRLCK ? LOCK_EX : LOCK_SH) : fcntl(file, F_SETLKW, &lock);
        if (result != 0 && errno != EINTR && errno != EDEADLK) fail(errno, "lock");
        /* Held for a while, so that others wait and are killed waiting. */
        usleep((useconds_t)random_below(random, 3000));
        close(file);
    }
}

static _Noreturn void work(int number, uint64_t seed) {
    struct random random = {seed};
    uint64_t kind = random_below(&random, 14);
    if (kind < 6) repeat_content(number, &random, (int)kind);
    if (kind < 10) repeat_names(number, (int)kind - 6);
    repeat_locks(&random, kind % 2 == 0);
    abort();
}

static pid_t start(int number, uint64_t seed) {
    fflush(NULL);
    pid_t child = fork();
    if (child < 0) fail(errno, "fork");
    if (child == 0) work(number, seed);
    return child;
}

/* Waits for a child that was killed; one that does not go is stuck in the kernel. */
static void reap(pid_t child) {
    double limit = now() + WAITED_SECONDS;
    int status;
    for (;;) {
        pid_t found = waitpid(child, &status, WNOHANG);
        if (found == child) break;
        if (found < 0) fail(errno, "waitpid");
        if (now() > limit) fail(0, "process %d is still there %d s after SIGKILL", child, WAITED_SECONDS);
        usleep(500);
    }
    if (WIFEXITED(status)) fail(0, "a worker ended by itself with %d", WEXITSTATUS(status));
}

static void on_alarm(int signal) { (void)signal; }

/* A lock that another holds: the wait ends with EINTR soon after a signal. */
static double interrupted_wait(bool by_flock) {
    int ready[2];
    if (pipe(ready) != 0) fail(errno, "pipe");
    fflush(NULL);
    pid_t holder = fork();
    if (holder < 0) fail(errno, "fork");
    if (holder == 0) {
        int file = open_file(shared_path[0], O_RDWR);
        struct flock lock = whole(F_WRLCK);
        if ((by_flock ? flock(file, LOCK_EX) : fcntl(file, F_SETLKW, &lock)) != 0) fail(errno, "lock");
        if (write(ready[1], "", 1) != 1) fail(errno, "pipe");
        for (;;) pause();
    }
    char byte;
    if (read(ready[0], &byte, 1) != 1) fail(errno, "the holder");
    struct sigaction action = {.sa_handler = on_alarm};
    sigaction(SIGALRM, &action, NULL);
    sigset_t alarms;
    sigemptyset(&alarms);
    sigaddset(&alarms, SIGALRM);
    sigprocmask(SIG_UNBLOCK, &alarms, NULL);
    int file = open_file(shared_path[0], O_RDWR);
    /* Again and again: the first may come before the wait begins. */
    struct itimerval soon = {.it_interval = {.tv_usec = 50000}, .it_value = {.tv_usec = 50000}}, never = {0};
    double begin = now();
    setitimer(ITIMER_REAL, &soon, NULL);
    struct flock lock = whole(F_WRLCK);
    int result = by_flock ? flock(file, LOCK_EX) : fcntl(file, F_SETLKW, &lock);
    int code = errno;
    double took = now() - begin;
    setitimer(ITIMER_REAL, &never, NULL);
    errno = code;
    if (result == 0) fail(0, "two processes hold one lock");
    if (errno != EINTR) fail(errno, "the interrupted wait");
    close(file);
    close(ready[0]);
    close(ready[1]);
    kill(holder, SIGKILL);
    reap(holder);
    return took;
}

int run_killed(const struct options *options) {
    struct random random = {options->seed};
    root = open(options->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (root < 0) fail(errno, "%s", options->directory);
    for (int i = 0; i < SHARED; i++) {
        snprintf(shared_path[i], sizeof shared_path[i], "shared%d", i);
        close(open_file(shared_path[i], O_RDWR | O_CREAT));
    }
    pid_t children[WORKERS];
    int count = options->processes < 2 ? 12 : options->processes > WORKERS ? WORKERS : options->processes;
    uint64_t killed = 0;
    for (int i = 0; i < count; i++) children[i] = start(i, random_next(&random));
    double end = now() + options->seconds;
    while (options->operations ? killed < options->operations : now() < end) {
        usleep((useconds_t)random_below(&random, 20000));
        int victim = (int)random_below(&random, (uint64_t)count);
        kill(children[victim], SIGKILL);
        reap(children[victim]);
        children[victim] = start(victim, random_next(&random));
        killed++;
    }
    for (int i = 0; i < count; i++) kill(children[i], SIGKILL);
    for (int i = 0; i < count; i++) reap(children[i]);
    for (int i = 0; i < SHARED; i++) {
        int file = open_file(shared_path[i], O_RDWR);
        struct flock lock = whole(F_WRLCK);
        if (fcntl(file, F_SETLK, &lock) != 0) fail(errno, "%s: a dead process's fcntl lock", shared_path[i]);
        if (flock(file, LOCK_EX | LOCK_NB) != 0) fail(errno, "%s: a dead process's flock", shared_path[i]);
        close(file);
    }
    double longest = 0;
    for (int i = 0; i < 10; i++) {
        double took = interrupted_wait(i % 2 == 0);
        if (took > longest) longest = took;
    }
    if (longest > 2) fail(0, "an interrupted wait for a lock took %.2f s", longest);
    printf("killed: %llu of %d workers at a time; waits for locks interrupted within %.3f s\n",
           (unsigned long long)killed, count, longest);
    return 0;
}
