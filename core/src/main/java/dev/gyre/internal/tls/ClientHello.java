package dev.gyre.internal.tls;

import org.jspecify.annotations.Nullable;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/// The first record of a client, looked at before the engine sees it.
///
/// The engine asks for the certificate that a ticket was issued under before it has read which name the client asks for, and
/// without the name no session of another than the default certificate could be resumed. What is found here serves
/// that question only: everything else goes by what the engine reads.
final class ClientHello {
    private static final int HANDSHAKE = 22;
    private static final int CLIENT_HELLO = 1;
    private static final int RANDOM_BYTES = 32;
    private static final int SERVER_NAME = 0;
    private static final int HOST_NAME = 0;

    private ClientHello() {}

    /// The name in it; null if there is none to be found, or the hello goes on in another record.
    ///
    /// @param record from its header on; its position stays
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
