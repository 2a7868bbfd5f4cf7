/// How the commonest formats begin, for where no MIME database is installed.
enum BuiltInMagic {
    static let sections: [MagicSection] = [
        section("image/png", [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]),
        section("image/jpeg", [0xFF, 0xD8, 0xFF]),
        section("image/gif", Array("GIF8".utf8)),
        section("image/tiff", [0x49, 0x49, 0x2A, 0x00]),
        section("image/tiff", [0x4D, 0x4D, 0x00, 0x2A]),
        section("application/pdf", Array("%PDF-".utf8)),
        section("application/postscript", Array("%!PS".utf8)),
        section("application/rtf", Array("{\\rtf".utf8)),
        section("application/zip", [0x50, 0x4B, 0x03, 0x04]),
        section("application/gzip", [0x1F, 0x8B]),
        section("application/x-bzip", Array("BZh".utf8)),
        section("application/x-xz", [0xFD, 0x37, 0x7A, 0x58, 0x5A, 0x00]),
        section("application/x-tar", Array("ustar".utf8), at: 257),
        section("application/x-executable", [0x7F, 0x45, 0x4C, 0x46]),
        section("text/x-python", Array("#!/usr/bin/env python".utf8)),
        section("application/x-shellscript", Array("#!/bin/sh".utf8)),
        section("application/x-shellscript", Array("#!/bin/bash".utf8)),
        section("application/xml", Array("<?xml".utf8)),
        section("text/html", Array("<!DOCTYPE html".utf8)),
    ]

    private static func section(_ mime: String, _ value: [UInt8], at offset: Int = 0) -> MagicSection {
        MagicSection(
            mime: mime, priority: 50,
            rules: [MagicRule(depth: 0, offset: offset, places: 1, value: value, mask: [])])
    }
}
