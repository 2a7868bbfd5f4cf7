/* Operations on open files, done alike on both sides. */
#define _GNU_SOURCE
#include "differential.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <unistd.h>

enum { PAGE = 4096, OPEN_FLAGS = 12 };

/* The side's descriptor of a random slot, with the slot's number; -1 where it is empty. */
static int draw_slot(struct client *client, int side, struct random *random, int *slot) {
    *slot = (int)random_below(random, SLOTS);
    return client->slots[*slot][side];
}

static bool is_direct(int file) {
    int flags = fcntl(file, F_GETFL);
    return flags >= 0 && (flags & O_DIRECT) != 0;
}

/* Where it is not defined what becomes of the file's time, or when. */
static void set_time(int file) {
    const struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = 11}};
    futimens(file, times);
}

/* An offset; whole pages for O_DIRECT, whose alignment is the file system's own. */
static off_t draw_offset(struct random *random, int file) {
    off_t offset = ONE_OF(random, 0, 0, 1, 511, 4096, 5000, 8192, 65536, 100000);
    return is_direct(file) ? offset & -PAGE : offset;
}

static size_t draw_length(struct random *random, int file) {
    size_t length = (size_t)ONE_OF(random, 0, 1, 7, 100, 512, 4095, 4096, 4097, 10000, 65536);
    return is_direct(file) ? length & (size_t)-PAGE : length;
}

/* Puts what was opened into the slot, in place of what was there before; an error leaves that. */
static void keep_opened(struct client *client, int side, int slot, int before, int opened, struct outcome *outcome) {
    outcome->result = opened < 0 ? -1 : 0;
    if (opened < 0) return;
    if (before >= 0) close(before);
    client->slots[slot][side] = opened;
}

static void op_open(struct client *client, int side, struct random random, struct outcome *outcome) {
    static const struct {
        int flag, chance; /* in a hundred */
    } flags[OPEN_FLAGS] = {{O_CREAT, 75},   {O_EXCL, 6},     {O_TRUNC, 12}, {O_APPEND, 15},  {O_DIRECT, 12},    {O_SYNC, 5},
                           {O_DSYNC, 5},    {O_NOATIME, 10}, {O_PATH, 5},   {O_NOFOLLOW, 25}, {O_DIRECTORY, 4}, {O_ASYNC, 2}};
    char path[LONGEST_PATH];
    int slot, before = draw_slot(client, side, &random, &slot);
    draw_own_path(client, &random, FILES, path);
    int chosen = (int)ONE_OF(&random, O_RDONLY, O_RDWR, O_RDWR, O_WRONLY, O_ACCMODE);
    if (chosen == O_ACCMODE) chosen = O_RDWR;
    for (int i = 0; i < OPEN_FLAGS; i++)
        if (random_below(&random, 100) < (uint64_t)flags[i].chance) chosen |= flags[i].flag;
    describe(client, "#%d %s %#o", slot, path, (unsigned)chosen);
    int file = openat(client->roots[side], path, chosen | O_NONBLOCK | O_CLOEXEC, 0666);
    struct stat found;
    settle(outcome, file);
    if (file >= 0) status_of(file, &outcome->status);
    status_at(client->roots[side], path, &outcome->other);
    keep_opened(client, side, slot, before, file, outcome);
    /* A pipe is nothing of the file system's. */
    if (file >= 0 && fstat(file, &found) == 0 && S_ISFIFO(found.st_mode)) {
        close(file);
        client->slots[slot][side] = -1;
    }
}

static void op_unnamed(struct client *client, int side, struct random random, struct outcome *outcome) {
    char path[LONGEST_PATH];
    int slot, before = draw_slot(client, side, &random, &slot);
    draw_own_path(client, &random, FILES, path);
    /* The file's directory: one that is there most of the time. */
    if (random_below(&random, 4) != 0) *strchr(path, '/') = 0;
    int flags = (int)ONE_OF(&random, O_RDWR, O_RDWR, O_WRONLY, O_RDWR | O_EXCL, O_RDWR | O_DIRECT, O_RDONLY);
    describe(client, "#%d %s %#o", slot, path, (unsigned)flags);
    int file = openat(client->roots[side], path, O_TMPFILE | flags | O_CLOEXEC, 0666);
    settle(outcome, file);
    if (file >= 0) status_of(file, &outcome->status);
    keep_opened(client, side, slot, before, file, outcome);
}

