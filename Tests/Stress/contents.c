/* Random operations on the content of a few files, each compared with a model in memory.
 *
 * Names, files and descriptors are apart: a file may have several names, none, and several descriptors with different
 * flags. Each operation draws its parameters from (seed, number), so any subset of a run can be repeated: a difference
 * is shrunk to few operations before it is told.
 */
#define _GNU_SOURCE
#include "stress.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum { MOST_NAMES = 16, MOST_FILES = 64, MOST_HANDLES = 12, PAGE = 4096, HISTORY = 60, LINE = 160 };

struct file {
    uint8_t *content; /* zero from `size` on */
    size_t size;
    int names, handles;
    uint8_t *mapping; /* shared and writable, of the largest size; or NULL */
    bool used;
};

struct handle {
    int descriptor, flags;
    off_t position;
    struct file *file;
    bool was_opened_to_append;
};

static struct {
    size_t limit;
    int name_count;
    char directory[400];
    struct file files[MOST_FILES];
    struct file *names[MOST_NAMES];
    struct handle handles[MOST_HANDLES];
    int handle_count;
    struct random random;
    uint64_t number;
    uint8_t *buffer, *other; /* page aligned, of twice the limit */
    char history[HISTORY][LINE];
    uint64_t history_end;
    bool quiet;
    char difference[1000];
    jmp_buf different;
} run;

static struct {
    const char *name;
    uint64_t done, refused;
} counts[64];

/* Notes what is about to be done; shown when it differs. */
__attribute__((format(printf, 1, 2))) static void note(const char *format, ...) {
    char *line = run.history[run.history_end++ % HISTORY];
    int length = snprintf(line, LINE, "%llu: ", (unsigned long long)run.number);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line + length, (size_t)(LINE - length), format, arguments);
    va_end(arguments);
}

__attribute__((format(printf, 1, 2))) static _Noreturn void differ(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(run.difference, sizeof run.difference, format, arguments);
    va_end(arguments);
    longjmp(run.different, 1);
}

static size_t below(size_t limit) { return limit == 0 ? 0 : (size_t)random_below(&run.random, limit); }
static bool chance(int percent) { return below(100) < (size_t)percent; }

static const char *path_of(int name) {
    static char paths[2][450];
    static int next;
    char *path = paths[next++ % 2];
    snprintf(path, sizeof paths[0], "%s/f%d", run.directory, name);
    return path;
}

static int index_of(const struct handle *handle) { return (int)(handle - run.handles); }
static bool reads(const struct handle *handle) { return (handle->flags & O_ACCMODE) != O_WRONLY; }
static bool writes(const struct handle *handle) { return (handle->flags & O_ACCMODE) != O_RDONLY; }

/* A place and a length within the largest size; often at a page's edge, often near the end of the file. */
static void draw_range(const struct file *file, size_t *offset, size_t *length) {
    size_t start = chance(30) ? below(file->size + 1) : below(run.limit);
    if (chance(30)) start &= ~(size_t)(PAGE - 1);
    size_t most = chance(70) ? 5000 : run.limit;
    size_t count = 1 + below(most);
    if (chance(20)) count = (count + PAGE - 1) & ~(size_t)(PAGE - 1);
    if (start + count > run.limit) count = run.limit - start;
    *offset = start;
    *length = count;
}

static struct file *new_file(void) {
    for (int i = 0; i < MOST_FILES; i++) {
        struct file *file = &run.files[i];
        if (file->used) continue;
        if (file->content == NULL) file->content = malloc(run.limit);
        if (file->content == NULL) fail(errno, "no memory");
        memset(file->content, 0, run.limit);
        *file = (struct file){.content = file->content, .used = true};
        return file;
    }
    fail(0, "too many files");
}

static void drop_mapping(struct file *file) {
    if (file->mapping != NULL && munmap(file->mapping, run.limit) != 0) differ("munmap: %s", error_name(errno));
    file->mapping = NULL;
}

static void drop_if_unused(struct file *file) {
    if (file->names > 0 || file->handles > 0) return;
    drop_mapping(file);
    file->used = false;
}

static void set_size(struct file *file, size_t size) {
    if (size < file->size) memset(file->content + size, 0, file->size - size);
    file->size = size;
}

static void store(struct file *file, size_t offset, const void *bytes, size_t count) {
    if (count == 0) return;
    memcpy(file->content + offset, bytes, count);
    if (offset + count > file->size) file->size = offset + count;
}

static void compare(const struct file *file, size_t offset, const uint8_t *found, size_t count, const char *how) {
    const uint8_t *wanted = file->content + offset;
    if (memcmp(wanted, found, count) == 0) return;
    size_t first = 0, last = count - 1;
    while (wanted[first] == found[first]) first++;
    while (wanted[last] == found[last]) last--;
    differ(
        "%s: bytes %zu…%zu of a file of %zu differ: wanted %02x %02x %02x %02x, found %02x %02x %02x %02x", how,
        offset + first, offset + last, file->size, wanted[first], first + 1 < count ? wanted[first + 1] : 0,
        first + 2 < count ? wanted[first + 2] : 0, first + 3 < count ? wanted[first + 3] : 0, found[first],
        first + 1 < count ? found[first + 1] : 0, first + 2 < count ? found[first + 2] : 0,
        first + 3 < count ? found[first + 3] : 0);
}

