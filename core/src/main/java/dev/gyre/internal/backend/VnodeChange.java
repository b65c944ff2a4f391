package dev.gyre.internal.backend;

/// What can be done to a file or directory that is watched by [KernelEvents#watchVnode].
public final class VnodeChange {
    public static final int DELETED = 0x01;

    /// Its contents changed; of a directory, its entries.
    public static final int WRITTEN = 0x02;

    public static final int EXTENDED = 0x04;
    public static final int ATTRIBUTES = 0x08;
    public static final int LINKS = 0x10;
    public static final int RENAMED = 0x20;

    /// Its file system was unmounted, or access was taken away.
    public static final int REVOKED = 0x40;

    private VnodeChange() {}
}
