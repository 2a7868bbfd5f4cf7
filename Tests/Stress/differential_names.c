/* Operations on names and attributes, done alike on both sides. */
#define _GNU_SOURCE
#include "differential.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

/* Times that are set lie before this, in seconds; the clock's lie after it. */
enum { CHOSEN_TIMES = 1000000000 };

static void copy_status(const struct stat *found, struct status *status) {
    bool is_directory = S_ISDIR(found->st_mode);
    *status = (struct status){
        .mode = found->st_mode, .owner = found->st_uid, .group = found->st_gid, .links = found->st_nlink,
        .size = is_directory ? 0 : (uint64_t)found->st_size};
    if (found->st_mtim.tv_sec < CHOSEN_TIMES)
        status->modified = found->st_mtim.tv_sec * 1000000000 + found->st_mtim.tv_nsec;
}

void status_at(int root, const char *path, struct status *status) {
    struct stat found;
    *status = (struct status){0};
    if (fstatat(root, path, &found, AT_SYMLINK_NOFOLLOW) == 0) copy_status(&found, status);
    else status->mode = (uint64_t)errno;
}

void status_of(int descriptor, struct status *status) {
    struct stat found;
    *status = (struct status){0};
    if (fstat(descriptor, &found) == 0) copy_status(&found, status);
    else status->mode = (uint64_t)errno;
}

/* Draws one path, or two where `other` is not NULL, and tells of them. */
static int draw_paths(struct client *client, int side, struct random *random, char *path, char *other) {
    draw_own_path(client, random, ANYTHING, path);
    if (other != NULL) draw_own_path(client, random, ANYTHING, other);
    describe(client, "%s %s", path, other != NULL ? other : "");
    return client->roots[side];
}

/* Not sticky and writable for others: what the kernel then refuses to root (protected_regular(5)) it does not where only
   root can come. */
static void op_mkdir(struct client *client, int side, struct random random, struct outcome *outcome) {
    char path[LONGEST_PATH];
    draw_own_path(client, &random, DIRECTORIES, path);
    describe(client, "%s", path);
    int root = client->roots[side];
    settle(outcome, mkdirat(root, path, (mode_t)ONE_OF(&random, 0755, 0755, 0777, 0700, 01755, 02775)));
    status_at(root, path, &outcome->status);
}

static void op_rmdir(struct client *client, int side, struct random random, struct outcome *outcome) {
    char path[LONGEST_PATH];
    draw_own_path(client, &random, DIRECTORIES, path);
    describe(client, "%s", path);
    settle(outcome, unlinkat(client->roots[side], path, AT_REMOVEDIR));
}

static void op_unlink(struct client *client, int side, struct random random, struct outcome *outcome) {
    char path[LONGEST_PATH];
    settle(outcome, unlinkat(draw_paths(client, side, &random, path, NULL), path, 0));
}

static void op_rename(struct client *client, int side, struct random random, struct outcome *outcome) {
    char path[LONGEST_PATH], other[LONGEST_PATH];
    int root = draw_paths(client, side, &random, path, other);
    unsigned flags = (unsigned)ONE_OF(&random, 0, 0, 0, 0, RENAME_NOREPLACE, RENAME_EXCHANGE, RENAME_EXCHANGE, 3);
    describe(client, "%s %s flags %u", path, other, flags);
    settle(outcome, renameat2(root, path, root, other, flags));
    status_at(root, path, &outcome->status);
    status_at(root, other, &outcome->other);
}

static void op_link(struct client *client, int side, struct random random, struct outcome *outcome) {
    char path[LONGEST_PATH], other[LONGEST_PATH];
    int root = draw_paths(client, side, &random, path, other);
    settle(outcome, linkat(root, path, root, other, (int)ONE_OF(&random, 0, 0, AT_SYMLINK_FOLLOW)));
    status_at(root, path, &outcome->status);
    status_at(root, other, &outcome->other);
}

static void op_symlink(struct client *client, int side, struct random random, struct outcome *outcome) {
    char path[LONGEST_PATH], other[LONGEST_PATH];
    int root = draw_paths(client, side, &random, path, other);
    /* Relative to the link, and of own names only: what is made through it is nobody else's. Never the directory itself: the
       link may be moved to a shared one, whose time and links others change between the two sides. */
    char own[12];
    const char *name = strrchr(other, '/');
    snprintf(own, sizeof own, "/%da", client->process);
    if (name == NULL || name[1] == 0) name = own;
    settle(outcome, symlinkat(name + 1, root, path));
    status_at(root, path, &outcome->status);
}

static void op_readlink(struct client *client, int side, struct random random, struct outcome *outcome) {
    char path[LONGEST_PATH], target[LONGEST_PATH];
    int root = draw_paths(client, side, &random, path, NULL);
    int64_t count = settle(outcome, readlinkat(root, path, target, (size_t)ONE_OF(&random, 1, 5, LONGEST_PATH)));
    if (count > 0) outcome->digest = digest(0, target, (size_t)count);
}

