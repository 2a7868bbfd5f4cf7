#define _GNU_SOURCE
#include "CFuse.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

/* The kernel's protocol (include/uapi/linux/fuse.h), the parts used here. */
struct in_header {
    uint32_t length, opcode;
    uint64_t unique, node;
    uint32_t uid, gid, pid;
    uint16_t extension_length, padding;
};
struct out_header {
    uint32_t length;
    int32_t error;
    uint64_t unique;
};
struct init_in {
    uint32_t major, minor, max_readahead, flags, flags2;
};
struct init_out {
    uint32_t major, minor, max_readahead, flags;
    uint16_t max_background, congestion_threshold;
    uint32_t max_write, time_granularity;
    uint16_t max_pages, map_alignment;
    uint32_t flags2, max_stack_depth;
    uint32_t unused[6];
};
struct backing_map {
    int32_t descriptor;
    uint32_t flags;
    uint64_t padding;
};
struct open_out {
    uint64_t handle;
    uint32_t flags;
    int32_t backing_id;
};
struct attributes {
    uint64_t ino, size, blocks, atime, mtime, ctime;
    uint32_t atime_nsec, mtime_nsec, ctime_nsec, mode, nlink, uid, gid, rdev, block_size, flags;
};
struct entry_out {
    uint64_t node, generation, entry_valid, attributes_valid;
    uint32_t entry_valid_nsec, attributes_valid_nsec;
    struct attributes attributes;
};

_Static_assert(sizeof(struct init_out) == 64, "fuse_init_out");
_Static_assert(sizeof(struct entry_out) == 128, "fuse_entry_out");
_Static_assert(sizeof(struct open_out) == 16, "fuse_open_out");
_Static_assert(sizeof(struct in_header) == 40, "fuse_in_header");

enum {
    OPCODE_INIT = 26,
    OPCODE_CREATE = 35,
    OPCODE_TMPFILE = 51, /* as CREATE, with "/" for the name; libfuse has no operation for it */
    INIT_WRITEBACK_CACHE = 1 << 16,
    INIT_HANDLE_KILLPRIV_V2 = 1 << 28,
    INIT_EXT = 1 << 30,
    INIT2_DIRECT_IO_ALLOW_MMAP = 1 << 4, /* bit 36 of the whole */
    INIT2_PASSTHROUGH = 1 << 5,
};

/* What one READ can ask for, by FUSE_MAX_MAX_PAGES. */
#define READ_AHEAD_KIB 1024u

#define IOCTL_BACKING_OPEN _IOW(229, 1, struct backing_map)
#define IOCTL_BACKING_CLOSE _IOW(229, 2, uint32_t)

size_t cfuse_session_buffer_size(void) {
    return 256 * (size_t)getpagesize() + 0x1000; /* FUSE_MAX_MAX_PAGES and libfuse's header room */
}

/* libfuse answers INIT in full length since it speaks 7.23; a shorter answer is passed on as it is. */
static void extend_init_answer(struct cfuse_session *self, struct init_out *answer) {
    /* The kernel takes the least of this and what `cfuse_session_read_ahead` sets. */
    answer->max_readahead = READ_AHEAD_KIB << 10;
    if (self->init_flags & INIT_HANDLE_KILLPRIV_V2) {
        answer->flags |= INIT_HANDLE_KILLPRIV_V2;
        self->kill_privileges = true;
    }
    if ((self->init_flags & INIT_EXT) && (self->init_flags2 & INIT2_DIRECT_IO_ALLOW_MMAP)) {
        answer->flags |= INIT_EXT;
        answer->flags2 |= INIT2_DIRECT_IO_ALLOW_MMAP;
        self->direct_mapping = true;
    }
    if (self->want_passthrough && (self->init_flags & INIT_EXT) && (self->init_flags2 & INIT2_PASSTHROUGH)) {
        answer->flags |= INIT_EXT;
        answer->flags2 |= INIT2_PASSTHROUGH;
        answer->max_stack_depth = 1;
        self->passthrough = true;
    }
}