/* What a read of `count` bytes at `offset` has to return. */
static size_t readable(const struct file *file, size_t offset, size_t count) {
    if (offset >= file->size) return 0;
    return count < file->size - offset ? count : file->size - offset;
}

static void expect_error(const char *what, ssize_t result, int code) {
    if (result >= 0) differ("%s: succeeded with %zd, wanted %s", what, result, error_name(code));
    if (errno != code) differ("%s: %s, wanted %s", what, error_name(errno), error_name(code));
}

static void expect_count(const char *what, ssize_t result, size_t count) {
    if (result < 0) differ("%s: %s, wanted %zu", what, error_name(errno), count);
    if ((size_t)result != count) differ("%s: %zd, wanted %zu", what, result, count);
}

static void expect_done(const char *what, int result) {
    if (result != 0) differ("%s: %s", what, error_name(errno));
}

static void expect_size(struct handle *handle) {
    struct stat status;
    expect_done("fstat", fstat(handle->descriptor, &status));
    if ((size_t)status.st_size != handle->file->size)
        differ("fstat: size %lld, wanted %zu", (long long)status.st_size, handle->file->size);
    if ((int)status.st_nlink != handle->file->names)
        differ("fstat: %d links, wanted %d", (int)status.st_nlink, handle->file->names);
}

static struct handle *some_handle(void) {
    return run.handle_count == 0 ? NULL : &run.handles[below((size_t)run.handle_count)];
}

static struct handle *some_handle_that(bool (*suits)(const struct handle *handle)) {
    if (run.handle_count == 0) return NULL;
    size_t start = below((size_t)run.handle_count);
    for (int i = 0; i < run.handle_count; i++) {
        struct handle *handle = &run.handles[(start + (size_t)i) % (size_t)run.handle_count];
        if (suits(handle)) return handle;
    }
    return NULL;
}

static bool is_ordinary(const struct handle *handle) { return (handle->flags & O_DIRECT) == 0; }
static bool reads_ordinarily(const struct handle *handle) { return reads(handle) && is_ordinary(handle); }
static bool is_direct(const struct handle *handle) { return (handle->flags & O_DIRECT) != 0; }
static bool can_map(const struct handle *handle) { return (handle->flags & O_ACCMODE) == O_RDWR; }

static bool do_open(void) {
    static const int extra[] = {0, 0, 0, 0, O_APPEND, O_SYNC, O_DSYNC, O_DIRECT, O_NOATIME};
    static const int access_modes[] = {O_RDWR, O_RDWR, O_RDWR, O_RDONLY, O_WRONLY};
    if (run.handle_count == MOST_HANDLES) return false;
    int name = (int)below((size_t)run.name_count);
    int flags = access_modes[below(5)] | extra[below(9)];
    if (chance(70)) flags |= O_CREAT;
    if (chance(5)) flags |= O_EXCL | O_CREAT;
    if (chance(5) && (flags & O_ACCMODE) != O_RDONLY) flags |= O_TRUNC;
    struct file *file = run.names[name];
    note("open(f%d, %#o)", name, flags);
    int descriptor = open(path_of(name), flags | O_CLOEXEC, 0644);
    if (descriptor < 0 && errno == EINVAL && (flags & O_DIRECT)) {
        /* Not every file system has it. What was to be created is there all the same. */
        if (file == NULL && (flags & O_CREAT) && access(path_of(name), F_OK) == 0) {
            run.names[name] = new_file();
            run.names[name]->names = 1;
        }
        return false;
    }
    if (file == NULL && !(flags & O_CREAT)) return expect_error("open", descriptor, ENOENT), true;
    if (file != NULL && (flags & O_EXCL)) return expect_error("open", descriptor, EEXIST), true;
    if (descriptor < 0) differ("open: %s", error_name(errno));
    if (file == NULL) {
        file = run.names[name] = new_file();
        file->names = 1;
    }
    if (flags & O_TRUNC) set_size(file, 0);
    file->handles++;
    run.handles[run.handle_count++] =
        (struct handle){descriptor, flags & ~(O_CREAT | O_EXCL | O_TRUNC), 0, file, (flags & O_APPEND) != 0};
    expect_size(&run.handles[run.handle_count - 1]);
    return true;
}

/* A second open file of the same file, through the first one's descriptor: it may have no name any more. */
static bool do_reopen(void) {
    struct handle *handle = some_handle();
    if (handle == NULL || run.handle_count == MOST_HANDLES) return false;
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", handle->descriptor);
    note("open(#%d again)", index_of(handle));
    int descriptor = open(path, O_RDWR | O_CLOEXEC);
    if (descriptor < 0) differ("open of /proc/self/fd: %s", error_name(errno));
    handle->file->handles++;
    run.handles[run.handle_count++] = (struct handle){descriptor, O_RDWR, 0, handle->file, false};
    expect_size(&run.handles[run.handle_count - 1]);
    return true;
}

