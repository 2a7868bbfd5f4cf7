/* Processes that rename, unlink, create, link and exchange over one another's names.
 *
 * Every path is one to three of a few names, so that files, directories and symlinks take each other's places all the
 * time. Nobody knows what a call will meet; what is checked is that only errors come which another's change explains,
 * that every file read holds whole records, and at the end that listings, link counts and contents agree.
 */
#define _GNU_SOURCE
#include "stress.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { KINDS = 16, ERRORS = 140, RECORD = 64 };
enum kind {
    CREATE, APPEND, READ, RENAME, NOREPLACE, EXCHANGE, UNLINK, LINK, SYMLINK, MKDIR, RMDIR, STAT, LIST, CHMOD, TRUNCATE,
    XATTR
};
static const char *const kind_names[KINDS] = {
    "create", "append", "read",  "rename", "rename without replacing", "exchange", "unlink",   "link",
    "symlink", "mkdir", "rmdir", "stat",   "list",                     "chmod",    "truncate", "xattr"};
static const int weights[KINDS] = {16, 6, 8, 14, 3, 5, 12, 5, 3, 8, 6, 6, 4, 2, 2, 2};

/* How often each call ended how, of all processes. */
static struct tally {
    uint64_t counts[KINDS][ERRORS];
} *tally;

struct record {
    uint64_t process, number, check;
    uint64_t padding[RECORD / 8 - 3];
};

static void make_record(struct record *record, uint64_t process, uint64_t number) {
    record->process = process;
    record->number = number;
    record->check = (process * 0x9E3779B97F4A7C15u) ^ (number * 0xBF58476D1CE4E5B9u);
    for (size_t i = 0; i < sizeof record->padding / 8; i++) record->padding[i] = record->check + i;
}

static bool is_whole(const struct record *record) {
    struct record wanted;
    make_record(&wanted, record->process, record->number);
    return memcmp(&wanted, record, RECORD) == 0;
}

/* What another process's change can bring about; everything else is the drive's fault. */
static bool is_explained(enum kind kind, int code) {
    switch (code) {
    case 0: case ENOENT: case ENOTDIR: case ELOOP: return true;
    case EEXIST:
        return kind == CREATE || kind == NOREPLACE || kind == LINK || kind == SYMLINK || kind == MKDIR;
    case EISDIR:
        return kind == CREATE || kind == APPEND || kind == READ || kind == RENAME || kind == UNLINK || kind == TRUNCATE;
    case ENOTEMPTY: return kind == RENAME || kind == RMDIR;
    case EINVAL: return kind == RENAME || kind == NOREPLACE || kind == EXCHANGE; /* into itself */
    case EPERM: return kind == LINK || kind == XATTR;    /* a directory; a symlink */
    case ENODATA: return kind == XATTR;
    default: return false;
    }
}

static void draw_path(struct random *random, int names, char *path) {
    size_t depth = 1 + random_below(random, 3);
    for (size_t i = 0; i < depth; i++) {
        *path++ = (char)('a' + random_below(random, (uint64_t)names));
        *path++ = i + 1 < depth ? '/' : 0;
    }
}

static bool is_empty(const struct record *record) {
    static const struct record empty;
    return memcmp(record, &empty, RECORD) == 0;
}

/* 0, or the errno of a read; ends the process when a record is torn.
   While another process truncates the file, a page that the kernel fetches is already empty when it still believes in the
   old size (FUSE_I_SIZE_UNSTABLE): such a reader meets zeros where a disk would show it the old bytes. They never stay. */
static int read_records(int root, const char *path, bool is_quiet) {
    struct record records[64];
    int file = openat(root, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) return errno;
    ssize_t count = read(file, records, sizeof records);
    int code = count < 0 ? errno : 0;
    close(file);
    for (ssize_t i = 0; i < count / RECORD; i++)
        if (!is_whole(&records[i]) && !(is_empty(&records[i]) && !is_quiet)) {
            const uint64_t *words = (const uint64_t *)&records[i];
            fail(0, "%s: record %zd of %zd bytes is not whole: %llx %llx %llx … %llx", path, i, count,
                 (unsigned long long)words[0], (unsigned long long)words[1], (unsigned long long)words[2],
                 (unsigned long long)words[7]);
        }
    if (count > 0 && count % RECORD != 0) fail(0, "%s: %zd bytes are not whole records", path, count);
    return code;
}