struct cfuse_work *cfuse_current_work(void) {
    static _Thread_local struct cfuse_work work;
    return &work;
}

static void tell_answer(const struct cfuse_session *self, const struct iovec *parts, int count) {
    const struct out_header *header = parts[0].iov_base;
    size_t length = 0;
    for (int part = 0; part < count; part++) length += parts[part].iov_len;
    /* Notifications of the driver's own have no request. */
    if (parts[0].iov_len < sizeof *header || header->unique == 0) return;
    self->answering(self->owner, header->unique, header->error, length - sizeof *header);
}

static ssize_t write_answer(int descriptor, struct iovec *parts, int count, void *userdata) {
    struct cfuse_session *self = userdata;
    if (self->answering != NULL) tell_answer(self, parts, count);
    if (self->init_unique != 0 && count == 2 && parts[0].iov_len == sizeof(struct out_header)) {
        const struct out_header *header = parts[0].iov_base;
        if (header->unique == self->init_unique) {
            self->init_unique = 0;
            if (header->error == 0 && parts[1].iov_len == sizeof(struct init_out)) {
                struct init_out answer;
                memcpy(&answer, parts[1].iov_base, sizeof answer);
                extend_init_answer(self, &answer);
                self->library_minor = answer.minor;
                self->writeback = (answer.flags & INIT_WRITEBACK_CACHE) != 0;
                struct iovec extended[2] = {parts[0], {&answer, sizeof answer}};
                return writev(descriptor, extended, 2);
            }
        }
    }
    return writev(descriptor, parts, count);
}

static ssize_t read_request(int descriptor, void *buffer, size_t size, void *userdata) {
    (void)userdata;
    return read(descriptor, buffer, size);
}

struct cfuse_session *cfuse_session_new(
    int argument_count, char *const *arguments, const struct fuse_lowlevel_ops *operations, void *owner,
    bool want_passthrough) {
    struct cfuse_session *self = calloc(1, sizeof *self);
    if (self == NULL) return NULL;
    self->owner = owner;
    self->want_passthrough = want_passthrough;
    struct fuse_args args = FUSE_ARGS_INIT(argument_count, (char **)arguments);
    self->session = fuse_session_new(&args, operations, sizeof *operations, self);
    fuse_opt_free_args(&args);
    if (self->session == NULL) {
        free(self);
        return NULL;
    }
    return self;
}

int cfuse_session_mount(struct cfuse_session *self, const char *mountpoint) {
    errno = 0;
    if (fuse_session_mount(self->session, mountpoint) != 0) return errno ? -errno : -1;
    int descriptor = fuse_session_fd(self->session);
    int flags = fcntl(descriptor, F_GETFL);
    if (flags < 0 || fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) < 0) return -errno;
    struct fuse_custom_io io = {.writev = write_answer, .read = read_request};
    if (fuse_session_custom_io(self->session, &io, descriptor) != 0) return -EINVAL;
    return 0;
}

int cfuse_session_read_ahead(const char *mountpoint) {
    struct statx status;
    /* Nothing of it has to be asked of the file system. */
    if (statx(AT_FDCWD, mountpoint, AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC, 0, &status) != 0) return -errno;
    char path[64], text[16];
    snprintf(path, sizeof path, "/sys/class/bdi/%u:%u/read_ahead_kb", status.stx_dev_major, status.stx_dev_minor);
    int length = snprintf(text, sizeof text, "%u", READ_AHEAD_KIB);
    int descriptor = open(path, O_WRONLY | O_CLOEXEC);
    if (descriptor < 0) return -errno;
    int result = write(descriptor, text, (size_t)length) < 0 ? -errno : 0;
    close(descriptor);
    return result;
}

void cfuse_session_free(struct cfuse_session *self) {
    fuse_session_destroy(self->session);
    free(self);
}

int cfuse_session_descriptor(struct cfuse_session *self) { return fuse_session_fd(self->session); }

