package dev.gyre.http.internal.websocket;

import static dev.gyre.http.internal.websocket.Frames.BINARY;
import static dev.gyre.http.internal.websocket.Frames.CLOSE;
import static dev.gyre.http.internal.websocket.Frames.CONTINUATION;
import static dev.gyre.http.internal.websocket.Frames.PING;
import static dev.gyre.http.internal.websocket.Frames.PONG;
import static dev.gyre.http.internal.websocket.Frames.TEXT;
import static dev.gyre.http.internal.websocket.Frames.binary;
import static dev.gyre.http.internal.websocket.Frames.close;
import static dev.gyre.http.internal.websocket.Frames.closeContent;
import static dev.gyre.http.internal.websocket.Frames.describe;
import static dev.gyre.http.internal.websocket.Frames.frame;
import static dev.gyre.http.internal.websocket.Frames.part;
import static dev.gyre.http.internal.websocket.Frames.text;
import static dev.gyre.http.internal.websocket.Frames.utf8;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;

/// What peers send to a socket that echoes, and what they have to be answered: by the families of the suite that the
/// world tests its WebSockets with.
final class ConformanceCases {
    /// Ends each case that the server has not ended: whatever came before, the handshake works.
    private static final byte[] BYE = close(1000, "");

    private static final String GOODBYE = "close 1000";
    private static final String BROKEN = "close 1002";
    private static final String NO_TEXT = "close 1007";

    /// @param expected what is answered, in order
    @SuppressWarnings("ArrayRecordComponent") // nobody compares them
    record Case(String name, byte[] sent, List<String> expected) {
        @Override
        public String toString() {
            return name;
        }
    }

    private final List<Case> cases = new ArrayList<>();

    static List<Case> all() {
        ConformanceCases all = new ConformanceCases();
        all.framing();
        all.pings();
        all.reservedBits();
        all.opcodes();
        all.fragments();
        all.validText();
        all.invalidText();
        all.closing();
        all.closeCodes();
        all.limits();
        return all.cases;
    }

    private void add(String name, List<String> expected, byte[]... sent) {
        cases.add(new Case(name, Frames.join(sent), expected));
    }

    private void ends(String name, String how, byte[]... sent) {
        add(name, List.of(how), sent);
    }

    private static byte[] bytes(int length, int value) {
        byte[] bytes = new byte[length];
        Arrays.fill(bytes, (byte) value);
        return bytes;
    }

    private static String pong(byte[] content) {
        return describe(0x80 | PONG, content);
    }

    // ------------------------------------------------------------------ 1: framing

    private void framing() {
        for (int length : new int[] {0, 1, 125, 126, 127, 128, 65_535, 65_536}) {
            byte[] stars = bytes(length, '*');
            add(
                    "1.1 text of " + length,
                    List.of(text("*".repeat(length)), GOODBYE),
                    frame(TEXT, stars),
                    BYE);
            byte[] fes = bytes(length, 0xfe);
            add("1.2 binary of " + length, List.of(binary(fes), GOODBYE), frame(BINARY, fes), BYE);
        }
    }

    // ------------------------------------------------------------------ 2: pings and pongs

