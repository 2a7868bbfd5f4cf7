/// The types that Apple's systems declare and people meet, with their identifiers and conformance as Apple publishes them
/// ("System-Declared Uniform Type Identifiers", `UTCoreTypes.h`), and the ones of office formats and archives that come with
/// their programs.
///
/// One a line: identifier | what it conforms to | extensions, the preferred first | MIME types, the preferred first | what
/// it is called. MIME types are those of shared-mime-info, so that its database maps to them.
enum DeclaredTypes {
    static let table = """
        public.item||||item
        public.content||||content
        public.composite-content|public.content|||composite content
        public.data|public.item||application/octet-stream|data
        public.message||||message
        public.contact||||contact
        public.archive|public.item|||archive
        public.disk-image|public.archive|||disk image
        public.directory|public.item||inode/directory|directory
        public.folder|public.directory||inode/directory|folder
        public.volume|public.folder||inode/mount-point|volume
        com.apple.package|public.directory|||package
        com.apple.bundle|public.directory|||bundle
        com.apple.generic-bundle|com.apple.bundle,com.apple.package|bundle||bundle
        com.apple.application|public.executable|||application
        com.apple.application-bundle|com.apple.application,com.apple.bundle,com.apple.package|app||application
        com.apple.framework|com.apple.bundle|framework||framework
        com.apple.resolvable||||resolvable
        public.symlink|public.item,com.apple.resolvable||inode/symlink|symbolic link
        public.executable|public.item|||executable
        public.url|public.data|||URL
        public.file-url|public.url|||file URL
        public.text|public.data,public.content|||text
        public.plain-text|public.text|txt,text|text/plain|plain text document
        public.utf8-plain-text|public.plain-text|||Unicode text document
        public.utf16-plain-text|public.plain-text|||Unicode text document
        public.utf16-external-plain-text|public.plain-text|||Unicode text document
        public.delimited-values-text|public.text|||delimited text
        public.comma-separated-values-text|public.delimited-values-text|csv|text/csv|CSV document
        public.tab-separated-values-text|public.delimited-values-text||text/tab-separated-values|TSV document
        public.utf8-tab-separated-values-text|public.tab-separated-values-text,public.utf8-plain-text|tsv|text/tab-separated-values|TSV document
        public.rtf|public.text|rtf|application/rtf,text/rtf|RTF document
        com.apple.rtfd|com.apple.package,public.composite-content|rtfd||RTF document with attachments
        com.apple.flat-rtfd|public.data,public.composite-content|||flattened RTF document with attachments
        public.html|public.text|html,htm,shtml|text/html|HTML document
        public.xhtml|public.xml|xhtml,xht|application/xhtml+xml|XHTML document
        public.xml|public.text|xml|application/xml,text/xml|XML document
        public.xml-dtd|public.text|dtd|application/xml-dtd|document type definition
        com.apple.webarchive|public.data,public.composite-content|webarchive|application/x-webarchive|web archive
        public.css|public.text|css|text/css|CSS style sheet
        public.yaml|public.text|yml,yaml|application/x-yaml,application/yaml|YAML document
        public.json|public.text|json|application/json|JSON document
        public.geojson|public.json|geojson|application/geo+json|GeoJSON document
        net.daringfireball.markdown|public.plain-text|md,markdown,mdown,mkd|text/markdown|Markdown document
        com.apple.log|public.plain-text|log|text/x-log|log file
        public.patch-file|public.plain-text|patch,diff|text/x-patch|patch file
        com.apple.property-list|public.data|plist||property list
        com.apple.xml-property-list|public.xml,com.apple.property-list|||XML property list
        com.apple.binary-property-list|com.apple.property-list||application/x-plist|binary property list
        public.source-code|public.plain-text|||source code
        public.assembly-source|public.source-code|s|text/x-asm|assembly source
        public.c-source|public.source-code|c|text/x-csrc|C source
        public.c-header|public.source-code|h|text/x-chdr|C header
        public.c-plus-plus-source|public.source-code|cpp,cc,cp,cxx|text/x-c++src|C++ source
        public.c-plus-plus-header|public.source-code|hpp,hh,hxx|text/x-c++hdr|C++ header
        public.objective-c-source|public.source-code|m|text/x-objcsrc|Objective-C source
        public.objective-c-plus-plus-source|public.source-code|mm|text/x-objc++src|Objective-C++ source
        public.swift-source|public.source-code|swift|text/x-swift|Swift source
        public.fortran-source|public.source-code|f,for|text/x-fortran|Fortran source
        public.fortran-90-source|public.fortran-source|f90,f95||Fortran source
        public.ada-source|public.source-code|ads,adb|text/x-adasrc|Ada source
        public.pascal-source|public.source-code|pas|text/x-pascal|Pascal source
        public.lex-source|public.source-code|l||Lex source
        public.yacc-source|public.source-code|y||Yacc source
        public.make-source|public.script|mk,mak|text/x-makefile|makefile
        public.script|public.source-code|||script
        public.shell-script|public.script|sh,command|application/x-shellscript|shell script
        public.bash-script|public.shell-script|bash||bash script
        public.csh-script|public.shell-script|csh|application/x-csh|C shell script
        public.zsh-script|public.shell-script|zsh||Z shell script
        public.perl-script|public.shell-script|pl,pm|application/x-perl|Perl script
        public.python-script|public.shell-script|py|text/x-python,text/x-python3|Python script
        public.ruby-script|public.shell-script|rb,rbw|application/x-ruby|Ruby script
        public.php-script|public.shell-script|php,php3,php4|application/x-php|PHP script
        com.netscape.javascript-source|public.source-code,public.executable|js,jscript,mjs|application/javascript,text/javascript|JavaScript script
        com.sun.java-source|public.source-code|java,jav|text/x-java|Java source
        com.sun.java-class|public.object-code|class|application/x-java|Java class file
        com.sun.java-archive|com.pkware.zip-archive,public.executable|jar|application/x-java-archive|Java archive
        com.apple.applescript.text|public.script|applescript||AppleScript text
        com.adobe.pdf|public.data,public.composite-content|pdf|application/pdf|PDF document
        com.adobe.postscript|public.data|ps|application/postscript|PostScript document
        com.adobe.encapsulated-postscript|com.adobe.postscript|eps|image/x-eps|encapsulated PostScript
        com.adobe.illustrator.ai-image|com.adobe.pdf,public.image|ai|application/illustrator|Illustrator document
        public.image|public.data,public.content|||image
        public.png|public.image|png|image/png|PNG image
        public.jpeg|public.image|jpg,jpeg,jpe|image/jpeg|JPEG image
        public.jpeg-2000|public.image|jp2,jpf,jpx,j2k|image/jp2,image/jpx|JPEG 2000 image
        com.compuserve.gif|public.image|gif|image/gif|GIF image
        public.tiff|public.image|tiff,tif|image/tiff|TIFF image
        com.microsoft.bmp|public.image|bmp,dib|image/bmp|BMP image
        com.microsoft.ico|public.image|ico|image/vnd.microsoft.icon|Windows icon
        com.apple.icns|public.image|icns|image/x-icns|icon image
        com.apple.pict|public.image|pict,pct,pic|image/x-pict|PICT image
        public.svg-image|public.image,public.xml|svg,svgz|image/svg+xml,image/svg+xml-compressed|SVG image
        org.webmproject.webp|public.image|webp|image/webp|WebP image
        public.heif-standard|public.image|||HEIF image
        public.heif|public.heif-standard|heif|image/heif|HEIF image
        public.heic|public.heif-standard|heic|image/heic,image/heif|HEIC image
        public.avif|public.heif-standard|avif|image/avif|AVIF image
        com.adobe.photoshop-image|public.image|psd|image/vnd.adobe.photoshop|Photoshop image
        com.truevision.tga-image|public.image|tga,targa|image/x-tga|TGA image
        com.ilm.openexr-image|public.image|exr|image/x-exr|OpenEXR image
        com.sgi.sgi-image|public.image|sgi,rgb|image/x-rgb|SGI image
        public.pbm|public.image|pbm,pgm,ppm,pnm|image/x-portable-anymap|PBM image
        public.xbitmap-image|public.image|xbm|image/x-xbitmap|X bitmap image
        public.camera-raw-image|public.image||image/x-dcraw|camera raw image
        com.adobe.raw-image|public.camera-raw-image|dng|image/x-adobe-dng|Adobe DNG image
        com.canon.cr2-raw-image|public.camera-raw-image|cr2|image/x-canon-cr2|Canon CR2 image
        com.canon.cr3-raw-image|public.camera-raw-image|cr3|image/x-canon-cr3|Canon CR3 image
        com.canon.crw-raw-image|public.camera-raw-image|crw|image/x-canon-crw|Canon CRW image
        com.nikon.raw-image|public.camera-raw-image|nef|image/x-nikon-nef|Nikon raw image
        com.sony.arw-raw-image|public.camera-raw-image|arw|image/x-sony-arw|Sony raw image
        com.fuji.raw-image|public.camera-raw-image|raf|image/x-fuji-raf|Fuji raw image
        com.olympus.raw-image|public.camera-raw-image|orf|image/x-olympus-orf|Olympus raw image
        com.panasonic.rw2-raw-image|public.camera-raw-image|rw2|image/x-panasonic-rw2|Panasonic raw image
        com.pentax.raw-image|public.camera-raw-image|pef|image/x-pentax-pef|Pentax raw image
        public.audiovisual-content|public.data,public.content|||audiovisual content
        public.movie|public.audiovisual-content|||movie
        public.video|public.movie|||video
        public.audio|public.audiovisual-content|||audio
        com.apple.quicktime-movie|public.movie|mov,qt|video/quicktime|QuickTime movie
        public.mpeg|public.movie|mpg,mpeg,mpe|video/mpeg|MPEG movie
        public.mpeg-2-video|public.video|m2v,mp2v||MPEG-2 video
        public.mpeg-2-transport-stream|public.movie|mts,m2ts|video/mp2t|MPEG-2 transport stream
        public.mpeg-4|public.movie|mp4,mpg4|video/mp4|MPEG-4 movie
        com.apple.m4v-video|public.movie|m4v|video/x-m4v,video/mp4|Apple MPEG-4 movie
        public.3gpp|public.movie|3gp,3gpp|video/3gpp|3GPP movie
        public.3gpp2|public.movie|3g2,3gp2|video/3gpp2|3GPP2 movie
        public.avi|public.movie|avi,vfw|video/x-msvideo|AVI movie
        org.matroska.mkv|public.movie|mkv|video/x-matroska|Matroska video
        org.webmproject.webm|public.movie|webm|video/webm|WebM video
        com.microsoft.advanced-systems-format|public.data,public.movie|asf|application/vnd.ms-asf|Windows Media file
        com.microsoft.windows-media-wmv|com.microsoft.advanced-systems-format|wmv|video/x-ms-wmv|Windows Media video
        com.microsoft.windows-media-wma|public.audio|wma|audio/x-ms-wma|Windows Media audio
        public.mp3|public.audio|mp3|audio/mpeg|MP3 audio
        public.mp2|public.audio|mp2|audio/mp2|MP2 audio
        public.mpeg-4-audio|public.audio|mp4a|audio/mp4|MPEG-4 audio
        com.apple.m4a-audio|public.mpeg-4-audio|m4a|audio/x-m4a,audio/mp4|Apple MPEG-4 audio
        com.apple.protected-mpeg-4-audio|public.audio|m4p||protected MPEG-4 audio
        public.aac-audio|public.audio|aac|audio/aac|AAC audio
        com.apple.coreaudio-format|public.audio|caf|audio/x-caf|Core Audio file
        com.microsoft.waveform-audio|public.audio|wav,wave|audio/x-wav|Waveform audio
        public.aiff-audio|public.aifc-audio|aiff,aif|audio/x-aiff|AIFF audio
        public.aifc-audio|public.audio|aifc|audio/x-aifc|AIFF-C audio
        public.midi-audio|public.audio|midi,mid,kar|audio/midi|MIDI audio
        public.ac3-audio|public.audio|ac3|audio/ac3|AC-3 audio
        org.xiph.flac|public.audio|flac|audio/flac|FLAC audio
        org.xiph.ogg-audio|public.audio|oga,ogg|audio/ogg,audio/x-vorbis+ogg|Ogg audio
        org.xiph.opus|public.audio|opus|audio/x-opus+ogg|Opus audio
        public.playlist|public.content|||playlist
        public.m3u-playlist|public.text,public.playlist|m3u,m3u8|audio/x-mpegurl|M3U playlist
        com.pkware.zip-archive|public.data,public.archive|||ZIP archive
        public.zip-archive|com.pkware.zip-archive|zip|application/zip|ZIP archive
        org.gnu.gnu-zip-archive|public.data,public.archive|gz,gzip|application/gzip|gzip archive
        org.gnu.gnu-zip-tar-archive|org.gnu.gnu-zip-archive|tgz|application/x-compressed-tar|gzip-compressed tar archive
        public.tar-archive|public.data,public.archive|tar|application/x-tar|tar archive
        public.bzip2-archive|public.data,public.archive|bz2,bz|application/x-bzip,application/x-bzip2|bzip2 archive
        public.tar-bzip2-archive|public.bzip2-archive|tbz,tbz2,tb2|application/x-bzip-compressed-tar|bzip2-compressed tar archive
        org.tukaani.xz-archive|public.data,public.archive|xz|application/x-xz|XZ archive
        org.tukaani.tar-xz-archive|org.tukaani.xz-archive|txz|application/x-xz-compressed-tar|XZ-compressed tar archive
        public.z-archive|public.data,public.archive|z|application/x-compress|compress archive
        public.cpio-archive|public.data,public.archive|cpio|application/x-cpio|cpio archive
        org.7-zip.7-zip-archive|public.data,public.archive|7z|application/x-7z-compressed|7-Zip archive
        com.rarlab.rar-archive|public.data,public.archive|rar|application/vnd.rar|RAR archive
        com.microsoft.cab-archive|public.data,public.archive|cab|application/vnd.ms-cab-compressed|Windows cabinet
        org.debian.deb-archive|public.data,public.archive|deb|application/vnd.debian.binary-package|Debian package
        com.redhat.rpm-archive|public.data,public.archive|rpm|application/x-rpm|RPM package
        com.apple.xar-archive|public.data,public.archive|xar|application/x-xar|XAR archive
        com.apple.installer-package-archive|com.apple.xar-archive|pkg||installer package
        public.iso-image|public.disk-image,public.data|iso,cdr|application/x-cd-image|ISO disk image
        com.apple.disk-image-udif|public.disk-image,public.data|dmg|application/x-apple-diskimage|disk image
        public.spreadsheet|public.content|||spreadsheet
        public.presentation|public.composite-content|||presentation
        public.database||||database
        com.microsoft.word.doc|public.data,public.composite-content|doc|application/msword|Word 97 document
        com.microsoft.word.dot|public.data,public.composite-content|dot|application/msword-template|Word 97 template
        com.microsoft.excel.xls|public.data,public.spreadsheet|xls|application/vnd.ms-excel|Excel 97 workbook
        com.microsoft.powerpoint.ppt|public.data,public.presentation|ppt|application/vnd.ms-powerpoint|PowerPoint 97 presentation
        org.openxmlformats.openxml|public.data|||Office Open XML document
        org.openxmlformats.wordprocessingml.document|org.openxmlformats.openxml,public.composite-content|docx|application/vnd.openxmlformats-officedocument.wordprocessingml.document|Word document
        org.openxmlformats.wordprocessingml.template|org.openxmlformats.openxml,public.composite-content|dotx|application/vnd.openxmlformats-officedocument.wordprocessingml.template|Word template
        org.openxmlformats.wordprocessingml.document.macroenabled|org.openxmlformats.openxml,public.composite-content|docm|application/vnd.ms-word.document.macroenabled.12|Word document with macros
        org.openxmlformats.spreadsheetml.sheet|org.openxmlformats.openxml,public.spreadsheet|xlsx|application/vnd.openxmlformats-officedocument.spreadsheetml.sheet|Excel workbook
        org.openxmlformats.spreadsheetml.template|org.openxmlformats.openxml,public.spreadsheet|xltx|application/vnd.openxmlformats-officedocument.spreadsheetml.template|Excel template
        org.openxmlformats.spreadsheetml.sheet.macroenabled|org.openxmlformats.openxml,public.spreadsheet|xlsm|application/vnd.ms-excel.sheet.macroenabled.12|Excel workbook with macros
        org.openxmlformats.presentationml.presentation|org.openxmlformats.openxml,public.presentation|pptx|application/vnd.openxmlformats-officedocument.presentationml.presentation|PowerPoint presentation
        org.openxmlformats.presentationml.slideshow|org.openxmlformats.openxml,public.presentation|ppsx|application/vnd.openxmlformats-officedocument.presentationml.slideshow|PowerPoint slide show
        org.openxmlformats.presentationml.template|org.openxmlformats.openxml,public.presentation|potx|application/vnd.openxmlformats-officedocument.presentationml.template|PowerPoint template
        org.oasis-open.opendocument|public.data|||OpenDocument
        org.oasis-open.opendocument.text|org.oasis-open.opendocument,public.composite-content|odt|application/vnd.oasis.opendocument.text|OpenDocument text
        org.oasis-open.opendocument.text-template|org.oasis-open.opendocument,public.composite-content|ott|application/vnd.oasis.opendocument.text-template|OpenDocument text template
        org.oasis-open.opendocument.spreadsheet|org.oasis-open.opendocument,public.spreadsheet|ods|application/vnd.oasis.opendocument.spreadsheet|OpenDocument spreadsheet
        org.oasis-open.opendocument.presentation|org.oasis-open.opendocument,public.presentation|odp|application/vnd.oasis.opendocument.presentation|OpenDocument presentation
        org.oasis-open.opendocument.graphics|org.oasis-open.opendocument,public.content|odg|application/vnd.oasis.opendocument.graphics|OpenDocument drawing
        org.oasis-open.opendocument.formula|org.oasis-open.opendocument,public.content|odf|application/vnd.oasis.opendocument.formula|OpenDocument formula
        com.apple.iwork.pages.pages|com.apple.package,public.composite-content|pages||Pages document
        com.apple.iwork.pages.sffpages|public.data,public.composite-content|pages|application/vnd.apple.pages|Pages document
        com.apple.iwork.numbers.numbers|com.apple.package,public.spreadsheet|numbers||Numbers document
        com.apple.iwork.numbers.sffnumbers|public.data,public.spreadsheet|numbers|application/vnd.apple.numbers|Numbers document
        com.apple.iwork.keynote.key|com.apple.package,public.presentation|key||Keynote presentation
        com.apple.iwork.keynote.sffkey|public.data,public.presentation|key|application/vnd.apple.keynote|Keynote presentation
        org.idpf.epub-container|public.data,public.composite-content|epub|application/epub+zip|EPUB document
        public.font|public.data|||font
        public.truetype-font|public.font|||TrueType font
        public.truetype-ttf-font|public.truetype-font|ttf|font/ttf|TrueType font
        public.truetype-collection-font|public.font|ttc|font/collection|TrueType font collection
        public.opentype-font|public.font|otf|font/otf|OpenType font
        public.opentype-collection-font|public.font|otc||OpenType font collection
        com.adobe.postscript-font|public.font|pfa,pfb|application/x-font-type1|PostScript Type 1 font
        org.w3.woff|public.font|woff|font/woff|WOFF font
        org.w3.woff2|public.font|woff2|font/woff2|WOFF2 font
        public.calendar-event||||calendar event
        com.apple.ical.ics|public.text,public.calendar-event|ics|text/calendar|calendar
        public.vcard|public.text,public.contact|vcf,vcard|text/vcard|address card
        public.email-message|public.message|||email message
        com.apple.mail.email|public.data,public.email-message|eml|message/rfc822|email message
        com.microsoft.internet-shortcut|public.data|url|application/x-mswinurl|web location
        com.apple.web-internet-location|public.data|webloc||web location
        public.object-code|public.data,public.executable|o|application/x-object,application/x-sharedlib|object code
        public.unix-executable|public.data,public.executable||application/x-executable,application/x-pie-executable|executable
        com.microsoft.windows-executable|public.data,public.executable|exe|application/x-ms-dos-executable,application/vnd.microsoft.portable-executable|Windows executable
        com.microsoft.windows-dynamic-link-library|public.data,public.executable|dll|application/x-msdownload|Windows library
        public.x509-certificate|public.data|cer,crt,der|application/pkix-cert,application/x-x509-ca-cert|certificate
        com.rsa.pkcs-12|public.data|p12,pfx|application/x-pkcs12,application/pkcs12|personal information exchange
        public.3d-content|public.data,public.content|||3D content
        com.pixar.universal-scene-description|public.3d-content|usd,usda,usdc||USD scene
        com.pixar.universal-scene-description-mobile|public.3d-content|usdz|model/vnd.usdz+zip|USDZ scene
        public.standard-tesselated-geometry-format|public.3d-content|stl|model/stl|STL model
        public.polygon-file-format|public.3d-content|ply||PLY model
        public.geometry-definition-format|public.3d-content|obj|model/obj|OBJ model
        """
}
