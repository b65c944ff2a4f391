package dev.gyre.http.internal.coding;

import java.util.HashMap;
import java.util.Locale;
import java.util.Map;

/// What files are, by the end of their name.
public final class MediaTypes {
    private static final String UNKNOWN = "application/octet-stream";
    private static final Map<String, String> BY_EXTENSION = new HashMap<>();

    static {
        put("text/html", "html htm");
        put("text/css", "css");
        put("text/javascript", "js mjs cjs");
        put("text/plain", "txt text log conf ini adoc rst");
        put("text/markdown", "md markdown");
        put("text/csv", "csv");
        put("text/tab-separated-values", "tsv");
        put("text/calendar", "ics");
        put("text/vcard", "vcf");
        put("text/vtt", "vtt");
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
        put("application/toml", "toml");
        put("application/sql", "sql");
        put("application/wasm", "wasm");
        put("application/pdf", "pdf");
        put("application/rtf", "rtf");
        put("application/epub+zip", "epub");
        put("application/zip", "zip");
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
        put("image/png", "png");
        put("image/apng", "apng");
        put("image/jpeg", "jpg jpeg");
        put("image/gif", "gif");
        put("image/webp", "webp");
        put("image/avif", "avif");
        put("image/bmp", "bmp");
        put("image/tiff", "tif tiff");
        put("image/x-icon", "ico");
        put("audio/mpeg", "mp3");
        put("audio/mp4", "m4a");
        put("audio/aac", "aac");
        put("audio/ogg", "ogg oga opus");
        put("audio/flac", "flac");
        put("audio/wav", "wav");
        put("audio/midi", "mid midi");
        put("video/mp4", "mp4 m4v");
        put("video/webm", "webm");
        put("video/ogg", "ogv");
        put("video/quicktime", "mov");
        put("video/x-matroska", "mkv");
        put("video/mpeg", "mpeg mpg");
        put("video/mp2t", "ts");
        put("application/vnd.apple.mpegurl", "m3u8");
        put("font/woff", "woff");
        put("font/woff2", "woff2");
        put("font/ttf", "ttf");
        put("font/otf", "otf");
        put("font/collection", "ttc");
        put("application/vnd.ms-fontobject", "eot");
    }

    private MediaTypes() {}

    private static void put(String type, String extensions) {
        // Others have a charset of their own, or say it in the content.
        String said = type.startsWith("text/") ? type + "; charset=utf-8" : type;
        for (String extension : extensions.split(" ", -1)) {
            String before = BY_EXTENSION.put(extension, said);
            assert before == null : "an extension has one type: " + extension;
        }
    }

    /// The type of a file of that name, `application/octet-stream` if nothing is known of its end.
    public static String ofName(String name) {
        int dot = name.lastIndexOf('.');
        // A name that only begins with a dot has no end of that sort.
        return dot <= 0
                ? UNKNOWN
                : BY_EXTENSION.getOrDefault(
                        name.substring(dot + 1).toLowerCase(Locale.ROOT), UNKNOWN);
    }

    /// Whether content of that type is worth compressing: text of some sort, and what is not compressed already.
    ///
    /// @param type as `Content-Type` says it, with parameters
    public static boolean isCompressible(String type) {
        int end = type.indexOf(';');
        String bare = (end < 0 ? type : type.substring(0, end)).strip().toLowerCase(Locale.ROOT);
        return bare.startsWith("text/")
                || bare.endsWith("+json")
                || bare.endsWith("+xml")
                || switch (bare) {
                    case "application/json",
                            "application/javascript",
                            "application/xml",
                            "application/yaml",
                            "application/toml",
                            "application/sql",
                            "application/wasm",
                            "application/rtf",
                            "application/vnd.apple.mpegurl",
                            "image/bmp",
                            "image/x-icon",
                            "font/ttf",
                            "font/otf" ->
                            true;
                    default -> false;
                };
    }
}