    private void pings() {
        for (int length : new int[] {0, 1, 125}) {
            byte[] content = bytes(length, 0xfe);
            add("2 ping of " + length, List.of(pong(content), GOODBYE), frame(PING, content), BYE);
        }
        ends("2 ping of 126", BROKEN, frame(PING, bytes(126, 0xfe)));
        ends("2 pong that nobody asked for", GOODBYE, frame(PONG, ""), frame(PONG, "x"), BYE);
        byte[][] ten = new byte[11][];
        List<String> answers = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            ten[i] = frame(PING, "ping " + i);
            answers.add(pong(utf8("ping " + i)));
        }
        ten[10] = BYE;
        answers.add(GOODBYE);
        add("2 ten pings", answers, ten);
    }

    // ------------------------------------------------------------------ 3: reserved bits

    private void reservedBits() {
        for (int bits = 1; bits < 8; bits++) {
            int reserved = 0x80 | bits << 4;
            ends("3 text with bits " + bits, BROKEN, frame(reserved | TEXT, utf8("x"), true));
            ends("3 ping with bits " + bits, BROKEN, frame(reserved | PING, utf8("x"), true));
            ends("3 close with bits " + bits, BROKEN, frame(reserved | CLOSE, utf8(""), true));
            add(
                    "3 after a good one, bits " + bits,
                    List.of(text("good"), BROKEN),
                    frame(TEXT, "good"),
                    frame(reserved | BINARY, utf8("x"), true),
                    frame(PING, "never answered"));
        }
    }

    // ------------------------------------------------------------------ 4: opcodes

    private void opcodes() {
        for (int opcode : new int[] {3, 4, 5, 6, 7, 11, 12, 13, 14, 15}) {
            ends("4 opcode " + opcode, BROKEN, frame(opcode, ""));
            add(
                    "4 opcode between, " + opcode,
                    List.of(text("good"), BROKEN),
                    frame(TEXT, "good"),
                    frame(opcode, "x"),
                    frame(PING, ""));
        }
    }

    // ------------------------------------------------------------------ 5: fragments

    private void fragments() {
        ends("5 ping in fragments", BROKEN, part(PING, "a"), frame(CONTINUATION, "b"));
        ends("5 pong in fragments", BROKEN, part(PONG, "a"), frame(CONTINUATION, "b"));
        ends("5 close in fragments", BROKEN, part(CLOSE, ""), frame(CONTINUATION, ""));
        add(
                "5 two fragments",
                List.of(text("onetwo"), GOODBYE),
                part(TEXT, "one"),
                frame(CONTINUATION, "two"),
                BYE);
        add(
                "5 empty fragments",
                List.of(text("x"), GOODBYE),
                part(TEXT, ""),
                part(CONTINUATION, "x"),
                frame(CONTINUATION, ""),
                BYE);
        add(
                "5 only empty fragments",
                List.of(text(""), GOODBYE),
                part(TEXT, ""),
                part(CONTINUATION, ""),
                frame(CONTINUATION, ""),
                BYE);
        add(
                "5 binary fragments",
                List.of(binary(utf8("ab")), GOODBYE),
                part(BINARY, "a"),
                frame(CONTINUATION, "b"),
                BYE);
        add(
                "5 ping between fragments",
                List.of(pong(utf8("now")), text("onetwo"), GOODBYE),
                part(TEXT, "one"),
                frame(PING, "now"),
                frame(CONTINUATION, "two"),
                BYE);
        add(
                "5 pings between five fragments",
                List.of(pong(utf8("1")), pong(utf8("2")), text("abcde"), GOODBYE),
                part(TEXT, "a"),
                part(CONTINUATION, "b"),
                frame(PING, "1"),
                part(CONTINUATION, "c"),
                part(CONTINUATION, "d"),
                frame(PING, "2"),
                frame(CONTINUATION, "e"),
                BYE);
        ends("5 continuation of nothing", BROKEN, frame(CONTINUATION, "x"), frame(TEXT, "y"));
        ends("5 part of nothing", BROKEN, part(CONTINUATION, "x"), frame(TEXT, "y"));
        add(
                "5 continuation after a whole one",
                List.of(text("a"), BROKEN),
                frame(TEXT, "a"),
                frame(CONTINUATION, "b"));
        ends("5 text inside a message", BROKEN, part(TEXT, "a"), frame(TEXT, "b"));
        ends("5 part inside a message", BROKEN, part(TEXT, "a"), part(BINARY, "b"));
        add(
                "5 two messages one after the other",
                List.of(text("ab"), binary(utf8("cd")), GOODBYE),
                part(TEXT, "a"),
                frame(CONTINUATION, "b"),
                part(BINARY, "c"),
                frame(CONTINUATION, "d"),
                BYE);
    }

    // ------------------------------------------------------------------ 6: UTF-8

    private void validText() {
        for (String each :
                List.of(
                        "Hello-µ@ßöäüàá-UTF-8!!",
                        "κόσμε",
                        "\u0000\u007f",
                        "\u0080\u07ff",
                        "\u0800\ud7ff\ue000\ufffd\uffff\ufffe",
                        new String(Character.toChars(0x10000)),
                        new String(Character.toChars(0x10ffff)),
                        "a𐍈b😀c")) {
            byte[] bytes = utf8(each);
            add(
                    "6 " + HexFormat.of().formatHex(bytes),
                    List.of(text(each), GOODBYE),
                    frame(TEXT, each),
                    BYE);
            byte[][] single = new byte[bytes.length + 2][];
            single[0] = part(TEXT, "");
            for (int i = 0; i < bytes.length; i++) {
                byte[] one = {bytes[i]};
                single[i + 1] = part(CONTINUATION, one);
            }
            single[bytes.length] = frame(CONTINUATION, new byte[] {bytes[bytes.length - 1]});
            single[bytes.length + 1] = BYE;
            add(
                    "6 a byte a fragment, " + HexFormat.of().formatHex(bytes),
                    List.of(text(each), GOODBYE),
                    single);
        }
    }

    /// What is no UTF-8: cut off, too long, halves of pairs, beyond the last character, bytes that never occur.
    static final List<String> NOT_UTF8 =
            List.of(
                    "cebae1bdb9cf83cebceda080656469746564",
                    "80",
                    "bf",
                    "8080",
                    "c0",
                    "c3",
                    "e2",
                    "e282",
                    "f0",
                    "f09f",
                    "f09f98",
                    "c0af",
                    "c1bf",
                    "e08080",
                    "e09fbf",
                    "eda080",
                    "edbfbf",
                    "edafbfedbfbf",
                    "f0808080",
                    "f08fbfbf",
                    "f4908080",
                    "f5808080",
                    "f888808080",
                    "fc8480808080",
                    "fe",
                    "ff",
                    "c328",
                    "e228a1",
                    "e28228",
                    "f0288cbc",
                    "f0902cbc",
                    "f0908c28",
                    "41c341",
                    "e2828261ff");

    private void invalidText() {
        for (String hex : NOT_UTF8) {
            byte[] bytes = HexFormat.of().parseHex(hex);
            ends("6 not " + hex, NO_TEXT, frame(TEXT, bytes), BYE);
            ends(
                    "6 not in fragments " + hex,
                    NO_TEXT,
                    part(TEXT, bytes),
                    frame(CONTINUATION, new byte[0]),
                    BYE);
            add(
                    "6 binary is anything " + hex,
                    List.of(binary(bytes), GOODBYE),
                    frame(BINARY, bytes),
                    BYE);
            ends(
                    "7.5 reason " + hex,
                    NO_TEXT,
                    frame(CLOSE, Frames.join(closeContent(1000, ""), bytes)));
        }
    }

    // ------------------------------------------------------------------ 7: closing

    private void closing() {
        ends("7.1 close and no more", GOODBYE, BYE, frame(TEXT, "late"), frame(PING, ""), BYE);
        add("7.1 text, then close", List.of(text("x"), GOODBYE), frame(TEXT, "x"), BYE);
        ends("7.1 close inside a message", GOODBYE, part(TEXT, "a"), BYE, frame(CONTINUATION, "b"));
        ends("7.3 close without a code", "close", frame(CLOSE, ""));
        ends("7.3 close of one byte", BROKEN, frame(CLOSE, "x"));
        ends("7.3 close with a reason", GOODBYE, close(1000, "Hello World!"));
        ends("7.3 the longest reason", GOODBYE, close(1000, "*".repeat(123)));
        ends("7.3 too long a reason", BROKEN, close(1000, "*".repeat(124)));
    }

    private void closeCodes() {
        for (int code :
                new int[] {
                    1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 1014, 3000,
                    3999, 4000, 4999
                }) {
            ends("7.7 code " + code, "close " + code, close(code, ""));
        }
        for (int code :
                new int[] {
                    0, 1, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65_535
                }) {
            ends("7.9 code " + code, BROKEN, close(code, "why not"));
        }
    }

    // ------------------------------------------------------------------ beside the families:
    // masks, lengths

    private void limits() {
        ends("no mask", BROKEN, frame(0x80 | TEXT, utf8("x"), false));
        ends("a length in two bytes for no need", BROKEN, hex("81fe007d00000000"));
        ends("a length in eight bytes for no need", BROKEN, hex("82ff000000000000ffff00000000"));
        ends("a length of 64 bits", BROKEN, hex("82ffffffffffffffffff00000000"));
        ends("a length beyond every message", "close 1009", hex("82ff7fffffffffffffff00000000"));
        ends("a ping with a long length", BROKEN, hex("89fe007e"));
    }

    private static byte[] hex(String digits) {
        return HexFormat.of().parseHex(digits);
    }
}
