package dev.gyre.internal.backend;

/// What a kernel says of a descriptor, in bits that mean the same on every backend.
public final class Ready {
    public static final int READABLE = 1;
    public static final int WRITABLE = 2;
    public static final int ERROR = 4;
    public static final int HANGUP = 8;

    /// The peer sends no more: what is there can be read, and then the end.
    public static final int END = 16;

    /// There is urgent data.
    public static final int URGENT = 32;

    private Ready() {}
}
