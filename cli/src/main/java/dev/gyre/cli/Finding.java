package dev.gyre.cli;

/// What trying a backend has shown.
///
/// @param works whether a loop really ran on it, here and now
/// @param detail what was seen, or why it does not work and what a user can do about it
record Finding(boolean works, String detail) {
    static Finding works(String detail) {
        return new Finding(true, detail);
    }

    static Finding fails(String detail) {
        return new Finding(false, detail);
    }

    @Override
    public String toString() {
        return (works ? "works: " : "no: ") + detail;
    }
}