static bool do_close(void) {
    struct handle *handle = some_handle();
    if (handle == NULL) return false;
    note("close(#%d)", index_of(handle));
    if (chance(30)) {
        int other = dup(handle->descriptor);
        if (other < 0) differ("dup: %s", error_name(errno));
        expect_done("close of a duplicate", close(other));
    }
    struct file *file = handle->file;
    int descriptor = handle->descriptor;
    *handle = run.handles[--run.handle_count];
    file->handles--;
    drop_if_unused(file);
    expect_done("close", close(descriptor));
    return true;
}

/* The kernel opens its own file behind a passthrough handle with the flags of open(2) and does not hear of O_APPEND
   being taken away later: Documentation/Semantics.md. It can be given, and what was given can be taken away. */
static bool can_change_appending(const struct handle *handle) {
    return is_ordinary(handle) && !handle->was_opened_to_append;
}

static bool do_set_flags(void) {
    struct handle *handle = some_handle_that(can_change_appending);
    if (handle == NULL) return false;
    handle->flags ^= O_APPEND;
    note("fcntl(#%d, F_SETFL, %s)", index_of(handle), handle->flags & O_APPEND ? "O_APPEND" : "0");
    expect_done("F_SETFL", fcntl(handle->descriptor, F_SETFL, handle->flags & (O_APPEND | O_NOATIME)));
    return true;
}

static bool do_read(void) {
    struct handle *handle = some_handle_that(is_ordinary);
    if (handle == NULL) return false;
    size_t offset, count, half;
    draw_range(handle->file, &offset, &count);
    ssize_t result;
    size_t way = below(3);
    note("%s(#%d, %zu, %zu)", way == 0 ? "pread" : way == 1 ? "preadv" : "lseek, read", index_of(handle), offset, count);
    if (way == 0) {
        result = pread(handle->descriptor, run.buffer, count, (off_t)offset);
    } else if (way == 1) {
        half = below(count);
        struct iovec parts[2] = {{run.buffer, half}, {run.buffer + half, count - half}};
        result = preadv(handle->descriptor, parts, 2, (off_t)offset);
    } else {
        expect_count("lseek", lseek(handle->descriptor, (off_t)offset, SEEK_SET), offset);
        handle->position = (off_t)offset;
        result = read(handle->descriptor, run.buffer, count);
    }
    if (!reads(handle)) return expect_error("read", result, EBADF), true;
    expect_count("read", result, readable(handle->file, offset, count));
    compare(handle->file, offset, run.buffer, (size_t)result, "read");
    if (way == 2) handle->position += result;
    return true;
}

static bool do_write(void) {
    struct handle *handle = some_handle_that(is_ordinary);
    if (handle == NULL) return false;
    size_t offset, count;
    draw_range(handle->file, &offset, &count);
    size_t way = below(5);
    static const char *const names[] = {"pwrite", "pwritev", "write", "pwritev2 to the end", "lseek to the end, write"};
    if (way == 4) offset = handle->file->size;
    if ((handle->flags & O_APPEND) || way == 3) offset = handle->file->size;
    if (offset + count > run.limit) count = run.limit - offset;
    if (count == 0) return false;
    note("%s(#%d%s, %zu, %zu)", names[way], index_of(handle), handle->flags & O_APPEND ? " appending" : "", offset, count);
    random_fill(&run.random, run.buffer, count);
    size_t half = below(count);
    struct iovec parts[2] = {{run.buffer, half}, {run.buffer + half, count - half}};
    /* An appending descriptor writes at the end whatever it is told. */
    size_t told = handle->flags & O_APPEND ? below(run.limit) : offset;
    ssize_t result;
    switch (way) {
    case 0: result = pwrite(handle->descriptor, run.buffer, count, (off_t)told); break;
    case 1: result = pwritev(handle->descriptor, parts, 2, (off_t)told); break;
    case 3: result = pwritev2(handle->descriptor, parts, 2, (off_t)told, RWF_APPEND); break;
    default:
        told = way == 4 ? offset : told;
        off_t at = way == 4 ? lseek(handle->descriptor, 0, SEEK_END) : lseek(handle->descriptor, (off_t)told, SEEK_SET);
        expect_count("lseek", at, told);
        handle->position = at;
        result = write(handle->descriptor, run.buffer, count);
    }
    if (!writes(handle)) return expect_error("write", result, EBADF), true;
    expect_count("write", result, count);
    store(handle->file, offset, run.buffer, count);
    if (way == 2 || way == 4) handle->position = (off_t)(offset + count);
    if (lseek(handle->descriptor, 0, SEEK_CUR) != handle->position)
        differ(
            "position %lld, wanted %lld", (long long)lseek(handle->descriptor, 0, SEEK_CUR),
            (long long)handle->position);
    return true;
}

