/* A directory listed while entries come and go.
 *
 * POSIX (readdir): what is neither added nor removed during the scan is returned exactly once. The positions that
 * telldir gives lead back to the same entries.
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
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

struct raw_entry {
    uint64_t inode;
    int64_t offset;
    unsigned short length;
    unsigned char type;
    char name[];
};

static int file_count;
static unsigned char *times; /* how often each lasting entry was seen in this scan */

static void fill(const char *directory) {
    for (int i = 0; i < file_count; i++) {
        char path[600];
        snprintf(path, sizeof path, "%s/lasting-%07d", directory, i);
        int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
        if (file < 0) fail(errno, "%s", path);
        close(file);
    }
}

/* Creates, renames and removes entries until it is killed. */
static _Noreturn void churn(const char *directory, uint64_t seed) {
    struct random random = {seed};
    int root = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (root < 0) fail(errno, "%s", directory);
    for (;;) {
        char name[64], other[64];
        snprintf(name, sizeof name, "passing-%03d", (int)random_below(&random, 500));
        snprintf(other, sizeof other, "passing-%03d", (int)random_below(&random, 500));
        int result = 0;
        switch (random_below(&random, 3)) {
        case 0: {
            int file = openat(root, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
            if (file < 0) fail(errno, "creating %s", name);
            close(file);
            break;
        }
        case 1: result = unlinkat(root, name, 0); break;
        default: result = renameat(root, name, root, other); break;
        }
        if (result != 0 && errno != ENOENT) fail(errno, "%s", name);
    }
}

static void see(const char *name) {
    int number;
    if (sscanf(name, "lasting-%d", &number) != 1) return;
    if (number < 0 || number >= file_count) fail(0, "listed: %s", name);
    if (++times[number] > 1) fail(0, "%s is listed twice", name);
}

static void expect_all(const char *how) {
    for (int i = 0; i < file_count; i++)
        if (times[i] != 1) fail(0, "%s: lasting-%07d is not listed", how, i);
}

/* One scan by the system call, with a buffer of `size` bytes. */
static void scan_raw(const char *directory, size_t size) {
    int file = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    char *buffer = malloc(size);
    if (file < 0 || buffer == NULL) fail(errno, "%s", directory);
    memset(times, 0, (size_t)file_count);
    for (;;) {
        long count = syscall(SYS_getdents64, file, buffer, size);
        if (count < 0) fail(errno, "getdents64");
        if (count == 0) break;
        for (long at = 0; at < count;) {
            const struct raw_entry *entry = (const void *)(buffer + at);
            see(entry->name);
            at += entry->length;
        }
    }
    char how[64];
    snprintf(how, sizeof how, "getdents64 with %zu bytes", size);
    expect_all(how);
    free(buffer);
    close(file);
}

/* One scan that remembers positions, and goes back to each of them. */
static void scan_back(const char *directory, struct random *random) {
    enum { PLACES = 8 };
    struct {
        long position;
        int seen_before; /* lasting entries */
        int number;      /* the entry read there */
    } places[PLACES];
    int *order = malloc((size_t)file_count * sizeof *order), seen = 0, place_count = 0;
    DIR *stream = opendir(directory);
    if (stream == NULL || order == NULL) fail(errno, "%s", directory);
    memset(times, 0, (size_t)file_count);
    for (;;) {
        errno = 0;
        long position = telldir(stream);
        struct dirent *entry = readdir(stream);
        if (entry == NULL) break;
        int number;
        see(entry->d_name);
        if (sscanf(entry->d_name, "lasting-%d", &number) != 1) continue;
        if (place_count < PLACES && random_below(random, (uint64_t)file_count / PLACES + 1) == 0) {
            places[place_count].position = position;
            places[place_count].seen_before = seen;
            places[place_count++].number = number;
        }
        order[seen++] = number;
    }
    if (errno != 0) fail(errno, "readdir");
    expect_all("readdir");
    for (int i = place_count - 1; i >= 0; i--) {
        memset(times, 0, (size_t)file_count);
        seekdir(stream, places[i].position);
        int again = 0;
        for (struct dirent *entry; (errno = 0, entry = readdir(stream)) != NULL;) {
            int number;
            see(entry->d_name);
            again += sscanf(entry->d_name, "lasting-%d", &number) == 1;
        }
        if (errno != 0) fail(errno, "readdir after seekdir");
        if (again != seen - places[i].seen_before)
            fail(0, "after seekdir to %ld: %d entries, before it was %d", places[i].position, again,
                 seen - places[i].seen_before);
        for (int j = places[i].seen_before; j < seen; j++)
            if (times[order[j]] != 1) fail(0, "after seekdir: lasting-%07d is not listed", order[j]);
    }
    memset(times, 0, (size_t)file_count);
    rewinddir(stream);
    while (errno = 0, (stream != NULL)) {
        struct dirent *entry = readdir(stream);
        if (entry == NULL) break;
        see(entry->d_name);
    }
    expect_all("readdir after rewinddir");
    closedir(stream);
    free(order);
}

int run_listing(const struct options *options) {
    file_count = options->files ? options->files : 20000;
    times = calloc((size_t)file_count, 1);
    if (times == NULL) fail(errno, "no memory");
    char directory[500];
    snprintf(directory, sizeof directory, "%s/listed", options->directory);
    if (mkdir(directory, 0755) != 0) fail(errno, "%s", directory);
    double start = now();
    fill(directory);
    double filled = now();
    struct random random = {options->seed};
    fflush(NULL);
    pid_t child = fork();
    if (child < 0) fail(errno, "fork");
    if (child == 0) churn(directory, options->seed + 1);
    uint64_t scans = 0;
    double end = now() + options->seconds;
    static const size_t sizes[] = {512, 4096, 32768, 1 << 20};
    while (options->operations ? scans < options->operations : now() < end || scans < 5) {
        if (scans % 5 == 4)
            scan_back(directory, &random);
        else
            scan_raw(directory, sizes[scans % 5]);
        scans++;
        if (waitpid(child, NULL, WNOHANG) == child) fail(0, "the process that changes the directory ended");
    }
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    printf("listing: %d entries made in %.1f s, %llu scans in %.1f s while others came and went\n", file_count,
           filled - start, (unsigned long long)scans, now() - filled);
    return 0;
}
