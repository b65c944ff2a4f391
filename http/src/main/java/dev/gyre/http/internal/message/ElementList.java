package dev.gyre.http.internal.message;

/// The value of a field that is a list, such as `keep-alive, Upgrade`, as text.
final class ElementList {
    private ElementList() {}

    static boolean has(String value, String token) {
        int at = 0;
        while (at < value.length()) {
            int comma = value.indexOf(',', at);
            int end = comma < 0 ? value.length() : comma;
            if (trimmed(value, at, end).equalsIgnoreCase(token)) {
                return true;
            }
            at = end + 1;
        }
        return false;
    }

    private static String trimmed(String value, int from, int to) {
        int first = from;
        int end = to;
        while (first < end && isSpace(value.charAt(first))) {
            first++;
        }
        while (end > first && isSpace(value.charAt(end - 1))) {
            end--;
        }
        return value.substring(first, end);
    }

    private static boolean isSpace(char c) {
        return c == ' ' || c == '\t';
    }
}
