// What the library throws is part of what it offers: an app imports Quire alone.
@_exported public import struct QuireCore.ContentType
@_exported public import struct QuireCore.QuireError
@_exported public import enum QuireThumbnails.ThumbnailSize
