package dev.gyre.http.internal.files;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.gyre.http.FilesConfig;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;

/// A directory as a page: what is in it and would be served.
final class Listing {
    /// So many names are shown at most.
    static final int MOST = 10_000;

    /// So long the page is at most: it is sent at once, and several may be made at a time.
    private static final int MOST_BYTES = 4 << 20;

    /// For what is before the rows, with the path as its title twice, and behind them.
    private static final int FRAME_BYTES = 128 << 10;

    private static final DateTimeFormatter DATE =
            DateTimeFormatter.ofPattern("uuuu-MM-dd HH:mm").withZone(ZoneOffset.UTC);

    private static final String UNRESERVED = "-._~";

    /// @param isLinked whether its name leads to it: not one whose bytes are no text
    private record Row(
            String name, boolean isDirectory, boolean isLinked, long size, long modified) {}

    private static final Comparator<Row> ORDER =
            Comparator.comparing((Row row) -> !row.isDirectory).thenComparing(Row::name);

    private Listing() {}

    /// Blocks.
    ///
    /// @param directory where it can be read
    /// @param names how it is called
    /// @param atRoot whether the directory that is served is what the server has at `/`
    static String page(Path directory, List<String> names, FilesConfig config, boolean atRoot)
            throws IOException {
        // The last of those that are shown is on top, and makes room for what comes before it.
        PriorityQueue<Row> rows = new PriorityQueue<>(ORDER.reversed());
        long left = 0;
        try (DirectoryStream<Path> found = Files.newDirectoryStream(directory)) {
            for (Path path : found) {
                String name = String.valueOf(path.getFileName());
                if (config.hidden() || RequestedPath.isShown(name, atRoot && names.isEmpty())) {
                    addIfServed(rows, name, path, config.symlinks());
                }
                if (rows.size() > MOST) {
                    rows.remove();
                    left++;
                }
            }
        }
        List<Row> sorted = new ArrayList<>(rows);
        sorted.sort(ORDER);
        return page(sorted, names, left);
    }

    private static void addIfServed(
            Collection<Row> rows, String name, Path path, boolean symlinks) {
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
                            leadsTo(name, path),
                            identity.size(),
                            identity.modifiedSeconds()));
        }
    }

    /// Whether a name is that of the file and not merely as much of it as could be read.
    private static boolean leadsTo(String name, Path path) {
        try {
            return path.resolveSibling(name).equals(path);
        } catch (InvalidPathException e) {
            return false;
        }
    }

    private static String page(List<Row> rows, List<String> names, long left) {
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
        int bytes = FRAME_BYTES;
        int shown = 0;
        for (Row row : rows) {
            String line = line(row);
            bytes += line.getBytes(UTF_8).length;
            if (bytes > MOST_BYTES) {
                break;
            }
            page.append(line);
            shown++;
        }
        page.append("</table>\n");
        long more = left + rows.size() - shown;
        if (more > 0) {
            page.append("<p>and ").append(more).append(" more</p>\n");
        }
        return page.append("</body></html>\n").toString();
    }

    private static String line(Row row) {
        String slash = row.isDirectory ? "/" : "";
        StringBuilder line = new StringBuilder("<tr><td>");
        if (row.isLinked) {
            line.append("<a href=\"").append(encode(row.name)).append(slash).append("\">");
        }
        return line.append(escape(row.name))
                .append(slash)
                .append(row.isLinked ? "</a></td><td>" : "</td><td>")
                .append(DATE.format(Instant.ofEpochSecond(row.modified)))
                .append("</td><td align=\"right\">")
                .append(row.isDirectory ? "-" : String.valueOf(row.size))
                .append("</td></tr>\n")
                .toString();
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
