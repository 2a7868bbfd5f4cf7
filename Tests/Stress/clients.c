/* Many processes at once: each has files of its own, and all count in a file they share. */
#define _GNU_SOURCE
#include "stress.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILES = 4, BYTES = 3000 };

static int gate_pipe[2];
/* Locked by flock, and by fcntl: on Linux the two do not know of each other. */
static const char *const counters[2] = {"count-flock", "count-fcntl"};

static void check(bool holds, const char *what) {
    if (!holds) fail(errno, "%s", what);
}

/* One more in the shared file, under a lock of the whole, by fcntl or by flock. */
static void count_in(const char *path, bool by_flock) {
    char text[32] = "";
    int file = open(path, O_RDWR | O_CLOEXEC);
    check(file >= 0, path);
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    check((by_flock ? flock(file, LOCK_EX) : fcntl(file, F_SETLKW, &lock)) == 0, "lock");
    check(pread(file, text, sizeof text - 1, 0) >= 0, "read the count");
    int length = snprintf(text, sizeof text, "%ld\n", strtol(text, NULL, 10) + 1);
    check(pwrite(file, text, (size_t)length, 0) == length, "write the count");
    check(close(file) == 0, "close");
}

static void note_in(const char *path, int process, int round) {
    char line[33];
    snprintf(line, sizeof line, "%015d %015d\n", process, round);
    int file = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
    check(file >= 0, path);
    check(write(file, line, 32) == 32, "append");
    check(close(file) == 0, "close");
}

static void own_files(const char *directory, struct random *random) {
    char path[600], other[600], content[BYTES], found[BYTES];
    for (int i = 0; i < FILES; i++) {
        snprintf(path, sizeof path, "%s/file%d", directory, i);
        snprintf(other, sizeof other, "%s/moved%d", directory, i);
        random_fill(random, content, sizeof content);
        int file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
        check(file >= 0, path);
        check(write(file, content, sizeof content) == sizeof content, "write");
        check(close(file) == 0, "close");
        check(rename(path, other) == 0, "rename");
        file = open(other, O_RDONLY | O_CLOEXEC);
        check(file >= 0, other);
        check(read(file, found, sizeof found) == sizeof found, "read");
        check(close(file) == 0, "close");
        if (memcmp(content, found, sizeof found) != 0) fail(0, "%s: another content", other);
    }
    DIR *stream = opendir(directory);
    check(stream != NULL, directory);
    int count = 0;
    while (readdir(stream) != NULL) count++;
    closedir(stream);
    if (count != FILES + 2) fail(0, "%s lists %d entries", directory, count);
    check(unlink(other) == 0, "unlink");
}

static void run_process(int process, void *context) {
    const struct options *options = context;
    struct random random = {options->seed + (uint64_t)process};
    char directory[500], counter[600], notes[600], byte;
    snprintf(directory, sizeof directory, "%s/client%d", options->directory, process);
    snprintf(counter, sizeof counter, "%s/%s", options->directory, counters[process % 2]);
    snprintf(notes, sizeof notes, "%s/notes", options->directory);
    close(gate_pipe[1]);
    check(read(gate_pipe[0], &byte, 1) == 0, "the start");
    check(mkdir(directory, 0755) == 0, directory);
    for (uint64_t round = 0; round < options->operations; round++) {
        own_files(directory, &random);
        count_in(counter, process % 2 == 0);
        note_in(notes, process, (int)round);
    }
}

static void make_file(const char *directory, const char *name, char *path, size_t size) {
    snprintf(path, size, "%s/%s", directory, name);
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    check(file >= 0, path);
    close(file);
}

static void open_gate(void) { close(gate_pipe[1]); }

static long number_in(const char *path) {
    char text[32] = "";
    int file = open(path, O_RDONLY | O_CLOEXEC);
    check(file >= 0, path);
    check(read(file, text, sizeof text - 1) >= 0, path);
    close(file);
    return strtol(text, NULL, 10);
}

/* Every process's note of every round, once. */
static void check_notes(const char *path, const struct options *options) {
    size_t count = (size_t)options->processes * options->operations;
    unsigned char *found = calloc(count, 1);
    FILE *file = fopen(path, "r");
    if (file == NULL || found == NULL) fail(errno, "%s", path);
    char line[64];
    for (size_t i = 0; i < count; i++) {
        int process, round;
        if (fgets(line, sizeof line, file) == NULL) fail(0, "%zu notes, wanted %zu", i, count);
        if (sscanf(line, "%d %d", &process, &round) != 2) fail(0, "note %zu is torn: %s", i, line);
        if (found[(size_t)process * options->operations + (size_t)round]++) fail(0, "twice: %s", line);
    }
    if (fgets(line, sizeof line, file) != NULL) fail(0, "more than %zu notes", count);
    fclose(file);
    free(found);
}

int run_clients(const struct options *given) {
    struct options options = *given;
    if (options.operations == 0) options.operations = 2;
    char path[600], notes[600];
    for (int i = 0; i < 2; i++) make_file(options.directory, counters[i], path, sizeof path);
    make_file(options.directory, "notes", notes, sizeof notes);
    check(pipe2(gate_pipe, O_CLOEXEC) == 0, "pipe");
    double start = now();
    int bad = in_processes(options.processes, run_process, &options, open_gate);
    if (bad == 0) {
        for (int i = 0; i < 2; i++) {
            snprintf(path, sizeof path, "%s/%s", options.directory, counters[i]);
            long half = options.processes / 2, wanted = (long)options.operations * (i ? half : options.processes - half);
            if (number_in(path) != wanted) fail(0, "%s: %ld, wanted %ld", counters[i], number_in(path), wanted);
        }
        check_notes(notes, &options);
    }
    printf("clients: %d at once, %llu rounds each, %.1f s, %d ended badly\n", options.processes,
           (unsigned long long)options.operations, now() - start, bad);
    return bad ? 1 : 0;
}