static void op_mknod(struct client *client, int side, struct random random, struct outcome *outcome) {
    char path[LONGEST_PATH];
    int root = draw_paths(client, side, &random, path, NULL);
    settle(outcome, mknodat(root, path, (mode_t)ONE_OF(&random, S_IFIFO, S_IFSOCK, S_IFREG, S_IFREG) | 0666, 0));
    status_at(root, path, &outcome->status);
}

static void op_stat(struct client *client, int side, struct random random, struct outcome *outcome) {
    char path[LONGEST_PATH];
    struct stat found;
    int root = draw_paths(client, side, &random, path, NULL);
    if (settle(outcome, fstatat(root, path, &found, 0)) == 0) copy_status(&found, &outcome->status);
    outcome->digest = (uint64_t)faccessat(root, path, (int)ONE_OF(&random, F_OK, R_OK, W_OK, X_OK), 0);
}

/* The entries that are there all the while, each counted as often as it is listed; what comes or goes may be seen or not. */
static int64_t list(int file, const char *mark, const char *gone, const char *come, struct outcome *outcome) {
    DIR *directory = fdopendir(file);
    if (directory == NULL) return -1;
    struct dirent *entry;
    int64_t count = 0;
    for (int number = 0; (errno = 0, entry = readdir(directory)) != NULL; number++) {
        if (number == 0 && gone != NULL) {
            /* Whatever comes of it: both sides' status is compared by what is listed next. */
            unlinkat(file, gone, 0);
            int made = openat(file, come, O_CREAT | O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0644);
            if (made >= 0) close(made);
        }
        if (strncmp(entry->d_name, mark, strlen(mark)) != 0) continue;
        if (gone != NULL && (strcmp(entry->d_name, gone) == 0 || strcmp(entry->d_name, come) == 0)) continue;
        /* A sum, for the order is the file system's own. */
        outcome->digest += digest(entry->d_type, entry->d_name, strlen(entry->d_name));
        count++;
    }
    int code = errno;
    closedir(directory);
    errno = code;
    return code == 0 ? count : -1;
}

