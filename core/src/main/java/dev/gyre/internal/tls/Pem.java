package dev.gyre.internal.tls;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;

import javax.net.ssl.SSLException;

/// Reads PEM files leniently: text around the blocks, any line terminator, any line length.
final class Pem {
    /// A system's trust store has about half a megabyte.
    static final int MAX_BYTES = 8 << 20;

    private static final String BEGIN = "-----BEGIN ";
    private static final String END = "-----END ";
    private static final String DASHES = "-----";

    /// @param label such as `CERTIFICATE`
    /// @param legacyEncrypted whether it uses the encryption that preceded PKCS#8
    record Block(String label, boolean legacyEncrypted, ByteBuffer content) {
        byte[] bytes() {
            byte[] bytes = new byte[content.remaining()];
            content.duplicate().get(bytes);
            return bytes;
        }

        boolean isCertificate() {
            return label.equals("CERTIFICATE") || label.equals("X509 CERTIFICATE");
        }

        boolean isPrivateKey() {
            return label.endsWith("PRIVATE KEY");
        }
    }

    private Pem() {}

    static List<Block> read(Path file) throws IOException {
        String text = new String(bytes(file), StandardCharsets.ISO_8859_1);
        List<Block> blocks = new ArrayList<>();
        @Nullable String label = null;
        boolean encrypted = false;
        StringBuilder base64 = new StringBuilder();
        int number = 0;
        for (String raw : text.split("\r\n|\n|\r", -1)) {
            number++;
            String line = raw.strip();
            int begin = line.indexOf(BEGIN); // a byte order mark may precede it
            if (begin >= 0 && line.endsWith(DASHES)) {
                requireEnded(file, label, number);
                label = line.substring(begin + BEGIN.length(), line.length() - DASHES.length());
                encrypted = false;
                base64.setLength(0);
            } else if (label != null && line.startsWith(END)) {
                blocks.add(new Block(label, encrypted, decoded(file, label, number, base64)));
                label = null;
            } else if (label != null && line.indexOf(':') >= 0) {
                encrypted |= line.startsWith("Proc-Type:") && line.contains("ENCRYPTED");
            } else if (label != null) {
                base64.append(line);
            }
        }
        requireEnded(file, label, number);
        return blocks;
    }

    private static void requireEnded(Path file, @Nullable String label, int line)
            throws SSLException {
        if (label != null) {
            throw new SSLException(
                    file
                            + ": the block "
                            + label
                            + " has no -----END line before line "
                            + line
                            + ": is the file complete?");
        }
    }

    private static ByteBuffer decoded(Path file, String label, int line, StringBuilder base64)
            throws SSLException {
        try {
            return ByteBuffer.wrap(Base64.getDecoder().decode(base64.toString()));
        } catch (IllegalArgumentException e) {
            throw new SSLException(
                    file
                            + ": the block "
                            + label
                            + " that ends on line "
                            + line
                            + " is not base64: "
                            + e.getMessage()
                            + "; is the file damaged?",
                    e);
        }
    }

    static byte[] bytes(Path file) throws IOException {
        byte[] bytes;
        try (InputStream in = Files.newInputStream(file)) {
            bytes = in.readNBytes(MAX_BYTES + 1);
        } catch (NoSuchFileException e) {
            throw withCause(
                    e,
                    new NoSuchFileException(file.toString(), null, "no such file: check the path"));
        } catch (AccessDeniedException e) {
            throw withCause(
                    e,
                    new AccessDeniedException(
                            file.toString(),
                            null,
                            "this process (user "
                                    + System.getProperty("user.name")
                                    + ") may not read it: check its owner and mode"));
        } catch (IOException e) {
            throw new IOException(file + ": cannot read it: " + e.getMessage(), e);
        }
        if (bytes.length > MAX_BYTES) {
            throw new SSLException(
                    file + ": is larger than " + MAX_BYTES + " bytes: is it the right file?");
        }
        return bytes;
    }

    private static <T extends IOException> T withCause(IOException cause, T outcome) {
        outcome.initCause(cause);
        return outcome;
    }

    /// Describes the content of a file that lacks the wanted block, for messages.
    static String describe(Path file, List<Block> blocks) throws IOException {
        if (!blocks.isEmpty()) {
            return "it contains " + String.join(", ", blocks.stream().map(Block::label).toList());
        }
        byte[] bytes = bytes(file);
        if (bytes.length == 0) {
            return "it is empty";
        }
        if (bytes[0] == Der.SEQUENCE && bytes.length > 1 && bytes[1] < 0) {
            return "it is binary: pass PKCS#12 with its password, or convert DER to PEM with"
                    + " `openssl x509 -inform der` or `openssl pkey -inform der`";
        }
        return "it contains no PEM block";
    }
}
