package dev.gyre.internal.backend;

/// What to be told of a descriptor, in bits that mean the same on every backend.
public final class Interest {
    public static final int READ = 1;
    public static final int WRITE = 2;

    /// Once per change instead of for as long as it lasts.
    public static final int EDGE = 4;

    /// Once, and then not again before the next change of interest.
    public static final int ONE_SHOT = 8;

    /// Also of urgent data.
    public static final int URGENT = 16;

    /// Also of the peer's end, as [Ready#END], and of urgent data, which reads stop short at, as
    /// [Ready#URGENT], where the kernel reports them.
    public static final int END = 32;

    private Interest() {}

    /// Whether nothing is asked for: then nothing is to be told, not even a hang-up.
    public static boolean isEmpty(int interest) {
        return (interest & (READ | WRITE | URGENT | END)) == 0;
    }
}
