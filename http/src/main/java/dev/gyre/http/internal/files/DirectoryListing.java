package dev.gyre.http.internal.files;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.gyre.http.FilesConfig;
import dev.gyre.http.internal.message.PercentEncoding;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;

/// Renders a directory as an HTML page. It lists what the server serves.
final class DirectoryListing {
    static final int MAX_ROWS = 10_000;

    /// The page is in memory as a whole, and several may be rendered at a time.
    private static final int MAX_BYTES = 4 << 20;

    /// The reserve for the page around the rows, which contains the path twice.
    private static final int FRAME_BYTES = 128 << 10;

    private static final DateTimeFormatter DATE =
            DateTimeFormatter.ofPattern("uuuu-MM-dd HH:mm").withZone(ZoneOffset.UTC);

    /// Links contain no other character, so that no name reads as a scheme, quote or slash.
    private static final String UNRESERVED = "-._~";

    /// @param isLinked false if the bytes of the name are not valid text: no link leads to the file
    private record Row(
            String name, boolean isDirectory, boolean isLinked, long size, long modified) {}

    private static final Comparator<Row> ORDER =
            Comparator.comparing((Row row) -> !row.isDirectory).thenComparing(Row::name);

    private DirectoryListing() {}

    /// Renders a directory. Blocks.
    ///
    /// @param names the path of the directory below the served one
    /// @param atRoot whether the directory is served at `/`
    static String page(Path directory, List<String> names, FilesConfig config, boolean atRoot)
            throws IOException {
        // The head of the queue is the last row; an earlier one replaces it.
        PriorityQueue<Row> rows = new PriorityQueue<>(ORDER.reversed());
        long dropped = 0;
        try (DirectoryStream<Path> paths = Files.newDirectoryStream(directory)) {
            for (Path path : paths) {
                String name = String.valueOf(path.getFileName());
                if (config.hidden() || RequestedPath.isVisible(name, atRoot && names.isEmpty())) {
                    addIfServed(rows, name, path, config.symlinks());
                }
                if (rows.size() > MAX_ROWS) {
                    rows.remove();
                    dropped++;
                }
            }
        }
        List<Row> sorted = new ArrayList<>(rows);
        sorted.sort(ORDER);
        return page(sorted, names, dropped);
    }

    private static void addIfServed(
            Collection<Row> rows, String name, Path path, boolean symlinks) {
        FileIdentity identity;
        try {
            identity = FileIdentity.of(path, symlinks);
        } catch (IOException e) {
            return; // Deleted meanwhile, or a dangling link.
        }
        boolean isDirectory = identity.isDirectory();
        // Requests for paths with backslashes are rejected.
        if (name.indexOf('\\') < 0 && (isDirectory || identity.isRegular())) {
            boolean isLinked = leadsTo(name, path);
            long modified = identity.modifiedSeconds();
            rows.add(new Row(name, isDirectory, isLinked, identity.size(), modified));
        }
    }

    /// Returns whether the decoded name leads back to the file.
    private static boolean leadsTo(String name, Path path) {
        try {
            return path.resolveSibling(name).equals(path);
        } catch (InvalidPathException e) {
            return false;
        }
    }

    private static String page(List<Row> rows, List<String> names, long dropped) {
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
            if (bytes > MAX_BYTES) {
                break;
            }
            page.append(line);
            shown++;
        }
        page.append("</table>\n");
        long more = dropped + rows.size() - shown;
        if (more > 0) {
            page.append("<p>and ").append(more).append(" more</p>\n");
        }
        return page.append("</body></html>\n").toString();
    }

    private static String line(Row row) {
        String slash = row.isDirectory ? "/" : "";
        StringBuilder line = new StringBuilder("<tr><td>");
        if (row.isLinked) {
            line.append("<a href=\"")
                    .append(PercentEncoding.encode(row.name, UNRESERVED))
                    .append(slash)
                    .append("\">");
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
}