/* Past the page cache, in whole pages. */
static bool do_direct(void) {
    struct handle *handle = some_handle_that(is_direct);
    if (handle == NULL) return false;
    struct file *file = handle->file;
    size_t offset, count;
    draw_range(file, &offset, &count);
    offset &= ~(size_t)(PAGE - 1);
    count = (count + PAGE - 1) & ~(size_t)(PAGE - 1);
    if (offset + count > run.limit) count = run.limit - offset;
    if (count == 0) return false;
    if (chance(50)) {
        note("pread(#%d direct, %zu, %zu)", index_of(handle), offset, count);
        ssize_t result = pread(handle->descriptor, run.buffer, count, (off_t)offset);
        if (!reads(handle)) return expect_error("read", result, EBADF), true;
        expect_count("read", result, readable(file, offset, count));
        compare(file, offset, run.buffer, (size_t)result, "direct read");
        return true;
    }
    note("pwrite(#%d direct, %zu, %zu)", index_of(handle), offset, count);
    random_fill(&run.random, run.buffer, count);
    ssize_t result = pwrite(handle->descriptor, run.buffer, count, (off_t)offset);
    if (!writes(handle)) return expect_error("write", result, EBADF), true;
    expect_count("write", result, count);
    store(file, offset, run.buffer, count);
    return true;
}

/* A mapping for one use. */
static bool do_map(void) {
    struct handle *handle = some_handle_that(can_map);
    if (handle == NULL || handle->file->size == 0) return false;
    struct file *file = handle->file;
    size_t offset, count;
    draw_range(file, &offset, &count);
    if (offset >= file->size) offset = below(file->size);
    count = readable(file, offset, count);
    size_t start = offset & ~(size_t)(PAGE - 1);
    bool is_write = chance(60), is_private = !is_write && chance(30);
    int synchronization = (int)below(3);
    note("mmap(#%d%s) and %s(%zu, %zu)%s", index_of(handle), is_private ? " private" : "", is_write ? "write" : "read",
         offset, count, is_write && synchronization == 0 ? " and msync" : "");
    uint8_t *memory = mmap(
        NULL, offset + count - start, PROT_READ | PROT_WRITE, is_private ? MAP_PRIVATE : MAP_SHARED, handle->descriptor,
        (off_t)start);
    if (memory == MAP_FAILED) differ("mmap: %s", error_name(errno));
    compare(file, offset, memory + (offset - start), count, "mapping");
    if (is_write) {
        random_fill(&run.random, run.buffer, count);
        memcpy(memory + (offset - start), run.buffer, count);
        store(file, offset, run.buffer, count);
        if (synchronization < 2)
            expect_done("msync", msync(memory, offset + count - start, synchronization == 0 ? MS_SYNC : MS_ASYNC));
    }
    expect_done("munmap", munmap(memory, offset + count - start));
    return true;
}

/* A mapping that stays while the file changes in other ways, and while its descriptors are closed. */
static bool do_keep_map(void) {
    struct handle *handle = some_handle_that(can_map);
    if (handle == NULL) return false;
    struct file *file = handle->file;
    if (file->mapping == NULL) {
        note("mmap(#%d) to keep", index_of(handle));
        uint8_t *memory = mmap(NULL, run.limit, PROT_READ | PROT_WRITE, MAP_SHARED, handle->descriptor, 0);
        if (memory == MAP_FAILED) differ("mmap: %s", error_name(errno));
        file->mapping = memory;
        return true;
    }
    if (chance(5)) {
        note("munmap(kept of #%d)", index_of(handle));
        drop_mapping(file);
        return true;
    }
    if (file->size == 0) return false;
    size_t offset, count;
    draw_range(file, &offset, &count);
    if (offset >= file->size) offset = below(file->size);
    count = readable(file, offset, count);
    bool is_write = chance(50);
    note("%s(kept map of #%d, %zu, %zu)", is_write ? "write" : "read", index_of(handle), offset, count);
    compare(file, offset, file->mapping + offset, count, "kept mapping");
    if (!is_write) return true;
    random_fill(&run.random, run.buffer, count);
    memcpy(file->mapping + offset, run.buffer, count);
    store(file, offset, run.buffer, count);
    size_t start = offset & ~(size_t)(PAGE - 1);
    if (chance(30)) expect_done("msync", msync(file->mapping + start, offset + count - start, MS_SYNC));
    return true;
}

static bool do_truncate(void) {
    struct handle *handle = some_handle();
    if (handle == NULL) return false;
    size_t size = chance(10) ? 0 : chance(30) ? below(handle->file->size + 1) : below(run.limit + 1);
    if (chance(20)) size &= ~(size_t)(PAGE - 1);
    note("ftruncate(#%d, %zu)", index_of(handle), size);
    int result = ftruncate(handle->descriptor, (off_t)size);
    if (!writes(handle)) return expect_error("ftruncate", result, EINVAL), true;
    expect_done("ftruncate", result);
    set_size(handle->file, size);
    expect_size(handle);
    return true;
}

static bool do_truncate_path(void) {
    int name = (int)below((size_t)run.name_count);
    size_t size = below(run.limit + 1);
    note("truncate(f%d, %zu)", name, size);
    int result = truncate(path_of(name), (off_t)size);
    if (run.names[name] == NULL) return expect_error("truncate", result, ENOENT), true;
    expect_done("truncate", result);
    set_size(run.names[name], size);
    return true;
}