static void op_give_name(struct client *client, int side, struct random random, struct outcome *outcome) {
    char path[LONGEST_PATH], full[40];
    int slot, file = draw_slot(client, side, &random, &slot);
    draw_own_path(client, &random, FILES, path);
    snprintf(full, sizeof full, "/proc/self/fd/%d", file);
    describe(client, "#%d %s", slot, path);
    if (random_below(&random, 2) == 0) settle(outcome, linkat(AT_FDCWD, full, client->roots[side], path, AT_SYMLINK_FOLLOW));
    else settle(outcome, linkat(file, "", client->roots[side], path, AT_EMPTY_PATH));
    status_at(client->roots[side], path, &outcome->other);
}

/* Opens what is open once more, with other flags; also what is open by O_PATH only, or has no name any more. */
static void op_reopen(struct client *client, int side, struct random random, struct outcome *outcome) {
    char full[40];
    int slot, target, file = draw_slot(client, side, &random, &slot);
    int before = draw_slot(client, side, &random, &target);
    int flags = (int)ONE_OF(&random, O_RDONLY, O_RDWR, O_RDWR | O_APPEND, O_RDWR | O_DIRECT, O_WRONLY | O_TRUNC, O_PATH);
    describe(client, "#%d as #%d %#o", slot, target, (unsigned)flags);
    snprintf(full, sizeof full, "/proc/self/fd/%d", file);
    int opened = open(full, flags | O_NONBLOCK | O_CLOEXEC);
    settle(outcome, opened);
    keep_opened(client, side, target, before, opened, outcome);
}

static void op_close(struct client *client, int side, struct random random, struct outcome *outcome) {
    int slot, file = draw_slot(client, side, &random, &slot);
    describe(client, "#%d", slot);
    settle(outcome, close(file));
    client->slots[slot][side] = -1;
}

static void op_read(struct client *client, int side, struct random random, struct outcome *outcome) {
    int slot, file = draw_slot(client, side, &random, &slot);
    size_t length = draw_length(&random, file);
    off_t offset = draw_offset(&random, file);
    int64_t count;
    describe(client, "#%d %zu bytes at %lld", slot, length, (long long)offset);
    if (random_below(&random, 3) != 0) count = pread(file, client->buffer, length, offset);
    else count = is_direct(file) ? -2 : read(file, client->buffer, length);
    if (settle(outcome, count) > 0) outcome->digest = digest(0, client->buffer, (size_t)count);
}

static void op_write(struct client *client, int side, struct random random, struct outcome *outcome) {
    int slot, file = draw_slot(client, side, &random, &slot);
    size_t length = draw_length(&random, file), half = length / 2 & (size_t)-512;
    off_t offset = draw_offset(&random, file);
    int way = (int)random_below(&random, 5);
    describe(client, "#%d %zu bytes at %lld, way %d", slot, length, (long long)offset, way);
    random_fill(&random, client->buffer, length);
    struct iovec parts[2] = {{client->buffer, half}, {client->buffer + half, length - half}};
    if (way < 2) settle(outcome, pwrite(file, client->buffer, length, offset));
    else if (way == 2 && !is_direct(file)) settle(outcome, write(file, client->buffer, length));
    else settle(outcome, pwritev2(file, parts, is_direct(file) ? 1 : 2, offset,
                                  (int)ONE_OF(&random, 0, RWF_DSYNC, RWF_SYNC)));
}

