package dev.gyre.http.internal.body;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import dev.gyre.http.FormData;
import dev.gyre.http.HttpException;
import dev.gyre.http.internal.message.PercentEncoding;
import dev.gyre.http.internal.message.Texts;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/// The values of a form by name. Immutable once it is complete.
public final class FormValues implements FormData {
    private final Map<String, List<String>> values = new LinkedHashMap<>();

    FormValues() {}

    /// Parses a URL-encoded form.
    ///
    /// @throws HttpException 400 if it is malformed, 413 if it has more fields
    static FormValues parse(byte[] body, int maxFields) {
        FormValues form = new FormValues();
        String text = new String(body, ISO_8859_1);
        int fields = 0;
        for (int at = 0; at < text.length(); ) {
            int ampersand = text.indexOf('&', at);
            int end = ampersand < 0 ? text.length() : ampersand;
            if (end > at) {
                if (++fields > maxFields) {
                    throw new HttpException(413, "the form has more than " + maxFields + " fields");
                }
                form.addPair(text.substring(at, end), fields);
            }
            at = end + 1;
        }
        return form;
    }

    private void addPair(String pair, int number) {
        int equals = pair.indexOf('=');
        String name = PercentEncoding.decode(equals < 0 ? pair : pair.substring(0, equals), true);
        if (name == null) {
            throw new HttpException(
                    400, "form field " + number + ": the name is not URL-encoded UTF-8");
        }
        String value = equals < 0 ? "" : PercentEncoding.decode(pair.substring(equals + 1), true);
        if (value == null) {
            throw failure(name, "the value is not URL-encoded UTF-8");
        }
        add(name, value);
    }

    void add(String name, String value) {
        values.computeIfAbsent(name, _ -> new ArrayList<>(1)).add(value);
    }

    static HttpException failure(String name, String problem) {
        return failure(name, problem, null);
    }

    static HttpException failure(String name, String problem, @Nullable Throwable cause) {
        String shown = Texts.shown(name);
        return new HttpException(400, "field " + shown + ": " + problem, cause)
                .withError(shown, problem);
    }

    @Override
    public @Nullable String get(String name) {
        List<String> all = values.get(name);
        return all == null ? null : all.getFirst();
    }

    @Override
    public String require(String name) {
        String value = get(name);
        if (value == null || value.isEmpty()) {
            throw failure(name, "a value is required");
        }
        return value;
    }

    @Override
    public List<String> getAll(String name) {
        return Collections.unmodifiableList(values.getOrDefault(name, List.of()));
    }

    @Override
    public long getLong(String name, long defaultValue, long min, long max) {
        String text = get(name);
        if (text == null || text.isEmpty()) {
            return defaultValue;
        }
        try {
            long value = Long.parseLong(text);
            if (value >= min && value <= max) {
                return value;
            }
        } catch (NumberFormatException e) {
            // The response is the same as for a number out of range.
        }
        throw failure(name, "expected a number from " + min + " to " + max);
    }

    @Override
    public Set<String> names() {
        return Collections.unmodifiableSet(values.keySet());
    }

    @Override
    public boolean contains(String name) {
        return values.containsKey(name);
    }

    /// Returns the names without the values, which may be secrets.
    @Override
    public String toString() {
        return "FormData" + values.keySet();
    }
}