static bool do_allocate(void) {
    static const struct {
        int mode;
        const char *name;
    } modes[] = {
        {0, "allocate"}, {FALLOC_FL_KEEP_SIZE, "allocate, keeping the size"},
        {FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, "punch"}, {FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, "punch"},
        {FALLOC_FL_ZERO_RANGE, "zero"}, {FALLOC_FL_ZERO_RANGE | FALLOC_FL_KEEP_SIZE, "zero, keeping the size"},
        {FALLOC_FL_COLLAPSE_RANGE, "collapse"}, {FALLOC_FL_INSERT_RANGE, "insert"},
    };
    struct handle *handle = some_handle();
    if (handle == NULL) return false;
    struct file *file = handle->file;
    size_t kind = below(sizeof modes / sizeof modes[0]);
    int mode = modes[kind].mode;
    size_t offset, count;
    draw_range(file, &offset, &count);
    bool shifts = mode == FALLOC_FL_COLLAPSE_RANGE || mode == FALLOC_FL_INSERT_RANGE;
    if (shifts) {
        offset &= ~(size_t)(PAGE - 1);
        count = (count + PAGE - 1) & ~(size_t)(PAGE - 1);
        if (mode == FALLOC_FL_INSERT_RANGE && file->size + count > run.limit) return false;
        if (mode == FALLOC_FL_INSERT_RANGE && offset >= file->size) return false;
        if (mode == FALLOC_FL_COLLAPSE_RANGE && offset + count >= file->size) return false;
    }
    if (count == 0) return false;
    note("fallocate(#%d, %s, %zu, %zu)", index_of(handle), modes[kind].name, offset, count);
    int result = fallocate(handle->descriptor, mode, (off_t)offset, (off_t)count);
    if (!writes(handle)) return expect_error("fallocate", result, EBADF), true;
    if (result != 0 && errno == EOPNOTSUPP) return false;
    expect_done("fallocate", result);
    if (mode == FALLOC_FL_COLLAPSE_RANGE) {
        memmove(file->content + offset, file->content + offset + count, file->size - offset - count);
        set_size(file, file->size - count);
    } else if (mode == FALLOC_FL_INSERT_RANGE) {
        memmove(file->content + offset + count, file->content + offset, file->size - offset);
        memset(file->content + offset, 0, count);
        file->size += count;
    } else {
        if (mode & (FALLOC_FL_PUNCH_HOLE | FALLOC_FL_ZERO_RANGE)) memset(file->content + offset, 0, count);
        if (!(mode & FALLOC_FL_KEEP_SIZE) && offset + count > file->size) file->size = offset + count;
    }
    expect_size(handle);
    return true;
}

static bool overlaps(size_t a, size_t b, size_t count) { return a < b + count && b < a + count; }

static bool do_copy(void) {
    struct handle *source = some_handle_that(is_ordinary), *target = some_handle_that(is_ordinary);
    if (source == NULL || target == NULL) return false;
    size_t from, to, count, ignored;
    draw_range(source->file, &from, &count);
    draw_range(target->file, &to, &ignored);
    if (to + count > run.limit) count = run.limit - to;
    if (count == 0) return false;
    note("copy_file_range(#%d at %zu, #%d at %zu, %zu)", index_of(source), from, index_of(target), to, count);
    off_t source_offset = (off_t)from, target_offset = (off_t)to;
    ssize_t result = copy_file_range(source->descriptor, &source_offset, target->descriptor, &target_offset, count, 0);
    if (!reads(source) || !writes(target) || (target->flags & O_APPEND))
        return expect_error("copy_file_range", result, EBADF), true;
    size_t there = readable(source->file, from, count);
    if (source->file == target->file && overlaps(from, to, there) && result < 0 && errno == EINVAL) return true;
    if (result < 0) differ("copy_file_range: %s", error_name(errno));
    if ((size_t)result > there || (result == 0 && there > 0)) differ("copy_file_range: %zd of %zu", result, there);
    if (source_offset != (off_t)from + result || target_offset != (off_t)to + result)
        differ("copy_file_range moved its offsets to %lld and %lld", (long long)source_offset, (long long)target_offset);
    memcpy(run.buffer, source->file->content + from, (size_t)result);
    store(target->file, to, run.buffer, (size_t)result);
    expect_size(target);
    return true;
}

static bool can_be_sent_to(const struct handle *handle) {
    return writes(handle) && is_ordinary(handle) && (handle->flags & O_APPEND) == 0;
}

