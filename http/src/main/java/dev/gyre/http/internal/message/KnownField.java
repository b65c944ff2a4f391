package dev.gyre.http.internal.message;

/// The fields that say how a message is read.
enum KnownField {
    /// Any other.
    NONE(""),
    HOST("host"),
    EXPECT("expect"),
    UPGRADE("upgrade"),
    CONNECTION("connection"),
    CONTENT_LENGTH("content-length"),
    TRANSFER_ENCODING("transfer-encoding");

    private final int length;

    // The first and the last eight bytes overlap, and with the length they are all of it. Of 17
    // bytes one is in neither.
    private final long first;
    private final long last;

    KnownField(String name) {
        length = name.length();
        first = Octets.word(name.substring(0, Math.min(Long.BYTES, length)));
        last = Octets.word(name.substring(Math.max(0, length - Long.BYTES)));
    }

    /// Which one has that name.
    ///
    /// @param at of a name whose bytes were found to be those of names
    static KnownField of(byte[] data, int at, int end) {
        return switch (end - at) {
            case 4 -> HOST.orNone(shortName(data, at, end));
            case 6 -> EXPECT.orNone(shortName(data, at, end));
            case 7 -> UPGRADE.orNone(shortName(data, at, end));
            case 10 -> CONNECTION.orNone(data, at);
            case 14 -> CONTENT_LENGTH.orNone(data, at);
            case 17 -> data[at + 8] == '-' ? TRANSFER_ENCODING.orNone(data, at) : NONE;
            default -> NONE;
        };
    }

    private static long shortName(byte[] data, int at, int end) {
        int unused = Long.SIZE - Byte.SIZE * (end - at);
        return Octets.lowerName(Octets.word(data, at, end)) >>> unused << unused;
    }

    private KnownField orNone(long name) {
        return name == first ? this : NONE;
    }

    private KnownField orNone(byte[] data, int at) {
        return Octets.lowerName(Octets.word(data, at)) == first
                        && Octets.lowerName(Octets.word(data, at + length - Long.BYTES)) == last
                ? this
                : NONE;
    }
}