static int write_record(int root, const char *path, int flags, uint64_t process, uint64_t number) {
    struct record record;
    make_record(&record, process, number);
    int file = openat(root, path, flags | O_CLOEXEC | O_NONBLOCK, 0644);
    if (file < 0) return errno;
    /* One call, and always at the end: another process may write here too. */
    ssize_t count = write(file, &record, RECORD);
    int code = count < 0 ? errno : 0;
    if (number % 16 == 0 && fsync(file) != 0) code = errno;
    if (close(file) != 0) code = errno;
    if (count >= 0 && count != RECORD) fail(0, "%s: wrote %zd bytes", path, count);
    return code;
}

static int list(int root, const char *path) {
    int file = openat(root, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (file < 0) return errno;
    DIR *directory = fdopendir(file);
    if (directory == NULL) fail(errno, "fdopendir");
    errno = 0;
    while (readdir(directory) != NULL) errno = 0;
    int code = errno;
    closedir(directory);
    return code;
}

static int perform(int root, enum kind kind, struct random *random, int names, int process, uint64_t number) {
    char path[16], other[16], value[8];
    draw_path(random, names, path);
    draw_path(random, names, other);
    int result = 0;
    switch (kind) {
    case CREATE:
        return write_record(root, path, O_WRONLY | O_APPEND | O_CREAT | (number % 3 ? O_EXCL : 0), (uint64_t)process, number);
    case APPEND: return write_record(root, path, O_RDWR | O_APPEND, (uint64_t)process, number);
    case READ: return read_records(root, path, false);
    case RENAME: result = renameat(root, path, root, other); break;
    case NOREPLACE: result = renameat2(root, path, root, other, RENAME_NOREPLACE); break;
    case EXCHANGE: result = renameat2(root, path, root, other, RENAME_EXCHANGE); break;
    case UNLINK: result = unlinkat(root, path, 0); break;
    case LINK: result = linkat(root, path, root, other, 0); break;
    case SYMLINK: result = symlinkat(number % 2 ? other : "nothing", root, path); break;
    case MKDIR: result = mkdirat(root, path, 0755); break;
    case RMDIR: result = unlinkat(root, path, AT_REMOVEDIR); break;
    case STAT: {
        struct stat status;
        result = fstatat(root, path, &status, number % 2 ? AT_SYMLINK_NOFOLLOW : 0);
        break;
    }
    case LIST: return list(root, path);
    case CHMOD: result = fchmodat(root, path, number % 2 ? 0700 : 0755, 0); break;
    case TRUNCATE: {
        int file = openat(root, path, O_WRONLY | O_CLOEXEC | O_NONBLOCK);
        if (file < 0) return errno;
        /* To nothing: growing would make zeros, which are no record. */
        int code = ftruncate(file, 0) ? errno : 0;
        close(file);
        return code;
    }
    case XATTR: {
        char full[64];
        snprintf(full, sizeof full, "/proc/self/fd/%d/%s", root, path);
        result = number % 2 ? lsetxattr(full, "user.storm", "value", 5, 0)
                            : (int)lgetxattr(full, "user.storm", value, sizeof value);
        if (result > 0) result = 0;
        break;
    }
    }
    return result == 0 ? 0 : errno;
}

static void run_process(int process, void *context) {
    const struct options *options = context;
    struct random random = {options->seed * 1000003u + (uint64_t)process};
    int names = options->files ? options->files : 6;
    int root = open(options->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (root < 0) fail(errno, "%s", options->directory);
    int total = 0;
    for (int i = 0; i < KINDS; i++) total += weights[i];
    double end = now() + options->seconds;
    for (uint64_t number = 0; options->operations ? number < options->operations : now() < end; number++) {
        int drawn = (int)random_below(&random, (uint64_t)total), kind = 0;
        while (drawn >= weights[kind]) drawn -= weights[kind++];
        int code = perform(root, (enum kind)kind, &random, names, process, number);
        __atomic_add_fetch(&tally->counts[kind][code < ERRORS ? code : ERRORS - 1], 1, __ATOMIC_RELAXED);
        if (!is_explained((enum kind)kind, code))
            fail(0, "process %d, operation %llu: %s: %s", process, (unsigned long long)number, kind_names[kind],
                 error_name(code));
    }
    close(root);
}

/* The files met in the final walk, by inode, with the links they say they have. */
struct seen {
    ino_t inode;
    nlink_t links, found;
    char path[600];
};
static struct seen *all_seen;
static size_t seen_count;

static void meet(const struct stat *status, const char *path) {
    for (size_t i = 0; i < seen_count; i++) {
        if (all_seen[i].inode != status->st_ino) continue;
        if (all_seen[i].links != status->st_nlink)
            fail(0, "%s has %lu links, %s the same file %lu", path, (unsigned long)status->st_nlink, all_seen[i].path,
                 (unsigned long)all_seen[i].links);
        all_seen[i].found++;
        return;
    }
    all_seen = realloc(all_seen, (seen_count + 1) * sizeof *all_seen);
    if (all_seen == NULL) fail(ENOMEM, "walk");
    struct seen *seen = &all_seen[seen_count++];
    *seen = (struct seen){status->st_ino, status->st_nlink, 1, ""};
    snprintf(seen->path, sizeof seen->path, "%s", path);
}

static void walk(int directory, const char *path) {
    DIR *stream = fdopendir(dup(directory));
    if (stream == NULL) fail(errno, "%s", path);
    nlink_t directories = 2;
    struct stat status;
    for (struct dirent *entry; (errno = 0, entry = readdir(stream)) != NULL;) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        char below[600];
        snprintf(below, sizeof below, "%s/%s", path, entry->d_name);
        if (fstatat(directory, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0) fail(errno, "%s is listed", below);
        if (status.st_ino != entry->d_ino)
            fail(0, "%s: inode %lu, listed as %lu", below, (unsigned long)status.st_ino, (unsigned long)entry->d_ino);
        if (entry->d_type != DT_UNKNOWN && (status.st_mode & S_IFMT) >> 12 != entry->d_type)
            fail(0, "%s: type %o, listed as %o", below, (status.st_mode & S_IFMT) >> 12, entry->d_type);
        if (S_ISDIR(status.st_mode)) {
            directories++;
            int next = openat(directory, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
            if (next < 0) fail(errno, "%s", below);
            walk(next, below);
            close(next);
        } else {
            meet(&status, below);
            int code = S_ISREG(status.st_mode) ? read_records(directory, entry->d_name, true) : 0;
            if (code != 0) fail(code, "reading %s", below);
        }
    }
    if (errno != 0) fail(errno, "listing %s", path);
    closedir(stream);
    if (fstat(directory, &status) != 0) fail(errno, "%s", path);
    /* 1: a file system that does not count (btrfs). */
    if (status.st_nlink != directories && status.st_nlink != 1)
        fail(0, "%s: %lu links, %lu counted", path, (unsigned long)status.st_nlink, (unsigned long)directories);
}

/* Returns how many processes ended badly. */
static int storm(const struct options *options) {
    double start = now();
    tally = mmap(NULL, sizeof *tally, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (tally == MAP_FAILED) fail(errno, "mmap");
    int bad = in_processes(options->processes, run_process, (void *)options, NULL);
    uint64_t all = 0;
    for (int kind = 0; kind < KINDS; kind++) {
        printf("  %-26s", kind_names[kind]);
        for (int code = 0; code < ERRORS; code++) {
            uint64_t count = tally->counts[kind][code];
            all += count;
            if (count) printf(" %s %llu", code ? error_name(code) : "ok", (unsigned long long)count);
        }
        printf("\n");
    }
    printf("%d processes, %llu operations, %.1f s, %d ended badly\n", options->processes, (unsigned long long)all,
           now() - start, bad);
    return bad;
}

int run_names(const struct options *options) {
    int bad = storm(options);
    int root = open(options->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (root < 0) fail(errno, "%s", options->directory);
    walk(root, ".");
    for (size_t i = 0; i < seen_count; i++)
        if (all_seen[i].found != all_seen[i].links)
            fail(0, "%s has %lu links, %lu names were found", all_seen[i].path, (unsigned long)all_seen[i].links,
                 (unsigned long)all_seen[i].found);
    printf("%zu files left\n", seen_count);
    return bad ? 1 : 0;
}

int run_shared(const struct options *options) { return storm(options) ? 1 : 0; }
