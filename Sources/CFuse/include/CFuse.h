#ifndef CFUSE_H
#define CFUSE_H
#define FUSE_USE_VERSION 314
#include <fuse3/fuse_lowlevel.h>
#endif