static int open_listed(struct client *client, int side, struct random *random, char *path) {
    int root = draw_paths(client, side, random, path, NULL);
    /* Shared directories, too: of those, the own names. */
    int64_t place = ONE_OF(random, 0, 0, 0, 1, 2);
    if (place > 0) strcpy(path, place == 1 ? "shared" : "shared/deep");
    describe(client, "%s", path);
    return openat(root, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static void op_list(struct client *client, int side, struct random random, struct outcome *outcome) {
    char path[LONGEST_PATH], mark[8];
    snprintf(mark, sizeof mark, "%d", client->process);
    int file = open_listed(client, side, &random, path);
    settle(outcome, file < 0 ? -1 : list(file, mark, NULL, NULL, outcome));
}

static void op_list_changing(struct client *client, int side, struct random random, struct outcome *outcome) {
    char path[LONGEST_PATH], gone[LONGEST_PATH], come[LONGEST_PATH], mark[8];
    snprintf(mark, sizeof mark, "%d", client->process);
    int file = open_listed(client, side, &random, path);
    draw_own_path(client, &random, FILES, gone);
    draw_own_path(client, &random, FILES, come);
    const char *last[2] = {strrchr(gone, '/') + 1, strrchr(come, '/') + 1};
    if (*last[0] == 0 || *last[1] == 0) last[0] = NULL;
    settle(outcome, file < 0 ? -1 : list(file, mark, last[0], last[1], outcome));
}

static void op_chmod(struct client *client, int side, struct random random, struct outcome *outcome) {
    char path[LONGEST_PATH];
    int root = draw_paths(client, side, &random, path, NULL);
    mode_t mode = (mode_t)ONE_OF(&random, 0644, 0600, 0755, 0777, 04755, 02711, 06777, 01755);
    settle(outcome, fchmodat(root, path, mode, 0));
    status_at(root, path, &outcome->status);
}

static void op_chown(struct client *client, int side, struct random random, struct outcome *outcome) {
    char path[LONGEST_PATH];
    int root = draw_paths(client, side, &random, path, NULL);
    uid_t owner = (uid_t)ONE_OF(&random, -1, 0, 1000);
    gid_t group = (gid_t)ONE_OF(&random, -1, 0, 100);
    describe(client, "%s %d %d", path, (int)owner, (int)group);
    settle(outcome, fchownat(root, path, owner, group, (int)ONE_OF(&random, 0, AT_SYMLINK_NOFOLLOW)));
    status_at(root, path, &outcome->status);
}

static struct timespec draw_time(struct random *random) {
    int64_t special = ONE_OF(random, 0, 0, UTIME_NOW, UTIME_OMIT);
    return (struct timespec){
        .tv_sec = 1 + (time_t)random_below(random, CHOSEN_TIMES - 1),
        .tv_nsec = special != 0 ? special : (long)random_below(random, 1000000000)};
}

static void op_utimens(struct client *client, int side, struct random random, struct outcome *outcome) {
    char path[LONGEST_PATH];
    struct stat found;
    int root = draw_paths(client, side, &random, path, NULL), flags = (int)ONE_OF(&random, 0, AT_SYMLINK_NOFOLLOW);
    const struct timespec times[2] = {draw_time(&random), draw_time(&random)};
    describe(client, "%s %lx %lx", path, times[0].tv_nsec, times[1].tv_nsec);
    /* Looked at without its path, which may lead through the link itself: to follow a link is to read it. */
    int file = openat(root, path, O_PATH | O_CLOEXEC | (flags != 0 ? O_NOFOLLOW : 0));
    if (settle(outcome, utimensat(root, path, times, flags)) == 0 && settle(outcome, fstat(file, &found)) == 0) {
        copy_status(&found, &outcome->status);
        if (times[0].tv_nsec < 1000000000) outcome->digest = digest(0, &found.st_atim, sizeof found.st_atim);
    }
    if (file >= 0) close(file);
}

/* The names of user attributes, but for the drive's own. A sum, for the order is the file system's. */
static uint64_t attribute_names(const char *path) {
    char names[4096];
    ssize_t count = llistxattr(path, names, sizeof names);
    uint64_t all = count < 0 ? (uint64_t)errno : 0;
    for (ssize_t at = 0; at < count; at += (ssize_t)strlen(names + at) + 1)
        if (strncmp(names + at, "user.", 5) == 0 && strncmp(names + at, "user.quire.", 11) != 0)
            all += digest(1, names + at, strlen(names + at));
    return all;
}

static void op_xattr(struct client *client, int side, struct random random, struct outcome *outcome) {
    static const char *const names[] = {"user.a", "user.b", "user.with space", "user.\xff"};
    char path[LONGEST_PATH], full[LONGEST_PATH + 40], value[2000];
    int root = draw_paths(client, side, &random, path, NULL);
    snprintf(full, sizeof full, "/proc/self/fd/%d/%s", root, path);
    const char *name = names[random_below(&random, 4)];
    size_t size = (size_t)ONE_OF(&random, 0, 1, 50, 1000);
    int flags = (int)ONE_OF(&random, 0, XATTR_CREATE, XATTR_REPLACE), action = (int)random_below(&random, 4);
    random_fill(&random, value, size);
    describe(client, "%s %s action %d size %zu flags %d", path, name, action, size, flags);
    if (action == 0) settle(outcome, lremovexattr(full, name));
    else if (action == 1) settle(outcome, lgetxattr(full, name, value, size));
    else settle(outcome, lsetxattr(full, name, value, size, flags));
    ssize_t count = lgetxattr(full, name, value, sizeof value);
    outcome->digest = digest(attribute_names(full), value, count > 0 ? (size_t)count : 0);
}

static void op_truncate(struct client *client, int side, struct random random, struct outcome *outcome) {
    char path[LONGEST_PATH], full[LONGEST_PATH + 40];
    int root = draw_paths(client, side, &random, path, NULL);
    snprintf(full, sizeof full, "/proc/self/fd/%d/%s", root, path);
    off_t size = ONE_OF(&random, 0, 1, 4095, 4096, 10000, 65536, -1);
    describe(client, "%s %lld", path, (long long)size);
    settle(outcome, truncate(full, size));
    /* POSIX leaves open what becomes of the time when the size stays the same, and file systems differ. */
    const struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = 7}};
    if (outcome->result == 0) utimensat(root, path, times, 0);
    status_at(root, path, &outcome->status);
}

static void op_umask(struct client *client, int side, struct random random, struct outcome *outcome) {
    mode_t mask = (mode_t)ONE_OF(&random, 022, 022, 077, 02, 0);
    describe(client, "%o", mask);
    (void)side;
    umask(mask);
    outcome->result = 0;
}

const struct operations name_operations[] = {
    {"mkdir", 10, op_mkdir},       {"rmdir", 6, op_rmdir},     {"unlink", 6, op_unlink},
    {"rename", 14, op_rename},    {"link", 5, op_link},       {"symlink", 3, op_symlink},
    {"readlink", 2, op_readlink}, {"mknod", 2, op_mknod},     {"stat", 8, op_stat},
    {"list", 3, op_list},         {"list changing", 2, op_list_changing},
    {"chmod", 3, op_chmod},       {"chown", 2, op_chown},     {"utimens", 4, op_utimens},
    {"xattr", 5, op_xattr},       {"truncate", 4, op_truncate}, {"umask", 1, op_umask},
    {NULL, 0, NULL},
};