static bool do_send(void) {
    struct handle *source = some_handle_that(reads_ordinarily), *target = some_handle_that(can_be_sent_to);
    if (source == NULL || target == NULL || source->file == target->file) return false;
    size_t from, to, count, ignored;
    draw_range(source->file, &from, &count);
    draw_range(target->file, &to, &ignored);
    if (to + count > run.limit) count = run.limit - to;
    if (count == 0) return false;
    bool splices = chance(50);
    note("%s(#%d at %zu, #%d at %zu, %zu)", splices ? "splice" : "sendfile", index_of(source), from, index_of(target),
         to, count);
    size_t there = readable(source->file, from, count);
    off_t source_offset = (off_t)from, target_offset = (off_t)to;
    ssize_t result;
    if (splices) {
        int pipes[2];
        expect_done("pipe", pipe(pipes));
        ssize_t filled = splice(source->descriptor, &source_offset, pipes[1], NULL, count, SPLICE_F_NONBLOCK);
        result = filled;
        if (filled > 0) {
            for (result = 0; result < filled;) {
                ssize_t part =
                    splice(pipes[0], NULL, target->descriptor, &target_offset, (size_t)(filled - result), 0);
                if (part <= 0) differ("splice to a file: %s", part == 0 ? "0" : error_name(errno));
                result += part;
            }
        }
        close(pipes[0]);
        close(pipes[1]);
    } else {
        expect_count("lseek", lseek(target->descriptor, (off_t)to, SEEK_SET), to);
        result = sendfile(target->descriptor, source->descriptor, &source_offset, count);
        target->position = (off_t)to + (result > 0 ? result : 0);
    }
    if (result < 0) differ("%s: %s", splices ? "splice" : "sendfile", error_name(errno));
    if ((size_t)result > there || (result == 0 && there > 0)) differ("sent %zd of %zu", result, there);
    store(target->file, to, source->file->content + from, (size_t)result);
    expect_size(target);
    return true;
}

static bool is_zero(const uint8_t *bytes, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (bytes[i] != 0) return false;
    return true;
}

static bool do_seek(void) {
    struct handle *handle = some_handle();
    if (handle == NULL) return false;
    struct file *file = handle->file;
    size_t offset = below(run.limit);
    bool wants_data = chance(50);
    note("lseek(#%d, %zu, %s)", index_of(handle), offset, wants_data ? "SEEK_DATA" : "SEEK_HOLE");
    off_t result = lseek(handle->descriptor, (off_t)offset, wants_data ? SEEK_DATA : SEEK_HOLE);
    int code = errno;
    if (lseek(handle->descriptor, handle->position, SEEK_SET) != handle->position) differ("lseek back");
    errno = code;
    if (offset >= file->size) return expect_error("lseek", result, ENXIO), true;
    if (wants_data) {
        if (result < 0 && errno != ENXIO) differ("lseek: %s", error_name(errno));
        size_t found = result < 0 ? file->size : (size_t)result;
        if (found < offset || found > file->size) differ("data at %zu, after %zu", found, offset);
        if (!is_zero(file->content + offset, found - offset)) differ("data before %zu was skipped", found);
    } else {
        if (result < 0) differ("lseek: %s", error_name(errno));
        if ((size_t)result < offset || (size_t)result > file->size)
            differ("a hole at %lld, after %zu", (long long)result, offset);
        size_t part = PAGE - (size_t)result % PAGE;
        if (part > file->size - (size_t)result) part = file->size - (size_t)result;
        if (!is_zero(file->content + result, part)) differ("the hole at %lld has data", (long long)result);
    }
    return true;
}

static bool do_synchronize(void) {
    struct handle *handle = some_handle();
    if (handle == NULL) return false;
    size_t way = below(4);
    static const char *const names[] = {"fsync", "fdatasync", "sync_file_range", "fadvise(DONTNEED)"};
    note("%s(#%d)", names[way], index_of(handle));
    int result;
    switch (way) {
    case 0: result = fsync(handle->descriptor); break;
    case 1: result = fdatasync(handle->descriptor); break;
    case 2:
        result = sync_file_range(
            handle->descriptor, 0, 0,
            SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER);
        break;
    default:
        result = fdatasync(handle->descriptor);
        if (result == 0) result = posix_fadvise(handle->descriptor, 0, 0, POSIX_FADV_DONTNEED);
    }
    expect_done(names[way], result);
    return true;
}

static void unname(int name) {
    struct file *file = run.names[name];
    if (file == NULL) return;
    run.names[name] = NULL;
    file->names--;
    drop_if_unused(file);
}

static bool do_unlink(void) {
    int name = (int)below((size_t)run.name_count);
    note("unlink(f%d)", name);
    int result = unlink(path_of(name));
    if (run.names[name] == NULL) return expect_error("unlink", result, ENOENT), true;
    expect_done("unlink", result);
    unname(name);
    return true;
}

static bool do_link(void) {
    int from = (int)below((size_t)run.name_count), to = (int)below((size_t)run.name_count);
    note("link(f%d, f%d)", from, to);
    int result = link(path_of(from), path_of(to));
    if (run.names[from] == NULL) return expect_error("link", result, ENOENT), true;
    if (run.names[to] != NULL) return expect_error("link", result, EEXIST), true;
    expect_done("link", result);
    run.names[to] = run.names[from];
    run.names[to]->names++;
    return true;
}

