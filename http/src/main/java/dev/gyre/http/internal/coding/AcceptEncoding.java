package dev.gyre.http.internal.coding;

import dev.gyre.http.Headers;

/// Evaluates `Accept-Encoding`.
public final class AcceptEncoding {
    private static final int FULL = 1_000;

    private AcceptEncoding() {}

    /// Returns whether gzip is accepted, and preferred no less than the identity. False without the
    /// header.
    public static boolean acceptsGzip(Headers headers) {
        if (!headers.contains("Accept-Encoding")) {
            return false;
        }
        int gzip = -1;
        int any = -1;
        int identity = -1;
        for (String value : headers.getAll("Accept-Encoding")) {
            for (String element : value.split(",", -1)) {
                int semicolon = element.indexOf(';');
                String coding = (semicolon < 0 ? element : element.substring(0, semicolon)).strip();
                int weight = semicolon < 0 ? FULL : weight(element.substring(semicolon + 1));
                if (coding.equalsIgnoreCase("gzip") || coding.equalsIgnoreCase("x-gzip")) {
                    gzip = Math.max(gzip, weight);
                } else if (coding.equals("*")) {
                    any = weight;
                } else if (coding.equalsIgnoreCase("identity")) {
                    identity = weight;
                }
            }
        }
        int wanted = gzip >= 0 ? gzip : any;
        return wanted > 0 && wanted >= identity;
    }

    /// Returns the weight in thousandths; zero if it is invalid.
    private static int weight(String parameter) {
        String text = parameter.strip();
        if (text.length() < 3 || (text.charAt(0) | 0x20) != 'q' || text.charAt(1) != '=') {
            return 0;
        }
        String number = text.substring(2);
        boolean valid =
                number.length() <= 5
                        && (number.charAt(0) == '0' || number.charAt(0) == '1')
                        && (number.length() == 1 || number.charAt(1) == '.');
        if (!valid) {
            return 0;
        }
        int thousandths = (number.charAt(0) - '0') * FULL;
        int unit = FULL / 10;
        for (int i = 2; i < number.length(); i++, unit /= 10) {
            char digit = number.charAt(i);
            if (digit < '0' || digit > '9') {
                return 0;
            }
            thousandths += (digit - '0') * unit;
        }
        return Math.min(thousandths, FULL);
    }
}
