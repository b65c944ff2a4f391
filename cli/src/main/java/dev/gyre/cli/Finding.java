package dev.gyre.cli;

/// The result of trying a backend.
///
/// @param works whether a loop ran on it
/// @param detail the observation, or the cause of the failure and its remedy
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
