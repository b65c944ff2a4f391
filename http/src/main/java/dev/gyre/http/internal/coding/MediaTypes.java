package dev.gyre.http.internal.coding;

import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/// The media types of files, by the extension of their name.
public final class MediaTypes {
    private static final String UNKNOWN = "application/octet-stream";
    private static final Map<String, String> BY_EXTENSION = new HashMap<>();

    /// Besides text, JSON and XML.
    private static final Set<String> COMPRESSIBLE =
            Set.of(
                    ("application/json application/javascript application/xml application/yaml"
                                    + " application/toml application/sql application/wasm"
                                    + " application/rtf application/vnd.apple.mpegurl image/bmp"
                                    + " image/x-icon font/ttf font/otf")
                            .split(" ", -1));

    static {
        put("text/html", "html htm");
        putAll("text/", "css csv vtt");
        put("text/javascript", "js mjs cjs");
        put("text/plain", "txt text log conf ini adoc rst");
        put("text/markdown", "md markdown");
        put("text/tab-separated-values", "tsv");
        put("text/calendar", "ics");
        put("text/vcard", "vcf");
        put("text/x-java-source", "java");
        put("text/x-c", "c h cc cpp hpp");
        put("text/x-python", "py");
        put("text/x-shellscript", "sh");
        put("application/json", "json map jsonl");
        put("application/ld+json", "jsonld");
        put("application/manifest+json", "webmanifest");
        put("application/geo+json", "geojson");
        put("application/xml", "xml xsd");
        put("application/xslt+xml", "xsl xslt");
        put("application/xhtml+xml", "xhtml");
        put("application/atom+xml", "atom");
        put("application/rss+xml", "rss");
        put("application/yaml", "yaml yml");
        putAll("application/", "toml sql wasm pdf rtf zip");
        put("application/epub+zip", "epub");
        put("application/gzip", "gz tgz");
        put("application/zstd", "zst");
        put("application/x-bzip2", "bz2");
        put("application/x-xz", "xz");
        put("application/x-7z-compressed", "7z");
        put("application/x-tar", "tar");
        put("application/java-archive", "jar war");
        put("application/msword", "doc");
        put("application/vnd.ms-excel", "xls");
        put("application/vnd.ms-powerpoint", "ppt");
        put("application/vnd.openxmlformats-officedocument.wordprocessingml.document", "docx");
        put("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "xlsx");
        put("application/vnd.openxmlformats-officedocument.presentationml.presentation", "pptx");
        put("application/vnd.oasis.opendocument.text", "odt");
        put("application/vnd.oasis.opendocument.spreadsheet", "ods");
        put("image/svg+xml", "svg");
        putAll("image/", "png apng gif webp avif bmp");
        put("image/jpeg", "jpg jpeg");
        put("image/tiff", "tif tiff");
        put("image/x-icon", "ico");
        put("audio/mpeg", "mp3");
        put("audio/mp4", "m4a");
        putAll("audio/", "aac flac wav");
        put("audio/ogg", "ogg oga opus");
        put("audio/midi", "mid midi");
        put("video/mp4", "mp4 m4v");
        put("video/webm", "webm");
        put("video/ogg", "ogv");
        put("video/quicktime", "mov");
        put("video/x-matroska", "mkv");
        put("video/mpeg", "mpeg mpg");
        put("video/mp2t", "ts");
        put("application/vnd.apple.mpegurl", "m3u8");
        putAll("font/", "woff woff2 ttf otf");
        put("font/collection", "ttc");
        put("application/vnd.ms-fontobject", "eot");
    }

    private MediaTypes() {}

    private static void put(String type, String extensions) {
        // Other types have their own charset, or name it in the body.
        String full = type.startsWith("text/") ? type + "; charset=utf-8" : type;
        for (String extension : extensions.split(" ", -1)) {
            String before = BY_EXTENSION.put(extension, full);
            assert before == null : "an extension has one type: " + extension;
        }
    }

    /// Puts types that are named after their extension.
    private static void putAll(String prefix, String extensions) {
        for (String extension : extensions.split(" ", -1)) {
            put(prefix + extension, extension);
        }
    }

    /// Returns the type of a file; `application/octet-stream` if its extension is unknown.
    public static String ofName(String name) {
        int dot = name.lastIndexOf('.');
        // A dot at the start does not start an extension.
        return dot <= 0
                ? UNKNOWN
                : BY_EXTENSION.getOrDefault(
                        name.substring(dot + 1).toLowerCase(Locale.ROOT), UNKNOWN);
    }

    /// Returns whether bodies of that type compress well.
    ///
    /// @param type a `Content-Type`, with optional parameters
    public static boolean isCompressible(String type) {
        int end = type.indexOf(';');
        String bare = (end < 0 ? type : type.substring(0, end)).strip().toLowerCase(Locale.ROOT);
        return bare.startsWith("text/")
                || bare.endsWith("+json")
                || bare.endsWith("+xml")
                || COMPRESSIBLE.contains(bare);
    }
}