/* At the end, by the position or by the flag. */
static void op_append(struct client *client, int side, struct random random, struct outcome *outcome) {
    int slot, file = draw_slot(client, side, &random, &slot);
    size_t length = is_direct(file) ? PAGE : 1 + random_below(&random, 3000);
    describe(client, "#%d %zu bytes", slot, length);
    random_fill(&random, client->buffer, length);
    struct iovec part = {client->buffer, length};
    struct stat found;
    /* Where a directory ends is its file system's own number. */
    if (fstat(file, &found) != 0 || !S_ISREG(found.st_mode) || found.st_size > 200000 || is_direct(file)) return;
    bool by_flag = random_below(&random, 2) == 0;
    if (by_flag) settle(outcome, pwritev2(file, &part, 1, 0, RWF_APPEND));
    else if (settle(outcome, lseek(file, 0, SEEK_END)) >= 0) settle(outcome, write(file, client->buffer, length));
}

static void op_ftruncate(struct client *client, int side, struct random random, struct outcome *outcome) {
    int slot, file = draw_slot(client, side, &random, &slot);
    off_t size = ONE_OF(&random, 0, 1, 4095, 4096, 4097, 10000, 65536, 120000, -1);
    describe(client, "#%d %lld", slot, (long long)size);
    settle(outcome, ftruncate(file, size));
}

static void op_fallocate(struct client *client, int side, struct random random, struct outcome *outcome) {
    int slot, file = draw_slot(client, side, &random, &slot);
    int mode = (int)ONE_OF(&random, 0, FALLOC_FL_KEEP_SIZE, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                           FALLOC_FL_ZERO_RANGE, FALLOC_FL_ZERO_RANGE | FALLOC_FL_KEEP_SIZE, FALLOC_FL_COLLAPSE_RANGE,
                           FALLOC_FL_INSERT_RANGE, FALLOC_FL_PUNCH_HOLE);
    off_t offset = ONE_OF(&random, 0, 1, 4096, 8192, 5000, 65536), length = ONE_OF(&random, 1, 4096, 8192, 10000, 65536, 0);
    describe(client, "#%d mode %#x, %lld bytes at %lld", slot, (unsigned)mode, (long long)length, (long long)offset);
    /* FUSE hands on neither of these two, whatever the store can do. */
    bool is_refusable = (mode & (FALLOC_FL_COLLAPSE_RANGE | FALLOC_FL_INSERT_RANGE)) != 0;
    if (side == PLAIN && client->was_refused) {
        client->was_refused = false;
        outcome->result = -1;
        outcome->code = EOPNOTSUPP;
        set_time(file);
        return;
    }
    settle(outcome, fallocate(file, mode, offset, length));
    if (side == DRIVE) client->was_refused = is_refusable && outcome->result < 0 && outcome->code == EOPNOTSUPP;
    /* A kernel that collects writes sets the time before it asks. */
    if (outcome->result < 0) set_time(file);
}

static void op_seek(struct client *client, int side, struct random random, struct outcome *outcome) {
    int slot, file = draw_slot(client, side, &random, &slot);
    off_t offset = draw_offset(&random, file);
    int whence = (int)ONE_OF(&random, SEEK_SET, SEEK_CUR, SEEK_END, SEEK_DATA, SEEK_HOLE);
    describe(client, "#%d %d %lld", slot, whence, (long long)offset);
    struct stat found;
    /* Where a directory ends is its file system's own number. */
    if (fstat(file, &found) == 0 && S_ISDIR(found.st_mode)) return;
    settle(outcome, lseek(file, offset, whence));
}

static void op_copy_range(struct client *client, int side, struct random random, struct outcome *outcome) {
    int slot, other, from = draw_slot(client, side, &random, &slot), to = draw_slot(client, side, &random, &other);
    size_t length = (size_t)ONE_OF(&random, 0, 1, 4096, 10000, 65536);
    off_t start = draw_offset(&random, -1), end = draw_offset(&random, -1);
    describe(client, "#%d at %lld to #%d at %lld, %zu bytes", slot, (long long)start, other, (long long)end, length);
    if (is_direct(from) || is_direct(to)) return;
    settle(outcome, copy_file_range(from, &start, to, &end, length, 0));
    status_of(to, &outcome->other);
}