static bool do_rename(void) {
    int from = (int)below((size_t)run.name_count), to = (int)below((size_t)run.name_count);
    unsigned flags = chance(60) ? 0 : chance(50) ? RENAME_NOREPLACE : RENAME_EXCHANGE;
    note("rename(f%d, f%d, %u)", from, to, flags);
    int result = renameat2(AT_FDCWD, path_of(from), AT_FDCWD, path_of(to), flags);
    struct file *source = run.names[from], *target = run.names[to];
    if (source == NULL) return expect_error("rename", result, ENOENT), true;
    if (flags == RENAME_EXCHANGE && target == NULL) return expect_error("rename", result, ENOENT), true;
    if (flags == RENAME_NOREPLACE && target != NULL) return expect_error("rename", result, EEXIST), true;
    expect_done("rename", result);
    if (source == target) return true;
    run.names[to] = source;
    if (flags == RENAME_EXCHANGE) {
        run.names[from] = target;
        return true;
    }
    run.names[from] = NULL;
    if (target == NULL) return true;
    target->names--;
    drop_if_unused(target);
    return true;
}

/* The whole file, through one descriptor of each way to read. */
static bool do_verify(void) {
    struct handle *handle = some_handle_that(reads_ordinarily);
    if (handle == NULL) return false;
    note("read(#%d whole)", index_of(handle));
    ssize_t result = pread(handle->descriptor, run.buffer, run.limit + 1, 0);
    expect_count("read", result, handle->file->size);
    compare(handle->file, 0, run.buffer, (size_t)result, "the whole");
    if (handle->file->mapping != NULL && handle->file->size > 0)
        compare(handle->file, 0, handle->file->mapping, handle->file->size, "the whole kept mapping");
    return true;
}

static bool do_verify_path(void) {
    int name = (int)below((size_t)run.name_count);
    struct file *file = run.names[name];
    struct stat status;
    note("stat and read f%d", name);
    int result = lstat(path_of(name), &status);
    if (file == NULL) return expect_error("lstat", result, ENOENT), true;
    expect_done("lstat", result);
    if ((size_t)status.st_size != file->size)
        differ("lstat: size %lld, wanted %zu", (long long)status.st_size, file->size);
    if ((int)status.st_nlink != file->names) differ("lstat: %d links, wanted %d", (int)status.st_nlink, file->names);
    int descriptor = open(path_of(name), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) differ("open: %s", error_name(errno));
    ssize_t count = read(descriptor, run.buffer, run.limit + 1);
    int code = errno;
    close(descriptor);
    errno = code;
    expect_count("read", count, file->size);
    compare(file, 0, run.buffer, (size_t)count, "the whole by name");
    return true;
}

static const struct {
    const char *name;
    int weight;
    bool (*perform)(void);
} operations[] = {
    {"read", 24, do_read},
    {"write", 24, do_write},
    {"direct", 8, do_direct},
    {"map", 8, do_map},
    {"kept map", 12, do_keep_map},
    {"ftruncate", 4, do_truncate},
    {"truncate", 1, do_truncate_path},
    {"fallocate", 6, do_allocate},
    {"copy_file_range", 4, do_copy},
    {"sendfile, splice", 4, do_send},
    {"seek", 5, do_seek},
    {"fsync", 2, do_synchronize},
    {"open", 5, do_open},
    {"open again", 2, do_reopen},
    {"close", 6, do_close},
    {"F_SETFL", 1, do_set_flags},
    {"rename", 2, do_rename},
    {"link", 1, do_link},
    {"unlink", 1, do_unlink},
    {"verify", 1, do_verify},
    {"verify by name", 1, do_verify_path},
};
enum { KINDS = sizeof operations / sizeof operations[0] };

static void perform(uint64_t seed, uint64_t number) {
    static int total;
    if (total == 0)
        for (int i = 0; i < KINDS; i++) total += operations[i].weight;
    struct random mixed = {seed ^ (number * 0xD1342543DE82EF95u)};
    run.random.state = random_next(&mixed);
    run.number = number;
    int drawn = (int)below((size_t)total), kind = 0;
    while (drawn >= operations[kind].weight) drawn -= operations[kind++].weight;
    if (operations[kind].perform())
        counts[kind].done++;
    else
        counts[kind].refused++;
}

/* Closes and removes everything, checking nothing. */
static void clear(void) {
    for (int i = 0; i < run.handle_count; i++) close(run.handles[i].descriptor);
    run.handle_count = 0;
    for (int i = 0; i < MOST_FILES; i++) {
        if (run.files[i].mapping != NULL) munmap(run.files[i].mapping, run.limit);
        run.files[i].mapping = NULL;
        run.files[i].used = false;
    }
    for (int i = 0; i < run.name_count; i++) {
        run.names[i] = NULL;
        if (unlink(path_of(i)) != 0 && errno != ENOENT) fail(errno, "%s", path_of(i));
    }
    run.history_end = 0;
}

