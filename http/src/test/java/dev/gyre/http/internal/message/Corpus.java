package dev.gyre.http.internal.message;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Messages and their expected outcome, from `.txt` files beside the tests.
public final class Corpus {
    /// A message. Its outcome is a record of [MessageReader], or the name of a [ParseError].
    @SuppressWarnings("ArrayRecordComponent") // Nobody compares them.
    public record Case(String name, String method, byte[] bytes, String outcome) {
        @Override
        public String toString() {
            return name;
        }
    }

    private static final Pattern TITLE = Pattern.compile("== (.*?)(?: \\((\\w+)\\))? => (.*)");

    private Corpus() {}

    public static List<Case> requestsTaken() {
        return read("requests-taken.txt");
    }

    public static List<Case> requestsRefused() {
        return read("requests-refused.txt");
    }

    public static List<Case> responses() {
        return read("responses.txt");
    }

    private static List<Case> read(String file) {
        List<Case> cases = new ArrayList<>();
        String[] lines = text(file).split("\n", -1);
        for (int i = 0; i < lines.length; i++) {
            Matcher title = TITLE.matcher(lines[i]);
            if (!title.matches()) {
                if (!lines[i].isEmpty() && !lines[i].startsWith("#")) {
                    throw new IllegalArgumentException(
                            file + ":" + (i + 1) + " belongs to no message: " + lines[i]);
                }
                continue;
            }
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            for (i++; !lines[i].equals("--"); i++) {
                unescape(lines[i], bytes);
            }
            String method = title.group(2) == null ? "GET" : title.group(2);
            cases.add(new Case(title.group(1), method, bytes.toByteArray(), title.group(3)));
        }
        return cases;
    }

    private static String text(String file) {
        try (InputStream in = Corpus.class.getResourceAsStream(file)) {
            if (in == null) {
                throw new IllegalArgumentException("no such resource: " + file);
            }
            return new String(in.readAllBytes(), UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void unescape(String line, ByteArrayOutputStream into) {
        for (int i = 0; i < line.length(); i++) {
            char c = line.charAt(i);
            if (c != '\\') {
                into.write(c);
            } else if (++i == line.length()) {
                return; // Without CRLF.
            } else {
                switch (line.charAt(i)) {
                    case 'r' -> into.write('\r');
                    case 'n' -> into.write('\n');
                    case 't' -> into.write('\t');
                    case 's' -> into.write(' ');
                    case '0' -> into.write(0);
                    case '\\' -> into.write('\\');
                    case 'x' -> {
                        into.write(Integer.parseInt(line.substring(i + 1, i + 3), 16));
                        i += 2;
                    }
                    default -> throw new IllegalArgumentException("unknown escape in: " + line);
                }
            }
        }
        into.write('\r');
        into.write('\n');
    }
}
