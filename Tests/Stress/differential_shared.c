/* Where several processes meet: the same names, the same files, with an outcome that is defined. */
#define _GNU_SOURCE
#include "differential.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { RACES = 6, RECORDS = 12, RECORD = 40, ROUNDS_KEPT = 8 };

struct shared {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    int processes, here;
    uint64_t meetings;
    bool is_given_up;
    int winners[SIDES][RACES]; /* changed atomically */
};

struct shared *make_shared(int processes) {
    struct shared *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) fail(errno, "mmap");
    pthread_mutexattr_t of_mutex;
    pthread_condattr_t of_condition;
    pthread_mutexattr_init(&of_mutex);
    pthread_mutexattr_setpshared(&of_mutex, PTHREAD_PROCESS_SHARED);
    pthread_condattr_init(&of_condition);
    pthread_condattr_setpshared(&of_condition, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(&shared->mutex, &of_mutex);
    pthread_cond_init(&shared->changed, &of_condition);
    shared->processes = processes;
    return shared;
}

bool meet_all(struct shared *shared) {
    pthread_mutex_lock(&shared->mutex);
    uint64_t meeting = shared->meetings;
    if (++shared->here == shared->processes) {
        shared->here = 0;
        shared->meetings++;
        pthread_cond_broadcast(&shared->changed);
    }
    while (meeting == shared->meetings && !shared->is_given_up) pthread_cond_wait(&shared->changed, &shared->mutex);
    bool goes_on = !shared->is_given_up;
    pthread_mutex_unlock(&shared->mutex);
    return goes_on;
}

void give_up(struct shared *shared) {
    pthread_mutex_lock(&shared->mutex);
    shared->is_given_up = true;
    pthread_cond_broadcast(&shared->changed);
    pthread_mutex_unlock(&shared->mutex);
}

static void meet(struct shared *shared) {
    /* The one that gave up has told why. */
    if (!meet_all(shared)) exit(1);
}

static _Noreturn void end_wrong(struct shared *shared, const char *side, const char *what) {
    give_up(shared);
    fail(0, "DIFFERENCE: %s: %s", side, what);
}

