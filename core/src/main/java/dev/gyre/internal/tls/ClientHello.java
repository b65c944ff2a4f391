package dev.gyre.internal.tls;

import org.jspecify.annotations.Nullable;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/// Parses the first record of a client before the engine receives it.
///
/// When a client resumes a session, the engine selects the certificate before it parses the server
/// name. Without the name, only sessions of the default certificate could be resumed. The result
/// serves that purpose only; otherwise the engine's own parsing decides.
final class ClientHello {
    private static final int HANDSHAKE = 22;
    private static final int CLIENT_HELLO = 1;
    private static final int RANDOM_BYTES = 32;
    private static final int SERVER_NAME = 0;
    private static final int HOST_NAME = 0;

    private ClientHello() {}

    /// Returns the requested server name; null if absent, or if the hello spans several records.
    ///
    /// @param record starts with its header; the position is not changed
    static @Nullable String serverName(ByteBuffer record) {
        ByteBuffer rest = record.duplicate();
        try {
            if (rest.get() != HANDSHAKE) {
                return null;
            }
            skip(rest, 2); // version
            ByteBuffer message = part(rest, rest.getShort() & 0xffff);
            if (message.get() != CLIENT_HELLO) {
                return null;
            }
            ByteBuffer hello =
                    part(message, (message.get() & 0xff) << 16 | (message.getShort() & 0xffff));
            skip(hello, 2 + RANDOM_BYTES);
            skip(hello, hello.get() & 0xff); // session id
            skip(hello, hello.getShort() & 0xffff); // cipher suites
            skip(hello, hello.get() & 0xff); // compression methods
            return inExtensions(part(hello, hello.getShort() & 0xffff));
        } catch (BufferUnderflowException e) {
            return null;
        }
    }

    private static @Nullable String inExtensions(ByteBuffer extensions) {
        while (extensions.hasRemaining()) {
            int type = extensions.getShort();
            ByteBuffer content = part(extensions, extensions.getShort() & 0xffff);
            if (type == SERVER_NAME) {
                ByteBuffer names = part(content, content.getShort() & 0xffff);
                if (names.get() != HOST_NAME) {
                    return null;
                }
                ByteBuffer name = part(names, names.getShort() & 0xffff);
                return StandardCharsets.US_ASCII.decode(name).toString();
            }
        }
        return null;
    }

    private static void skip(ByteBuffer from, int bytes) {
        part(from, bytes);
    }

    private static ByteBuffer part(ByteBuffer from, int bytes) {
        if (bytes > from.remaining()) {
            throw new BufferUnderflowException();
        }
        ByteBuffer part = from.slice(from.position(), bytes);
        from.position(from.position() + bytes);
        return part;
    }
}