/* Whether both are one file: what is sent on as pages changes while it is written over itself. */
static bool is_same_file(int one, int other) {
    struct stat found[2];
    return fstat(one, &found[0]) == 0 && fstat(other, &found[1]) == 0 && found[0].st_ino == found[1].st_ino;
}

static void op_sendfile(struct client *client, int side, struct random random, struct outcome *outcome) {
    int slot, other, from = draw_slot(client, side, &random, &slot), to = draw_slot(client, side, &random, &other);
    size_t length = (size_t)ONE_OF(&random, 0, 1, 4096, 10000, 65536), sent = 0;
    off_t start = draw_offset(&random, -1);
    describe(client, "#%d at %lld to #%d, %zu bytes", slot, (long long)start, other, length);
    struct stat found;
    /* What is appended to for ever grows for ever. */
    if (is_direct(from) || is_direct(to) || is_same_file(from, to) || (fstat(to, &found) == 0 && found.st_size > 200000)) return;
    int64_t count;
    while ((count = settle(outcome, sendfile(to, from, &start, length - sent))) > 0 && sent < length) sent += (size_t)count;
    outcome->digest = sent;
    status_of(to, &outcome->other);
}

static void op_splice(struct client *client, int side, struct random random, struct outcome *outcome) {
    int slot, other, from = draw_slot(client, side, &random, &slot), to = draw_slot(client, side, &random, &other);
    size_t length = (size_t)ONE_OF(&random, 1, 4096, 10000, 30000), got = 0;
    off_t start = draw_offset(&random, -1), end = draw_offset(&random, -1);
    describe(client, "#%d at %lld to #%d at %lld, %zu bytes", slot, (long long)start, other, (long long)end, length);
    if (is_direct(from) || is_direct(to) || is_same_file(from, to)) return;
    int64_t count;
    while (got < length && (count = settle(outcome, splice(from, &start, client->pipe[1], NULL, length - got, SPLICE_F_NONBLOCK))) > 0)
        got += (size_t)count;
    outcome->digest = digest(got, &outcome->code, sizeof outcome->code);
    while (got > 0 && (count = settle(outcome, splice(client->pipe[0], NULL, to, &end, got, 0))) > 0) got -= (size_t)count;
    /* What nobody took is no part of the next. */
    if (got > 0) while (got > 0 && (count = read(client->pipe[0], client->buffer, got)) > 0) got -= (size_t)count;
    status_of(to, &outcome->other);
}

static void op_map(struct client *client, int side, struct random random, struct outcome *outcome) {
    int slot, file = draw_slot(client, side, &random, &slot);
    struct stat found;
    if (fstat(file, &found) != 0 || !S_ISREG(found.st_mode)) return;
    size_t pages = ((size_t)found.st_size + PAGE - 1) / PAGE;
    if (pages == 0) return;
    size_t page = random_below(&random, pages), length = page + 1 == pages ? (size_t)found.st_size - page * PAGE : PAGE;
    bool writes = random_below(&random, 3) != 0;
    /* A page of a hole that is read through a mapping becomes data in a tmpfs, and does not in a cache above it. */
    if (!writes && lseek(file, (off_t)(page * PAGE), SEEK_DATA) != (off_t)(page * PAGE)) return;
    describe(client, "#%d page %zu of %zu, %s", slot, page, pages, writes ? "written" : "read");
    uint8_t *memory = mmap(NULL, PAGE, writes ? PROT_READ | PROT_WRITE : PROT_READ, writes ? MAP_SHARED : MAP_PRIVATE, file,
                           (off_t)(page * PAGE));
    if (settle(outcome, memory == MAP_FAILED ? -1 : 0) != 0) return;
    size_t start = random_below(&random, length), count = 1 + random_below(&random, length - start);
    if (writes) random_fill(&random, memory + start, count);
    outcome->digest = digest(0, memory, length);
    if (writes) settle(outcome, msync(memory, PAGE, (int)ONE_OF(&random, MS_SYNC, MS_SYNC, MS_ASYNC)));
    munmap(memory, PAGE);
    /* When the time of a write through memory becomes the file's is not defined. */
    if (writes) set_time(file);
}