/* Each name is made by all at once, each in one way that only one can succeed in. */
static void race(struct client *client, struct shared *shared, int side) {
    char own[40], name[40];
    int root = client->roots[side];
    for (int kind = 0; kind < RACES; kind++) {
        int result = -1, file;
        snprintf(name, sizeof name, "shared/race-%d", kind);
        snprintf(own, sizeof own, "shared/runner-%d-%d", client->process, kind);
        file = openat(root, own, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
        if (file >= 0) close(file);
        switch (kind) {
        case 0: result = openat(root, name, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600); break;
        case 1: result = mkdirat(root, name, 0700); break;
        case 2: result = linkat(root, own, root, name, 0); break;
        case 3: result = renameat2(root, own, root, name, RENAME_NOREPLACE); break;
        case 4: result = symlinkat("nothing", root, name); break;
        case 5:
            file = openat(root, "shared", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
            result = linkat(file, "", root, name, AT_EMPTY_PATH);
            int code = errno;
            if (file >= 0) close(file);
            errno = code;
            break;
        }
        if (result >= 0) __atomic_add_fetch(&shared->winners[side][kind], 1, __ATOMIC_RELAXED);
        else if (errno != EEXIST) end_wrong(shared, side == DRIVE ? "drive" : "plain", "a lost race is no EEXIST");
        if (kind == 0 && result >= 0) close(result);
        unlinkat(root, own, 0);
    }
}

static void judge_race(struct client *client, struct shared *shared, int side) {
    for (int kind = 0; kind < RACES; kind++) {
        char name[40];
        snprintf(name, sizeof name, "shared/race-%d", kind);
        if (shared->winners[side][kind] != 1) end_wrong(shared, side == DRIVE ? "drive" : "plain", "a race has no or several winners");
        shared->winners[side][kind] = 0;
        if (unlinkat(client->roots[side], name, kind == 1 ? AT_REMOVEDIR : 0) != 0) fail(errno, "%s", name);
    }
}

/* Records from all in one file: by O_APPEND, or at the end under one of two kinds of lock. */
static void write_log(struct client *client, struct shared *shared, int side, uint64_t round) {
    int way = (int)(round % 3);
    int file = openat(client->roots[side], "shared/log", O_CREAT | O_RDWR | O_CLOEXEC | (way == 0 ? O_APPEND : 0), 0666);
    if (file < 0) fail(errno, "shared/log");
    for (int number = 0; number < RECORDS; number++) {
        char record[RECORD + 1];
        struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
        snprintf(record, sizeof record, "%4d %8llu %8d %15s\n", client->process, (unsigned long long)round, number, "");
        if (way == 1 && flock(file, LOCK_EX) != 0) fail(errno, "flock");
        if (way == 2 && fcntl(file, F_SETLKW, &lock) != 0) fail(errno, "fcntl");
        if (way != 0 && lseek(file, 0, SEEK_END) < 0) fail(errno, "lseek");
        if (write(file, record, strlen(record)) != (ssize_t)strlen(record)) end_wrong(shared, "log", "a record is not written");
        lock.l_type = F_UNLCK;
        if (way == 1 && flock(file, LOCK_UN) != 0) fail(errno, "flock");
        if (way == 2 && fcntl(file, F_SETLK, &lock) != 0) fail(errno, "fcntl");
    }
    close(file);
}

static void judge_log(struct client *client, struct shared *shared, int side, uint64_t round) {
    int file = openat(client->roots[side], "shared/log", O_RDONLY | O_CLOEXEC);
    FILE *stream = fdopen(file, "r");
    if (stream == NULL) fail(errno, "shared/log");
    int *next = calloc((size_t)shared->processes, sizeof *next), process, number, count = 0;
    unsigned long long of_round;
    if (next == NULL) fail(ENOMEM, "log");
    while (fscanf(stream, "%d %llu %d", &process, &of_round, &number) == 3) {
        if (process < 0 || process >= shared->processes || of_round != round || next[process]++ != number)
            end_wrong(shared, side == DRIVE ? "drive" : "plain", "the log's records are not in order");
        count++;
    }
    fclose(stream);
    free(next);
    if (count != RECORDS * shared->processes)
        end_wrong(shared, side == DRIVE ? "drive" : "plain", "records of the log are lost or doubled");
    if (unlinkat(client->roots[side], "shared/log", 0) != 0) fail(errno, "shared/log");
}

/* Takes away all that the processes have made: trees that grow take longer to compare than they are worth. */
static void clear(int root, const char *path) {
    struct dirent **list;
    int count = scandirat(root, path, &list, NULL, NULL);
    if (count < 0) fail(errno, "listing %s", path);
    for (int i = 0; i < count; i++) {
        char below[2 * LONGEST_PATH];
        const char *name = list[i]->d_name;
        snprintf(below, sizeof below, "%s/%s", path, name);
        bool is_own = name[0] >= '0' && name[0] <= '9', is_directory = list[i]->d_type == DT_DIR;
        bool is_fixed = strncmp(name, "own-", 4) == 0 || strcmp(name, "shared") == 0 || strcmp(name, "deep") == 0;
        if (is_directory && (is_own || is_fixed)) clear(root, below);
        if (is_own && unlinkat(root, below, is_directory ? AT_REMOVEDIR : 0) != 0) fail(errno, "removing %s", below);
        free(list[i]);
    }
    free(list);
}

void contend(struct client *client, struct shared *shared, uint64_t round) {
    meet(shared);
    for (int side = DRIVE; side < SIDES; side++) {
        race(client, shared, side);
        write_log(client, shared, side, round);
    }
    meet(shared);
    if (client->process == 0) {
        for (int side = DRIVE; side < SIDES; side++) {
            judge_race(client, shared, side);
            judge_log(client, shared, side, round);
        }
        const char *difference = compare_trees(client->roots[DRIVE], client->roots[PLAIN], ".");
        if (difference != NULL) end_wrong(shared, "trees", difference);
        for (int side = DRIVE; side < SIDES && round % ROUNDS_KEPT == ROUNDS_KEPT - 1; side++) clear(client->roots[side], ".");
    }
    meet(shared);
}

static int order_names(const struct dirent **one, const struct dirent **other) {
    return strcmp((*one)->d_name, (*other)->d_name);
}

static bool is_same_content(int one, int other, const char *path) {
    static uint8_t bytes[SIDES][65536];
    int files[SIDES] = {openat(one, path, O_RDONLY | O_CLOEXEC), openat(other, path, O_RDONLY | O_CLOEXEC)};
    ssize_t counts[SIDES];
    do
        for (int side = DRIVE; side < SIDES; side++) counts[side] = read(files[side], bytes[side], sizeof bytes[side]);
    while (counts[DRIVE] > 0 && counts[DRIVE] == counts[PLAIN] && memcmp(bytes[DRIVE], bytes[PLAIN], (size_t)counts[DRIVE]) == 0);
    for (int side = DRIVE; side < SIDES; side++) close(files[side]);
    return counts[DRIVE] == 0 && counts[PLAIN] == 0;
}

const char *compare_trees(int drive, int plain, const char *path) {
    static char text[4 * LONGEST_PATH];
    struct dirent **lists[SIDES];
    const int roots[SIDES] = {drive, plain};
    const char *result = NULL;
    int counts[SIDES];
    for (int side = DRIVE; side < SIDES; side++) {
        counts[side] = scandirat(roots[side], path, &lists[side], NULL, order_names);
        if (counts[side] < 0) fail(errno, "listing %s", path);
    }
    for (int i = 0; i < counts[DRIVE] && i < counts[PLAIN] && result == NULL; i++) {
        char below[2 * LONGEST_PATH];
        struct status status[SIDES];
        snprintf(below, sizeof below, "%s/%s", path, lists[DRIVE][i]->d_name);
        snprintf(text, sizeof text, "%s", below);
        if (strcmp(lists[DRIVE][i]->d_name, lists[PLAIN][i]->d_name) != 0 || lists[DRIVE][i]->d_type != lists[PLAIN][i]->d_type) {
            snprintf(text, sizeof text, "%s beside %s", below, lists[PLAIN][i]->d_name);
            result = text;
        } else if (strcmp(lists[DRIVE][i]->d_name, ".") != 0 && strcmp(lists[DRIVE][i]->d_name, "..") != 0) {
            for (int side = DRIVE; side < SIDES; side++) status_at(roots[side], below, &status[side]);
            if (memcmp(&status[DRIVE], &status[PLAIN], sizeof status[DRIVE]) != 0) result = text;
            else if (S_ISREG(status[DRIVE].mode) && !is_same_content(drive, plain, below)) result = text;
            else if (S_ISDIR(status[DRIVE].mode)) result = compare_trees(drive, plain, below);
        }
    }
    if (result == NULL && counts[DRIVE] != counts[PLAIN]) {
        snprintf(text, sizeof text, "%s has %d entries on the drive and %d beside it", path, counts[DRIVE], counts[PLAIN]);
        result = text;
    }
    for (int side = DRIVE; side < SIDES; side++) {
        for (int i = 0; i < counts[side]; i++) free(lists[side][i]);
        free(lists[side]);
    }
    return result;
}
