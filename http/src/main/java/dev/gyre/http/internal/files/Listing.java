package dev.gyre.http.internal.files;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/// A directory as a page: what is in it and would be served.
final class Listing {
    /// So many names are shown at most.
    private static final int MOST = 10_000;

    private static final DateTimeFormatter DATE =
            DateTimeFormatter.ofPattern("uuuu-MM-dd HH:mm").withZone(ZoneOffset.UTC);

    private static final String UNRESERVED = "-._~";

    private record Row(String name, boolean isDirectory, long size, long modified) {}

    private Listing() {}

    /// Blocks.
    ///
    /// @param directory where it can be read
    /// @param names how it is called
    static String page(Path directory, List<String> names, boolean hidden, boolean symlinks)
            throws IOException {
        List<Row> rows = new ArrayList<>();
        boolean more = false;
        try (DirectoryStream<Path> found = Files.newDirectoryStream(directory)) {
            for (Path path : found) {
                if (rows.size() == MOST) {
                    more = true;
                    break;
                }
                String name = String.valueOf(path.getFileName());
                if (hidden || !name.startsWith(".")) {
                    addIfServed(rows, name, path, symlinks);
                }
            }
        }
        rows.sort(Comparator.comparing((Row row) -> !row.isDirectory).thenComparing(Row::name));
        return page(rows, names, more);
    }

    private static void addIfServed(List<Row> rows, String name, Path path, boolean symlinks) {
        FileIdentity identity;
        try {
            identity =
                    symlinks
                            ? FileIdentity.of(path)
                            : FileIdentity.of(path, LinkOption.NOFOLLOW_LINKS);
        } catch (IOException e) {
            return; // Gone meanwhile, or a link to nowhere.
        }
        // Neither can be asked for: a path with them is refused.
        boolean isName = name.indexOf('\\') < 0;
        if (isName && (identity.isDirectory() || identity.isRegular())) {
            rows.add(
                    new Row(
                            name,
                            identity.isDirectory(),
                            identity.size(),
                            identity.modifiedSeconds()));
        }
    }

    private static String page(List<Row> rows, List<String> names, boolean more) {
        String title = escape("/" + String.join("/", names) + (names.isEmpty() ? "" : "/"));
        StringBuilder page = new StringBuilder(256 + rows.size() * 128);
        page.append("<!DOCTYPE html>\n<html><head><meta charset=\"utf-8\"><title>")
                .append(title)
                .append("</title></head>\n<body><h1>")
                .append(title)
                .append("</h1>\n<table>\n");
        if (!names.isEmpty()) {
            page.append("<tr><td><a href=\"../\">../</a></td></tr>\n");
        }
        for (Row row : rows) {
            String slash = row.isDirectory ? "/" : "";
            page.append("<tr><td><a href=\"")
                    .append(encode(row.name))
                    .append(slash)
                    .append("\">")
                    .append(escape(row.name))
                    .append(slash)
                    .append("</a></td><td>")
                    .append(DATE.format(Instant.ofEpochSecond(row.modified)))
                    .append("</td><td align=\"right\">")
                    .append(row.isDirectory ? "-" : String.valueOf(row.size))
                    .append("</td></tr>\n");
        }
        page.append("</table>\n");
        if (more) {
            page.append("<p>and more</p>\n");
        }
        return page.append("</body></html>\n").toString();
    }

    private static String escape(String text) {
        StringBuilder escaped = new StringBuilder(text.length() + 8);
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            switch (c) {
                case '&' -> escaped.append("&amp;");
                case '<' -> escaped.append("&lt;");
                case '>' -> escaped.append("&gt;");
                case '"' -> escaped.append("&quot;");
                case '\'' -> escaped.append("&#39;");
                default -> escaped.append(Character.isISOControl(c) ? '?' : c);
            }
        }
        return escaped.toString();
    }

    /// Everything but what is nothing special anywhere: then a name is no scheme, no quote and no slash.
    private static String encode(String name) {
        StringBuilder encoded = new StringBuilder(name.length() + 16);
        for (byte b : name.getBytes(UTF_8)) {
            char c = (char) (b & 0xff);
            boolean plain =
                    (c >= 'a' && c <= 'z')
                            || (c >= 'A' && c <= 'Z')
                            || (c >= '0' && c <= '9')
                            || UNRESERVED.indexOf(c) >= 0;
            if (plain) {
                encoded.append(c);
            } else {
                encoded.append('%')
                        .append(Character.toUpperCase(Character.forDigit(c >> 4, 16)))
                        .append(Character.toUpperCase(Character.forDigit(c & 0xf, 16)));
            }
        }
        return encoded.toString();
    }
}