static void op_sync(struct client *client, int side, struct random random, struct outcome *outcome) {
    int slot, file = draw_slot(client, side, &random, &slot), way = (int)random_below(&random, 4);
    describe(client, "#%d way %d", slot, way);
    if (way == 0) settle(outcome, fsync(file));
    else if (way == 1) settle(outcome, fdatasync(file));
    else if (way == 2) settle(outcome, sync_file_range(file, 0, 8192, SYNC_FILE_RANGE_WRITE));
    else settle(outcome, posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED));
}

static void op_attributes(struct client *client, int side, struct random random, struct outcome *outcome) {
    int slot, file = draw_slot(client, side, &random, &slot), way = (int)random_below(&random, 3);
    mode_t mode = (mode_t)ONE_OF(&random, 0644, 0600, 0755);
    const struct timespec times[2] = {
        {.tv_nsec = UTIME_OMIT}, {.tv_sec = 1 + (time_t)random_below(&random, 900000000), .tv_nsec = 5}};
    describe(client, "#%d way %d", slot, way);
    if (way == 0) settle(outcome, fchmod(file, mode));
    else if (way == 1) settle(outcome, futimens(file, times));
    else settle(outcome, fchown(file, (uid_t)ONE_OF(&random, -1, 0), (gid_t)ONE_OF(&random, 0, 100)));
}

/* Nobody waits: whether another of the own descriptors is in the way is the answer. */
static void op_lock(struct client *client, int side, struct random random, struct outcome *outcome) {
    int slot, file = draw_slot(client, side, &random, &slot), way = (int)random_below(&random, 5);
    struct flock lock = {
        .l_type = (short)ONE_OF(&random, F_RDLCK, F_WRLCK, F_WRLCK, F_UNLCK), .l_whence = SEEK_SET,
        .l_start = (off_t)random_below(&random, 10), .l_len = (off_t)random_below(&random, 5)};
    describe(client, "#%d way %d type %d, %lld from %lld", slot, way, lock.l_type, (long long)lock.l_len, (long long)lock.l_start);
    if (way == 0) settle(outcome, flock(file, LOCK_NB | (int)ONE_OF(&random, LOCK_SH, LOCK_EX, LOCK_UN)));
    else if (way == 1) settle(outcome, fcntl(file, F_OFD_SETLK, &lock));
    else if (way == 2) settle(outcome, fcntl(file, F_OFD_GETLK, &lock));
    else if (way == 3) settle(outcome, fcntl(file, F_SETLK, &lock));
    else settle(outcome, fcntl(file, F_GETLK, &lock));
    outcome->digest = digest((uint64_t)lock.l_type, &lock.l_start, sizeof lock.l_start);
    outcome->digest = digest(outcome->digest, &lock.l_len, sizeof lock.l_len);
}

const struct operations content_operations[] = {
    {"open", 30, op_open},           {"open without a name", 3, op_unnamed}, {"give a name", 3, op_give_name},
    {"open again", 4, op_reopen},    {"close", 2, op_close},                 {"read", 12, op_read},
    {"write", 14, op_write},         {"append", 6, op_append},               {"ftruncate", 4, op_ftruncate},
    {"fallocate", 5, op_fallocate},  {"seek", 5, op_seek},                   {"copy_file_range", 4, op_copy_range},
    {"sendfile", 3, op_sendfile},    {"splice", 3, op_splice},               {"map", 6, op_map},
    {"sync", 3, op_sync},            {"attributes of a handle", 3, op_attributes}, {"lock", 6, op_lock},
    {NULL, 0, NULL},
};