/* Compares everything by all ways, closes all descriptors, and compares again by name. */
static void finish(void) {
    for (int i = 0; i < run.handle_count; i++) {
        struct handle *handle = &run.handles[i];
        expect_size(handle);
        if (!reads(handle)) continue;
        if (is_direct(handle)) continue;
        ssize_t result = pread(handle->descriptor, run.buffer, run.limit + 1, 0);
        expect_count("read at the end", result, handle->file->size);
        compare(handle->file, 0, run.buffer, (size_t)result, "at the end");
    }
    while (run.handle_count > 0) {
        struct handle *handle = &run.handles[--run.handle_count];
        handle->file->handles--;
        drop_if_unused(handle->file);
        expect_done("close", close(handle->descriptor));
    }
    for (int name = 0; name < run.name_count; name++) {
        struct file *file = run.names[name];
        if (file == NULL) continue;
        int descriptor = open(path_of(name), O_RDONLY | O_CLOEXEC);
        if (descriptor < 0) differ("open at the end: %s", error_name(errno));
        ssize_t result = read(descriptor, run.buffer, run.limit + 1);
        expect_count("read at the end by name", result, file->size);
        compare(file, 0, run.buffer, (size_t)result, "at the end by name");
        close(descriptor);
    }
}

/* Repeats some operations from nothing. True when they still differ. */
static bool repeats(uint64_t seed, const uint64_t *numbers, size_t count) {
    clear();
    if (setjmp(run.different) != 0) return true;
    for (size_t i = 0; i < count; i++) perform(seed, numbers[i]);
    finish();
    return false;
}

/* Leaves out what is not needed for the difference. */
static void shrink(uint64_t seed, uint64_t first, uint64_t last) {
    size_t count = 0;
    uint64_t *numbers = NULL;
    double limit = now() + 60;
    for (uint64_t length = 64; count == 0; length *= 8) {
        uint64_t start = last - first + 1 < length ? first : last - length + 1;
        size_t size = (size_t)(last - start + 1);
        free(numbers);
        numbers = malloc(size * sizeof *numbers);
        if (numbers == NULL) return;
        for (size_t i = 0; i < size; i++) numbers[i] = start + i;
        if (repeats(seed, numbers, size)) count = size;
        if (start == first || now() > limit) break;
    }
    if (count == 0) {
        printf("the difference could not be repeated from the last operations alone\n");
        free(numbers);
        return;
    }
    uint64_t *fewer = malloc(count * sizeof *fewer);
    for (size_t part = count / 2; fewer != NULL && part > 0 && now() < limit; part /= 2) {
        for (size_t start = 0; start < count && now() < limit;) {
            size_t end = start + part < count ? start + part : count;
            memcpy(fewer, numbers, start * sizeof *numbers);
            memcpy(fewer + start, numbers + end, (count - end) * sizeof *numbers);
            if (repeats(seed, fewer, count - (end - start))) {
                count -= end - start;
                memcpy(numbers, fewer, count * sizeof *numbers);
            } else {
                start = end;
            }
        }
    }
    free(fewer);
    if (repeats(seed, numbers, count)) {
        printf("%zu operations are enough:\n", count);
        for (uint64_t i = run.history_end < HISTORY ? 0 : run.history_end - HISTORY; i < run.history_end; i++)
            printf("  %s\n", run.history[i % HISTORY]);
        printf("  %s\n", run.difference);
    }
    free(numbers);
}

static void run_process(int process, void *context) {
    const struct options *options = context;
    uint64_t seed = options->seed + (uint64_t)process;
    run.limit = (options->size ? options->size : 256 * 1024) & ~(size_t)(PAGE - 1);
    run.name_count = options->files ? options->files : 4;
    if (run.name_count > MOST_NAMES) run.name_count = MOST_NAMES;
    if (snprintf(run.directory, sizeof run.directory, "%s/p%d", options->directory, process) >= (int)sizeof run.directory)
        fail(0, "the path is too long");
    if (mkdir(run.directory, 0755) != 0 && errno != EEXIST) fail(errno, "%s", run.directory);
    if (posix_memalign((void **)&run.buffer, PAGE, run.limit * 2) != 0) fail(ENOMEM, "buffer");
    uint64_t first = 0;
    double end = now() + options->seconds;
    clear();
    if (setjmp(run.different) != 0) {
        flockfile(stdout);
        printf("DIFFERENCE in process %d, seed %llu, operation %llu; before it:\n", process,
               (unsigned long long)options->seed, (unsigned long long)run.number);
        for (uint64_t i = run.history_end < HISTORY ? 0 : run.history_end - HISTORY; i < run.history_end; i++)
            printf("  %s\n", run.history[i % HISTORY]);
        printf("  %s\n", run.difference);
        shrink(seed, first, run.number);
        funlockfile(stdout);
        fflush(NULL);
        _exit(1);
    }
    for (uint64_t number = first; options->operations ? number < options->operations : now() < end; number++)
        perform(seed, number);
    finish();
    if (process != 0) return;
    for (int i = 0; i < KINDS; i++)
        printf("%s%s %llu", i ? ", " : "", operations[i].name, (unsigned long long)counts[i].done);
    printf("\n");
}

int run_contents(const struct options *options) {
    double start = now();
    int bad = in_processes(options->processes, run_process, (void *)options, NULL);
    printf("contents: %d processes, %.1f s, %d differed\n", options->processes, now() - start, bad);
    return bad ? 1 : 0;
}
