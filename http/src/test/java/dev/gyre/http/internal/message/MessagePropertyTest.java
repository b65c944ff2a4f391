package dev.gyre.http.internal.message;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import dev.gyre.Clause;

import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.stream.Collectors;

/// Messages generated from a model parse to that model, in any pieces.
class MessagePropertyTest {
    private static final String TOKEN = "abcXYZ019!#$%&'*+-.^_`|~";

    /// A header, with the white space around its value.
    record Field(String name, String before, String value, String after) {
        String rendered() {
            return name + ":" + before + value + after + "\r\n";
        }

        String noted() {
            return name + ": " + MessagePropertyTest.noted(value);
        }
    }

    record Chunk(String data, boolean capitals, int zeros, String extension) {
        String rendered() {
            String size = "0".repeat(zeros) + Integer.toHexString(data.length());
            return (capitals ? size.toUpperCase(Locale.ROOT) : size)
                    + extension
                    + "\r\n"
                    + data
                    + "\r\n";
        }
    }

    /// A body in chunks, or of known length if there are none.
    record Content(String data, List<Chunk> chunks, List<Field> trailers) {}

    record Message(
            String method, String target, List<Field> fields, boolean close, Content content) {
        String rendered() {
            StringBuilder text =
                    new StringBuilder(method + " " + target + " HTTP/1.1\r\nHost: a\r\n");
            fields.forEach(field -> text.append(field.rendered()));
            text.append(close ? "connection:Close\r\n" : "");
            if (!content.chunks.isEmpty()) {
                text.append("Transfer-Encoding: chunked\r\n\r\n");
                content.chunks.forEach(chunk -> text.append(chunk.rendered()));
                text.append("0\r\n");
                content.trailers.forEach(field -> text.append(field.rendered()));
            } else if (!content.data.isEmpty()) {
                return text.append("CONTENT-LENGTH:")
                        .append(content.data.length())
                        .append("\r\n\r\n")
                        .append(content.data)
                        .toString();
            }
            return text.append("\r\n").toString();
        }

        String noted() {
            StringBuilder text = new StringBuilder(method + (isKnown() ? " " : "? ") + target);
            text.append(close ? " 1.1 close {Host: a" : " 1.1 keep {Host: a");
            fields.forEach(field -> text.append(", ").append(field.noted()));
            text.append(close ? ", connection: Close" : "");
            String data = content.data;
            if (!content.chunks.isEmpty()) {
                text.append(", Transfer-Encoding: chunked} chunks");
                data = content.chunks.stream().map(Chunk::data).collect(Collectors.joining());
            } else if (!data.isEmpty()) {
                text.append(", CONTENT-LENGTH: ").append(data.length()).append('}');
            } else {
                text.append('}');
            }
            text.append(data.isEmpty() ? "" : " \"" + MessagePropertyTest.noted(data) + "\"");
            if (!content.chunks.isEmpty() && !content.trailers.isEmpty()) {
                text.append(
                        content.trailers.stream()
                                .map(Field::noted)
                                .collect(Collectors.joining(", ", " {", "}")));
            }
            return text.toString();
        }

        private boolean isKnown() {
            return List.of("GET", "HEAD", "POST", "PUT", "DELETE", "TRACE", "PATCH")
                    .contains(method);
        }
    }

    @Clause("H-1")
    @Property(tries = 1500)
    void messages_inRandomPieces_areUnderstoodAsTheyWereMeant(
            @ForAll("messagesInARow") List<Message> messages, @ForAll Random random) {
        byte[] bytes =
                messages.stream()
                        .map(Message::rendered)
                        .collect(Collectors.joining())
                        .getBytes(ISO_8859_1);
        String meant = messages.stream().map(Message::noted).collect(Collectors.joining("; "));

        Splits.same(meant, new int[0], cuts -> MessageReader.ofRequests(bytes, cuts));
        Splits.same(
                meant,
                Mutations.cuts(bytes.length, random),
                cuts -> MessageReader.ofRequests(bytes, cuts));
        Splits.same(
                meant,
                Splits.everywhere(bytes.length),
                cuts -> MessageReader.ofRequests(bytes, cuts));
    }

    @Clause("H-1")
    @Property(tries = 3000)
    void messages_mutated_areTheSameInAllPieces(
            @ForAll("messages") Message message,
            @ForAll("messages") Message other,
            @ForAll Random random) {
        byte[] bytes =
                Mutations.mutated(
                        message.rendered().getBytes(ISO_8859_1),
                        other.rendered().getBytes(ISO_8859_1),
                        random);
        String whole = MessageReader.ofRequests(bytes);

        Splits.same(
                whole,
                Mutations.cuts(bytes.length, random),
                cuts -> MessageReader.ofRequests(bytes, cuts));
        Splits.same(
                whole,
                Splits.everywhere(bytes.length),
                cuts -> MessageReader.ofRequests(bytes, cuts));
    }

    @Provide
    Arbitrary<List<Message>> messagesInARow() {
        return messages().list().ofMinSize(1).ofMaxSize(4);
    }

    @Provide
    Arbitrary<Message> messages() {
        Arbitrary<String> methods =
                Arbitraries.oneOf(
                        Arbitraries.of("GET", "HEAD", "POST", "PUT", "DELETE", "TRACE", "PATCH"),
                        text(TOKEN, 1, RequestHead.MAX_METHOD_LENGTH));
        Arbitrary<String> targets =
                text("ab/?%&=.~[]@!$'()*+,;:-_09AZ", 0, 40)
                        .map(rest -> "/" + rest.replace("%", "%4f"));
        return Combinators.combine(
                        methods,
                        targets,
                        fields().list().ofMaxSize(5),
                        Arbitraries.of(true, false),
                        contents())
                .as(Message::new);
    }

    private static Arbitrary<Content> contents() {
        Arbitrary<String> data =
                Arbitraries.strings().withCharRange('\0', '\u00ff').ofMaxLength(40);
        Arbitrary<Chunk> chunks =
                Combinators.combine(
                                data.filter(text -> !text.isEmpty()),
                                Arbitraries.of(true, false),
                                Arbitraries.integers().between(0, 13),
                                Arbitraries.of(
                                        "", ";a", " ;\ta =b;c", ";q=\"\\\" ; \\\\\"", ";a=\"\""))
                        .as(Chunk::new);
        return Combinators.combine(data, chunks.list().ofMaxSize(4), fields().list().ofMaxSize(2))
                .as(Content::new);
    }

    private static Arbitrary<Field> fields() {
        Arbitrary<String> space = text(" \t", 0, 3);
        Arbitrary<String> values =
                text("ab,;: \t\"\\=/\u0080\u00ff\u00a0!~019", 0, 24)
                        .map(MessagePropertyTest::trimmed);
        // None that means something.
        Arbitrary<String> names = text(TOKEN, 0, 12).map(name -> "X-" + name);
        return Combinators.combine(names, space, values, space).as(Field::new);
    }

    private static Arbitrary<String> text(String characters, int least, int most) {
        return Arbitraries.strings().withChars(characters).ofMinLength(least).ofMaxLength(most);
    }

    private static String trimmed(String value) {
        return value.replaceAll("^[ \t]+|[ \t]+$", "");
    }

    private static String noted(String text) {
        return text.chars()
                .mapToObj(
                        c ->
                                c < ' ' || c > '~'
                                        ? String.format("\\x%02x", c)
                                        : String.valueOf((char) c))
                .collect(Collectors.joining());
    }
}