ssize_t cfuse_session_receive(struct cfuse_session *self, void *buffer, size_t size) {
    ssize_t length = read(fuse_session_fd(self->session), buffer, size);
    if (length < 0) return -errno;
    const struct in_header *header = buffer;
    if ((size_t)length >= sizeof *header + sizeof(struct init_in) && header->opcode == OPCODE_INIT) {
        const struct init_in *request = (const void *)(header + 1);
        self->init_unique = header->unique;
        self->init_flags = request->flags;
        self->init_flags2 = (request->flags & INIT_EXT) ? request->flags2 : 0;
        self->kernel_minor = request->minor;
        self->offered_passthrough = (self->init_flags2 & INIT2_PASSTHROUGH) != 0;
    }
    return length;
}

void cfuse_session_process(struct cfuse_session *self, void *buffer, size_t size) {
    struct in_header *header = buffer;
    if (size >= sizeof *header && header->opcode == OPCODE_TMPFILE) header->opcode = OPCODE_CREATE;
    struct fuse_buf request = {.size = size, .mem = buffer};
    fuse_session_process_buf(self->session, &request);
}

void *cfuse_request_owner(fuse_req_t request) {
    const struct cfuse_session *self = fuse_req_userdata(request);
    return self->owner;
}

int cfuse_backing_open(struct cfuse_session *self, int descriptor) {
    struct backing_map map = {.descriptor = descriptor};
    int id = ioctl(fuse_session_fd(self->session), IOCTL_BACKING_OPEN, &map);
    return id < 0 ? -errno : id;
}

int cfuse_backing_close(struct cfuse_session *self, int backing_id) {
    uint32_t id = (uint32_t)backing_id;
    return ioctl(fuse_session_fd(self->session), IOCTL_BACKING_CLOSE, &id) < 0 ? -errno : 0;
}

int cfuse_reply_open(fuse_req_t request, uint64_t handle, uint32_t flags, int32_t backing_id) {
    struct open_out answer = {handle, flags, backing_id};
    return fuse_reply_buf(request, (const char *)&answer, sizeof answer);
}

static uint64_t whole_seconds(double time) { return time > 1e15 ? (uint64_t)1e15 : (uint64_t)time; }

static uint32_t nanoseconds(double time) {
    double rest = (time - floor(time)) * 1e9;
    return time > 1e15 ? 0 : (uint32_t)rest;
}

int cfuse_reply_create(
    fuse_req_t request, const struct fuse_entry_param *entry, uint64_t handle, uint32_t flags, int32_t backing_id) {
    struct {
        struct entry_out entry;
        struct open_out open;
    } answer = {
        {
            .node = entry->ino,
            .generation = entry->generation,
            .entry_valid = whole_seconds(entry->entry_timeout),
            .entry_valid_nsec = nanoseconds(entry->entry_timeout),
            .attributes_valid = whole_seconds(entry->attr_timeout),
            .attributes_valid_nsec = nanoseconds(entry->attr_timeout),
            .attributes = {
                .ino = entry->attr.st_ino,
                .size = (uint64_t)entry->attr.st_size,
                .blocks = (uint64_t)entry->attr.st_blocks,
                .atime = (uint64_t)entry->attr.st_atim.tv_sec,
                .mtime = (uint64_t)entry->attr.st_mtim.tv_sec,
                .ctime = (uint64_t)entry->attr.st_ctim.tv_sec,
                .atime_nsec = (uint32_t)entry->attr.st_atim.tv_nsec,
                .mtime_nsec = (uint32_t)entry->attr.st_mtim.tv_nsec,
                .ctime_nsec = (uint32_t)entry->attr.st_ctim.tv_nsec,
                .mode = entry->attr.st_mode,
                .nlink = (uint32_t)entry->attr.st_nlink,
                .uid = entry->attr.st_uid,
                .gid = entry->attr.st_gid,
                .rdev = (uint32_t)entry->attr.st_rdev,
                .block_size = (uint32_t)entry->attr.st_blksize,
            },
        },
        {handle, flags, backing_id},
    };
    return fuse_reply_buf(request, (const char *)&answer, sizeof answer);
}
